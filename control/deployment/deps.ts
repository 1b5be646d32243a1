/** What health, metrics and the description of the API need from the rest of the control plane. */
import type { Models } from '#shared/models/models.ts';
import type { Database } from '../db/index.ts';
import type { EdgeConfigStore } from '../edge-config/index.ts';
import type { ConnectedEdges } from '../edge-link/index.ts';
import type { ControlConfig } from '../settings/index.ts';

export interface DeploymentDeps {
  /** Who speaks and understands in chats and tests: language models where they are configured, else rules. */
  readonly models: Models;
  readonly config: Pick<ControlConfig, 'expectEdge'>;
  readonly database: Database;
  /** What edges are configured with. */
  readonly edgeConfig: EdgeConfigStore;
  readonly edges: ConnectedEdges;
}
