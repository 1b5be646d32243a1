/** Recordings of calls (contract 9.7). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  Matching,
  NextPage,
  Nullable,
  OneOf,
  PathId,
  Plain,
  Success,
  Text,
} from '#shared/api/common.ts';
import { described } from '#shared/described.ts';

const Optional = Type.Optional;
const text = Type.String();

/** What to record: of an organization, a number or a call. */
export const RecordingSettings = Closed({
  mode: OneOf(['off', 'audio'], 'audio: both sides are recorded, on separate channels'),
  announcement: Optional(
    OneOf(['none', 'tone', 'spoken'], 'What the peer hears when the call is answered; default: none'),
  ),
  announcement_text: Optional(Nullable(Text(1, 500, 'Spoken with `announcement` spoken; null: nothing'))),
  pause_key: Optional(
    Nullable(
      Matching('^[0-9*#]$', 'one of 0-9, * and #', {
        description: 'Pauses and resumes; pressed by the peer; null: no key does',
      }),
    ),
  ),
});
export type RecordingSettings = Static<typeof RecordingSettings>;

export const RecordingSettingsView = Type.Object({
  mode: OneOf(['off', 'audio'], 'audio: both sides are recorded, on separate channels'),
  announcement: OneOf(['none', 'tone', 'spoken'], 'What the peer hears when the call is answered'),
  announcement_text: Nullable(text, 'Text that is spoken; null: none'),
  pause_key: Nullable(text, 'Key with which the peer pauses and resumes; null: none'),
});

export const RecordedCallPath = PathId('call_id', 'Id of the call');

const details = {
  recording_id: Type.String({ description: 'Id of the recording' }),
  call_id: Type.String({ description: 'Id of the call' }),
  started_at: Iso('When it began'),
  state: OneOf(['uploading', 'ready'], 'uploading: the edge has not sent all of it'),
  duration_ms: Nullable(Type.Integer(), 'Its length, ms; null: not complete'),

  size: Nullable(Type.Integer(), 'Size of the WAV file, bytes; null: not complete'),
  ended: Nullable(
    OneOf([
      'call_ended',
      'edge_disk_full',
      'edge_disk_failed',
      'edge_disk_slow',
      'edge_restarted',
      'damaged',
    ]),
    'Why it ended; null: not complete',
  ),
  pauses: Type.Array(
    Type.Object({
      from_ms: Type.Integer({ description: 'Beginning, ms from the start' }),
      to_ms: Type.Integer({ description: 'End, ms from the start' }),
    }),
    {
      maxItems: 200,
      description: 'The first 200',
    },
  ),
};
const Details = Type.Object(details);
export type RecordingDetails = Static<typeof Details>;
export const RecordingOne = Plain(Type.Object({ recording: described(Details, 'The recording') }));

export const RecordingsQuery = Type.Object({
  limit: Optional(Integer(1, 100, 'Most entries of a page; default: 50')),
  before: Optional(Text(1, 64, 'next of the previous page')),
});
export const RecordingList = Plain(
  Type.Object({ recordings: Type.Array(Details, { description: 'Newest first' }), next: NextPage() }),
);

export const RecordingPeaks = Plain(
  Type.Object({
    duration_ms: Type.Integer({ description: 'Length of the recording, ms' }),
    peaks: Type.Object(
      {
        peer: Type.Array(Type.Integer({ description: '0..32767' }), {
          maxItems: 1000,
          description: 'Of the peer',
        }),
        agent: Type.Array(Type.Integer({ description: '0..32767' }), {
          maxItems: 1000,
          description: 'Of our side',
        }),
      },
      { description: 'The highest magnitudes in equal parts of the time' },
    ),
  }),
);

export const RecordingFormatQuery = Type.Object({
  format: Optional(OneOf(['wav', 'opus'], 'Form of the file; default: wav, or as the header Accept says')),
});

export const RecordingDone = Success({
  message: Type.String({ description: 'Says what happened, for people' }),
});

/** POST /v1/edge/recordings, from an edge. */
export const EdgeRecordingBegin = Closed({ header: Text(1, 6000, 'base64 of the header of the file') });
export const EdgeRecordingState = Plain(
  Type.Object({
    state: OneOf(['uploading', 'ready', 'deleted'], 'What the control plane has of it'),
    received: Type.Integer({ description: 'Bytes that the control plane has' }),
  }),
);
export const EdgeRecordingPath = Type.Object({
  id: Matching('^[0-9a-f-]{36}$', 'the id of a recording', { description: 'Id of the recording' }),
});
export const EdgeRecordingAt = Type.Object({
  at: Integer(0, Number.MAX_SAFE_INTEGER, 'Place in the file at which the body begins, bytes'),
});
