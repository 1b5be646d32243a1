/** What the operator's endpoints for edges need from the rest of the control plane. */
import type { Clock } from '#shared/clock.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Database } from '../db/index.ts';
import type { ConnectedEdges } from '../edge-link/index.ts';
import type { Fleet } from '../fleet/index.ts';
import type { Bus } from '../replicas/index.ts';

export interface EdgesDeps {
  readonly clock: Clock;
  readonly database: Database;
  /** Publishes what an edge must know. */
  readonly catalogue: Catalogue;
  readonly edges: ConnectedEdges;
  readonly bus: Bus;
  readonly fleet: Pick<Fleet, 'removed'>;
}
