/** Work of the background, whatever its queue. */
import type { IsoTime } from './columns.ts';

/** One piece of work that has begun; deleted when it ends, however it does. A crash leaves it. */
export interface WorkUnderWayRow {
  queue: string;
  id: string;
  /** How often it has begun without an end, this time included. */
  tries: number;
  began_at: IsoTime;
}

export interface WorkTables {
  work_under_way: WorkUnderWayRow;
}
