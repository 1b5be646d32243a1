/** Background work of any queue. */
import type { IsoTime } from './columns.ts';

/** One started piece of work; deleted when it ends, with any result. A crash leaves it. */
export interface WorkUnderWayRow {
  queue: string;
  id: string;
  /** Starts without an end, including this one. */
  tries: number;
  began_at: IsoTime;
}

export interface WorkTables {
  work_under_way: WorkUnderWayRow;
}
