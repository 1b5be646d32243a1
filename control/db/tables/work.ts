/** Background work of any queue. */
import type { Generated } from 'kysely';
import type { IsoTime } from './columns.ts';

/** A named lease: who may do this work, and until when. */
export interface LeaseRow {
  name: string;
  /** a replica's id */
  owner: string;
  /** grows with each taking */
  fence: number;
  /** by the database's clock, ms since the epoch */
  expires_at: number;
  /** of the PostgreSQL server, for the connection that renewed it last; null: of an earlier version */
  session_pid: Generated<number | null>;
}

/** Something that one replica has for a moment, while it lives. */
export interface ClaimRow {
  name: string;
  /** a replica's id, and the fence of its presence */
  owner: string;
  fence: number;
}

/** One started piece of work; deleted when it ends, with any result. A crash leaves it. */
export interface WorkUnderWayRow {
  queue: string;
  id: string;
  /** Starts without an end, including this one. */
  tries: number;
  began_at: IsoTime;
  /** null: of an earlier version */
  org_id: Generated<string | null>;
  /** the replica that works on it, and the fence of its presence; null: it waits, or an earlier version began it */
  owner: Generated<string | null>;
  fence: Generated<number | null>;
  /** its attempt failed: when the next one may start */
  waits_until: Generated<IsoTime | null>;
}

export interface WorkTables {
  claims: ClaimRow;
  leases: LeaseRow;
  work_under_way: WorkUnderWayRow;
}
