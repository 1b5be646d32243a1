/** A run as it is planned, without what is its own and what only its end tells. */
import type { TestRunRow } from '../../db/index.ts';

export type WaitingRun = Omit<
  TestRunRow,
  | 'id'
  | 'created_at'
  | 'seed'
  | 'path_id'
  | 'failed_node_id'
  | 'turn_count'
  | 'attempts'
  | 'conversation'
  | 'usage'
>;

/** What tells it from the others of its plan. */
export type OwnOfRun = Pick<TestRunRow, 'id' | 'created_at' | 'seed'>;
