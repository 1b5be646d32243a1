/** What tools need from the rest of the control plane. */

import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Database, SecretBox } from '../db/index.ts';
import type { WrongKeys } from '../http/index.ts';
import type { Quotas } from '../organizations/index.ts';
import type { SharedCounts } from '../replicas/index.ts';
import type { ToolLimits } from './limits.ts';

export interface ToolDeps {
  readonly limits: { readonly tools: ToolLimits };
  readonly clock: Clock;
  readonly database: Database;
  readonly secrets: SecretBox;
  /** Every change to an organization's set-up goes through it. */
  readonly catalogue: Catalogue;
  /** Private networks that may be contacted anyway (contract 1.9). */
  readonly allowedTargets: BlockList;
  /** Counters of all replicas together. */
  readonly sharedCounts: SharedCounts;
  /** Organizations' quotas. */
  readonly quotas: Quotas;
  /** Counts and limits requests with invalid keys. */
  readonly wrongKeys: WrongKeys;
}
