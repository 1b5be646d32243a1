/** The keys of the deployment that open recordings. */
export { currentRecordingKey, ensureRecordingKey, recordingKeyPair, rotateRecordingKey } from './store.ts';
