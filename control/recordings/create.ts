/** Makes what the rest of control needs of recordings. */
import type { Replica } from '../db/index.ts';
import { RecordingContents } from './contents.ts';
import { RecordingStorage, type StorageParts } from './storage/storage.ts';

export interface RecordingsParts extends Omit<StorageParts, 'recordingContents'> {
  readonly replica: Pick<Replica, 'hasOthers'>;
  readonly dataFolder: string;
}

export function createRecordings({ replica, dataFolder, ...parts }: RecordingsParts) {
  const recordingContents = new RecordingContents(parts.database.db, dataFolder, replica);
  return { recordingContents, recordingStorage: new RecordingStorage({ ...parts, recordingContents }) };
}
