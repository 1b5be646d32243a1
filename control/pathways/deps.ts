/** What pathways need from the rest of the control plane. */

import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Database } from '../db/index.ts';
import type { Quotas } from '../organizations/index.ts';
import type { PromotionGates } from '../promotion/index.ts';

export interface PathwayDeps {
  readonly clock: Clock;
  readonly database: Database;
  /** Every change to an organization's set-up goes through it. */
  readonly catalogue: Catalogue;
  /** Private networks that may be contacted anyway (contract 1.9). */
  readonly allowedTargets: BlockList;
  /** Checked before anything goes into production (contract 6.11). */
  readonly promotionGates: PromotionGates;
  /** Organizations' quotas. */
  readonly quotas: Quotas;
}
