/** What recordings need from the rest of the control plane. */
import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Database, SecretBox } from '../db/index.ts';
import type { ConnectedEdges } from '../edge-link/index.ts';
import type { WrongKeys } from '../http/index.ts';
import type { RecordingContents } from './contents.ts';
import type { RecordingStorage } from './storage/storage.ts';

export interface RecordingsDeps {
  readonly clock: Clock;
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly edges: ConnectedEdges;
  readonly wrongKeys: WrongKeys;
  readonly recordingContents: RecordingContents;
  readonly recordingStorage: RecordingStorage;
  /** Private networks that may be contacted anyway (contract 1.9). */
  readonly allowedTargets: BlockList;
}
