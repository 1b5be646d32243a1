/** What ends the growth of a series, as docs/operations.md and docs/limits.md promise it to the operator. */

const calls = 'retention: 90 days of calls';
const tests = 'retention: the newest 100,000 test runs';

/** Of recordings, of whatever call. */
export const boundOfRecordings = 'retention: 90 days of recordings';

/** By table. A table that is not listed must not grow. */
const tables: Readonly<Record<string, string>> = {
  calls,
  transcript_parts: calls,
  quality_parts: calls,
  turn_parts: calls,
  // An hour's and a day's by trunk and sound quality; deleted when their time is over.
  call_sums: calls,
  // The index of what was said, which SQLite keeps in tables of its own.
  transcript_words: calls,
  transcript_words_data: calls,
  transcript_words_idx: calls,
  transcript_words_docsize: calls,
  trace_parts: 'retention: 14 days of traces',
  recordings: boundOfRecordings,
  audit_entries: 'retention: 365 days of changes',
  test_runs: tests,
  test_run_records: tests,
  test_assertion_results: tests,
  test_paths: tests,
  test_batches: tests,
  widget_threads: 'retention: 90 days of ended threads',
  widget_messages: 'retention: 90 days of ended threads',
  widget_agents: 'retention: 90 days of ended threads',
  test_calls: 'retention: 24 hours',
  idempotent_answers: 'retention: 24 hours',
  trunk_hours: 'retention: 31 days, an hour per endpoint',
  trunk_probe_runs: 'retention: 31 days',
  alerts: 'retention: 90 days of resolved alerts',
  webhook_deliveries: 'retention: 7 days',
  test_run_counts: 'one row per pathway and day',
  pathway_references: 'deleted with their pathway',
  edge_config_items: 'those of deleted pathways and numbers go at the next start of control',
};

export function boundOfTable(table: string): string | null {
  return tables[table] ?? null;
}

/** The database file grows with its rows, all of which have a bound. */
export const boundOfDatabase = 'retention of its tables';
