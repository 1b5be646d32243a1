/** Recordings of calls: taken from edges, listed, played, deleted. */
export { RecordingContents } from './contents.ts';
export { recordingRoutes } from './routes.ts';
export { deleteRecordingsBefore } from './store.ts';
export { openUnfinished } from './unfinished.ts';
