/** What inbound number settings need from the rest of the control plane. */

import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Database } from '../db/index.ts';
import type { ControlConfig } from '../settings/index.ts';

export interface InboundDeps {
  readonly config: Pick<ControlConfig, 'callLimits'>;
  readonly clock: Clock;
  readonly database: Database;
  /** Every change to an organization's set-up goes through it. */
  readonly catalogue: Catalogue;
  /** Private networks that may be contacted anyway (contract 1.9). */
  readonly allowedTargets: BlockList;
}
