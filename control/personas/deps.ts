/** What personas need from the rest of the control plane. */
import type { Clock } from '#shared/clock.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Database } from '../db/index.ts';
import type { Quotas } from '../organizations/index.ts';
import type { PromotionGates } from '../promotion/index.ts';

export interface PersonaDeps {
  readonly clock: Clock;
  readonly database: Database;
  /** Every change to an organization's set-up goes through it. */
  readonly catalogue: Catalogue;
  /** Checked before anything goes into production (contract 6.11). */
  readonly promotionGates: PromotionGates;
  /** Organizations' quotas. */
  readonly quotas: Quotas;
}
