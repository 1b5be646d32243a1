/** What calls need from the rest of the control plane. */

import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Database } from '../db/index.ts';
import type { Announcements, ConnectedEdges } from '../edge-link/index.ts';
import type { PhoneSessionDeps } from '../phone-sessions/index.ts';
import type { SharedCounts } from '../replicas/index.ts';
import type { CallLimits } from './limits.ts';

export interface CallDeps extends Pick<PhoneSessionDeps, 'quotas' | 'secrets'> {
  readonly limits: { readonly calls: CallLimits };
  readonly clock: Clock;
  readonly database: Database;
  /** Every change to an organization's set-up goes through it. */
  readonly catalogue: Catalogue;
  readonly edges: ConnectedEdges;
  /** Announces the ids whose last report was stored. */
  readonly announcements: Announcements;
  /** Counters of all replicas together. */
  readonly sharedCounts: SharedCounts;
  /** Private networks that may be contacted anyway (contract 1.9). */
  readonly allowedTargets: BlockList;
}
