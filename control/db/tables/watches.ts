/** Watches over production calls, and their verdicts. */
import type { Json } from '../json.ts';
import type { Flag, IsoTime } from './columns.ts';

/** Production calls of an agent that are judged as they end (contract 6.17). */
export interface TestWatchRow {
  id: string;
  org_id: string;
  name: string;
  /** At least one of the three is set. */
  pathway_id: string | null;
  persona_id: string | null;
  number: string | null;
  /** AssertionView[] of shared/api/agent-testing/assertions.ts, and since when. */
  assertions: Json;
  assertions_at: IsoTime;
  /** 0..1 */
  sample_rate: number;
  calls_per_day: number;
  model_tokens_per_day: number;
  drift_min_calls: number;
  enabled: Flag;
  /** Calls that ended before are not judged; null: as if it were 1970. */
  ends_from: IsoTime | null;
  /** The last call that was looked at, by when its end was stored. */
  cursor_at: IsoTime;
  cursor_id: string;
  /** When it is looked at again. */
  next_at: IsoTime;
  /** `2030-01-31`, and what was done on it. */
  day: string;
  judged: number;
  skipped: number;
  model_tokens: number;
  /** WatchAlarm of shared/api/agent-testing/watches.ts; null: none is open. */
  alarm: Json | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** A call that was judged for a watch. */
export interface TestWatchedCallRow {
  watch_id: string;
  call_id: string;
  /** Of its pathway; null: a persona. */
  version: number | null;
  status: 'PASSED' | 'FAILED' | 'INCONCLUSIVE' | 'ERROR';
  /** Equal for the same words at the same nodes. */
  conversation: string;
  reasoning: string;
  /** AssertionResult[] of control/testing/judging/ports.ts */
  results: Json;
  ended_at: IsoTime;
  judged_at: IsoTime;
}

export interface WatchesTables {
  test_watches: TestWatchRow;
  test_watched_calls: TestWatchedCallRow;
}
