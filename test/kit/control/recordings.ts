/** A recording as stored, for tests that need one but not its audio. */
import type { RecordingRow } from '../../../control/db/index.ts';
import { toJson } from '../../../control/db/json.ts';

export function recordingRow(orgId: string, callId: string): RecordingRow {
  return {
    id: '01234567-89ab-7def-8123-456789abcdef',
    org_id: orgId,
    call_id: callId,
    started_at: '2030-01-01T00:00:00.000Z',
    state: 'ready',
    place: 'database',
    received: 0,
    key_id: 'key',
    ephemeral: '',
    wrapped: '',
    ended: 'call_ended',
    frames: 0,
    runs: toJson([]),
    pauses: toJson([]),
    peaks: toJson({ peer: [], agent: [] }),
  };
}
