/** Recordings of calls. */
import type { Json } from '../json.ts';
import type { Flag, IsoTime } from './columns.ts';

/** A key that edges seal data keys for; the one that is not retired is in the edges' configuration. */
export interface RecordingKeyRow {
  id: string;
  /** 32 octets in base64url. */
  public_key: string;
  /** Sealed (db/secrets.ts). */
  private_key: string;
  created_at: IsoTime;
  retired_at: IsoTime | null;
}

/** Consecutive chunks of audio: all have 25 frames but the last, and follow each other in file and time. */
export interface RecordingRun {
  /** Of the first chunk in the file. */
  offset: number;
  /** Place of the first frame. */
  at: number;
  frames: number;
}

export interface RecordingRow {
  /** UUID v7. */
  id: string;
  org_id: string;
  call_id: string;
  started_at: IsoTime;
  /** `uploading`: the edge has not sent all of it. `deleted`: by request; kept until its retention ends, so that an edge's late parts are refused. */
  state: 'uploading' | 'ready' | 'deleted';
  /** Where its octets are; `storage`: in the one that its row of `recording_objects` names. */
  place: 'folder' | 'database' | 'storage';
  /** Octets that are stored. */
  received: number;
  /** The data key, sealed for one of `recording_keys`. */
  key_id: string;
  ephemeral: string;
  wrapped: string;
  /** Why it ended; null until it is ready. */
  ended:
    | 'call_ended'
    | 'edge_disk_full'
    | 'edge_disk_failed'
    | 'edge_disk_slow'
    | 'edge_restarted'
    | 'damaged'
    | null;
  /** Of 20 ms. */
  frames: number | null;
  runs: Json<RecordingRun[]> | null;
  /** In frames. */
  pauses: Json<{ from: number; to: number }[]> | null;
  /** Highest magnitudes in equal parts of the time. */
  peaks: Json<{ peer: number[]; agent: number[] }> | null;
}

/** A part of a recording's file, where files are in the database. */
export interface RecordingPartRow {
  recording_id: string;
  /** Its place in the file. */
  at: number;
  bytes: Buffer;
}

/** A bucket of an S3-compatible server. The one that is not retired takes new recordings. */
export interface RecordingStorageRow {
  id: string;
  /** Null: the operator's, for organizations without one of their own. */
  org_id: string | null;
  url: string;
  bucket: string;
  region: string;
  /** Of the keys of its objects. */
  prefix: string;
  path_style: Flag;
  access_key_id: string;
  /** The secret access key, sealed (db/secrets.ts). */
  secret: string;
  created_at: IsoTime;
  /** Kept after that while objects are in it. */
  retired_at: IsoTime | null;
  /** Of the last failed attempt, until one succeeds. */
  last_error: string | null;
  last_error_at: IsoTime | null;
  /** When attempts began to fail. */
  failing_since: IsoTime | null;
  /** It was away, and is left alone until then. */
  paused_until: IsoTime | null;
}

/** A recording that is on its way to a storage, in it, or to be deleted in it. Stored before anything is written there. */
export interface RecordingObjectRow {
  /** Of the recording. */
  id: string;
  org_id: string;
  storage_id: string;
  /** See recordings/storage/work.ts. */
  state: 'moving' | 'clearing' | 'stored' | 'deleting';
  /** Octets. */
  size: number;
  /** Of the multipart upload that has begun. */
  upload_id: string | null;
  /** Failed ones in this state. */
  attempts: number;
  /** Null: nothing is to be done. */
  next_attempt_at: IsoTime | null;
}

export interface RecordingsTables {
  recording_keys: RecordingKeyRow;
  recordings: RecordingRow;
  recording_parts: RecordingPartRow;
  recording_storages: RecordingStorageRow;
  recording_objects: RecordingObjectRow;
}
