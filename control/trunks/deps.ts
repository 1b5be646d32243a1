/** What trunks need from the rest of the control plane. */

import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Database, SecretBox } from '../db/index.ts';
import type { Announcements, ConnectedEdges } from '../edge-link/index.ts';
import type { Fleet } from '../fleet/index.ts';
import type { Quotas } from '../organizations/index.ts';
import type { SharedCounts } from '../replicas/index.ts';
import type { ControlConfig } from '../settings/index.ts';

export interface TrunkDeps {
  readonly config: Pick<ControlConfig, 'openInbound' | 'region' | 'rtp' | 'sip'>;
  readonly clock: Clock;
  readonly database: Database;
  readonly secrets: SecretBox;
  /** Every change to an organization's set-up goes through it. */
  readonly catalogue: Catalogue;
  readonly edges: ConnectedEdges;
  readonly fleet: Pick<Fleet, 'assigned'>;
  /** Announces the ids whose last report was stored. */
  readonly announcements: Announcements;
  /** Private networks that may be contacted anyway (contract 1.9). */
  readonly allowedTargets: BlockList;
  /** Counters of all replicas together. */
  readonly sharedCounts: SharedCounts;
  /** Organizations' quotas. */
  readonly quotas: Quotas;
}
