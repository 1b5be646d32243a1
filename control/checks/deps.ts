/** What discovery and test calls need from the rest of the control plane. */

import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Database } from '../db/index.ts';
import type { Announcements, ConnectedEdges } from '../edge-link/index.ts';

export interface CheckDeps {
  readonly clock: Clock;
  readonly database: Database;
  readonly edges: ConnectedEdges;
  /** Of ids whose last report was stored. */
  readonly announcements: Announcements;
  /** Networks that may be contacted although they are private (contract 1.9). */
  readonly allowedTargets: BlockList;
}
