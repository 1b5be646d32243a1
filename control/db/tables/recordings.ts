/** Recordings of calls. */
import type { Json } from '../json.ts';
import type { IsoTime } from './columns.ts';

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
  /** Where its octets are. */
  place: 'folder' | 'database';
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

export interface RecordingsTables {
  recording_keys: RecordingKeyRow;
  recordings: RecordingRow;
  recording_parts: RecordingPartRow;
}
