/** What recordings need from the rest of the control plane. */
import type { Clock } from '#shared/clock.ts';
import type { Database, SecretBox } from '../db/index.ts';
import type { ConnectedEdges } from '../edge-link/index.ts';
import type { WrongKeys } from '../http/index.ts';
import type { RecordingContents } from './contents.ts';

export interface RecordingsDeps {
  readonly clock: Clock;
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly edges: ConnectedEdges;
  readonly wrongKeys: WrongKeys;
  readonly recordingContents: RecordingContents;
}
