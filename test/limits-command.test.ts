/** Checks the command of docs/limits.md that prints which limits were reached. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const page = readFileSync(join(dirname(import.meta.dirname), 'docs', 'limits.md'), 'utf8');

/** Metrics on the page that the command does not print, and why. */
const notPrinted: Readonly<Record<string, string>> = {
  trunkline_control_event_streams_ended_total: 'counts all ends',
  trunkline_control_events_total: 'counts all events',
  trunkline_control_alert_notices_total: 'counts sent ones, too',
  trunkline_control_calls_lost_total: 'the end of an edge, no limit of traffic',
  trunkline_control_database_connections: 'what is open now',
  trunkline_control_operator_alerts_total: 'counts sent ones, too',
  trunkline_control_port_carrier_attempts_total: 'counts all attempts',
  trunkline_control_port_documents_total: 'counts stored ones, too',
  trunkline_control_port_uploads: 'what is under way',
  trunkline_control_recording_storage_attempts_total: 'counts all attempts',
  trunkline_control_recording_storage_waiting: 'what waits now',
  trunkline_control_replica_messages_total: 'counts all messages',
  trunkline_control_replica_transients_total: 'counts all messages',
  trunkline_control_retention_deleted_total: 'counts what its age deletes',
  trunkline_control_sessions_total: 'counts all sessions',
  trunkline_control_spans_total: 'counts sent ones, too',
  trunkline_control_storage_failures_total: 'counts full disks, too',
  trunkline_control_test_runs: 'what is under way',
  trunkline_control_test_runs_ended_total: 'counts all runs',
  trunkline_control_test_runs_waiting: 'what waits now',
  trunkline_control_test_streams: 'what is open now',
  trunkline_control_tool_code_waiting: 'what waits now',
  trunkline_control_tool_runs_total: 'counts all runs',
  trunkline_control_watched_calls_total: 'counts judged ones, too',
  trunkline_control_webhook_attempts_total: 'counts all attempts',
  trunkline_control_widget_streams_ended_total: 'counts all ends',
  trunkline_edge_answered_by_total: 'counts all answers',
  trunkline_edge_calls_total: 'counts all calls',
  trunkline_edge_control_connections_total: 'counts all connections',
  trunkline_edge_engine_restarts_total: 'counts all restarts',
  trunkline_edge_outbox_held_bytes: 'what is held now',
  trunkline_edge_outbox_pending: 'what waits now',
  trunkline_edge_recordings_bytes: 'what waits now',
  trunkline_edge_recordings_sent_total: 'counts all attempts',
  trunkline_edge_refers_total: 'counts all transfers',
  trunkline_edge_registrations: 'what is registered now',
  trunkline_edge_registrations_total: 'counts all attempts',
  trunkline_edge_rtp_ports_in_use: 'what is in use now',
  trunkline_edge_spans_total: 'counts sent ones, too',
  trunkline_edge_text_to_speech_failures_total: 'counts all failures',
  trunkline_edge_trace_dialogs: 'what is kept now',
  trunkline_edge_transcription_fallbacks_total: 'counts all changes of server',
  trunkline_edge_transcription_late_finals_total: 'counts single turns, too',
  trunkline_edge_transfers_total: 'counts all transfers',
  trunkline_edge_trunk_probes_total: 'counts all probes',
  trunkline_edge_trunk_probes_waiting: 'what waits now',
};

test('the command on the page prints every metric that counts a single limit', () => {
  const words = new RegExp(/grep -E '([^']+)'/.exec(page)?.[1] ?? '^$');
  const metrics = new Set([...page.matchAll(/`(trunkline_\w+)/g)].map(([, name = '']) => name));
  expect([...metrics].filter((name) => !words.test(name)).sort()).toEqual(Object.keys(notPrinted).sort());
});

test('the command on the page prints the reached limits, and nothing if none was reached', () => {
  const filter = /^\$ curl .*? \| (grep .*)$/m.exec(page)?.[1] ?? '';
  const filtered = (metrics: string) => spawnSync('sh', ['-c', filter], { input: metrics, encoding: 'utf8' });
  const none = `# HELP trunkline_a_refused_total What was refused.
# TYPE trunkline_a_refused_total counter
trunkline_a_refused_total 0
trunkline_a_refused_total{edge="e"} 0
`;
  expect(filtered(none).stdout).toBe('');
  const reached = 'trunkline_a_refused_total{edge="e",reason="storage"} 10\n';
  expect(filtered(none + reached).stdout).toBe(reached);
});
