/** What discovery and test calls need from the rest of the control plane. */

import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Database } from '../db/index.ts';
import type { Announcements, ConnectedEdges } from '../edge-link/index.ts';

export interface CheckDeps {
  readonly clock: Clock;
  readonly database: Database;
  readonly edges: ConnectedEdges;
  /** Announces the ids whose last report was stored. */
  readonly announcements: Announcements;
  /** Private networks that may be contacted anyway (contract 1.9). */
  readonly allowedTargets: BlockList;
}
