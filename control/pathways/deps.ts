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
  /** Every write to what organizations set up goes through it. */
  readonly catalogue: Catalogue;
  /** Networks that may be contacted although they are private (contract 1.9). */
  readonly allowedTargets: BlockList;
  /** Asked before anything goes into production (contract 6.11). */
  readonly promotionGates: PromotionGates;
  /** What organizations may keep. */
  readonly quotas: Quotas;
}
