/** What health, metrics and the API description need from the rest of the control plane. */
import type { Clock } from '#shared/clock.ts';
import type { Models } from '#shared/models/models.ts';
import type { Database } from '../db/index.ts';
import type { EdgeConfigStore } from '../edge-config/index.ts';
import type { ConnectedEdges } from '../edge-link/index.ts';
import type { Fleet } from '../fleet/index.ts';
import type { RecordingContents } from '../recordings/index.ts';
import type { ControlConfig } from '../settings/index.ts';

export interface DeploymentDeps {
  /** Models for chats and tests: language models where configured, else rules. */
  readonly models: Models;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly config: Pick<ControlConfig, 'expectEdge'>;
  readonly database: Database;
  /** The configuration that edges get. */
  readonly edgeConfig: EdgeConfigStore;
  readonly edges: ConnectedEdges;
  readonly fleet: Pick<Fleet, 'epoch' | 'members'>;
  readonly recordingContents: Pick<RecordingContents, 'failures'>;
  /** Whether this process is about to end while others serve. */
  readonly leaving: { readonly isLeaving: boolean };
}
