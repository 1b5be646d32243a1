/** Recordings of calls (contract 9.7). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  Matching,
  Nullable,
  OneOf,
  PathId,
  Plain,
  Success,
  Text,
} from '#shared/api/common.ts';

const Optional = Type.Optional;
const text = Type.String();

/** What to record: of an organization, a number or a call. */
export const RecordingSettings = Closed({
  mode: OneOf(['off', 'audio']),
  announcement: Optional(OneOf(['none', 'tone', 'spoken'])),
  announcement_text: Optional(Nullable(Text(1, 500, 'Spoken with `announcement` spoken'))),
  pause_key: Optional(
    Nullable(
      Matching('^[0-9*#]$', 'one of 0-9, * and #', {
        description: 'Pauses and resumes; pressed by the peer',
      }),
    ),
  ),
});
export type RecordingSettings = Static<typeof RecordingSettings>;

export const RecordingSettingsView = Type.Object({
  mode: OneOf(['off', 'audio']),
  announcement: OneOf(['none', 'tone', 'spoken']),
  announcement_text: Nullable(text),
  pause_key: Nullable(text),
});

export const RecordedCallPath = PathId('call_id', 'Id of the call');

const details = {
  recording_id: text,
  call_id: text,
  started_at: Iso(),
  state: OneOf(['uploading', 'ready']),
  duration_ms: Nullable(Type.Integer()),
  /** Bytes of the WAV file. */
  size: Nullable(Type.Integer()),
  ended: Nullable(
    OneOf([
      'call_ended',
      'edge_disk_full',
      'edge_disk_failed',
      'edge_disk_slow',
      'edge_restarted',
      'damaged',
    ]),
  ),
  pauses: Type.Array(Type.Object({ from_ms: Type.Integer(), to_ms: Type.Integer() }), {
    maxItems: 200,
    description: 'The first 200',
  }),
};
const Details = Type.Object(details);
export type RecordingDetails = Static<typeof Details>;
export const RecordingOne = Plain(Type.Object({ recording: Details }));

export const RecordingsQuery = Type.Object({
  limit: Optional(Integer(1, 100)),
  before: Optional(Text(1, 64, 'recording_id of the last entry of the previous page')),
});
export const RecordingList = Plain(Type.Object({ recordings: Type.Array(Details) }));

export const RecordingPeaks = Plain(
  Type.Object({
    duration_ms: Type.Integer(),
    peaks: Type.Object({
      peer: Type.Array(Type.Integer({ description: '0..32767' }), { maxItems: 1000 }),
      agent: Type.Array(Type.Integer({ description: '0..32767' }), { maxItems: 1000 }),
    }),
  }),
);

export const RecordingFormatQuery = Type.Object({ format: Optional(OneOf(['wav', 'opus'])) });

export const RecordingDone = Success({ message: text });

/** POST /v1/edge/recordings, from an edge. */
export const EdgeRecordingBegin = Closed({ header: Text(1, 6000, 'base64 of the header of the file') });
export const EdgeRecordingState = Plain(
  Type.Object({ state: OneOf(['uploading', 'ready', 'deleted']), received: Type.Integer() }),
);
export const EdgeRecordingPath = Type.Object({ id: Matching('^[0-9a-f-]{36}$', 'the id of a recording') });
export const EdgeRecordingAt = Type.Object({ at: Integer(0, Number.MAX_SAFE_INTEGER) });
