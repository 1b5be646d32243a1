/** Recordings of calls: taken from edges, listed, played, deleted. */
export type { RecordingContents } from './contents.ts';
export { createRecordings } from './create.ts';
export { recordingRoutes } from './routes.ts';
export type { RecordingStorage } from './storage/storage.ts';
export { failingStorages } from './storage/storages-store.ts';
export { startStorageWork } from './storage/work.ts';
export { deleteRecordingsBefore } from './store.ts';
export { UnfinishedRecordings } from './unfinished.ts';
