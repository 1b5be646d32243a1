/** Writes docs/metrics.md from the metrics of both programs: `node scripts/metrics-page.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { edgeMetricSections } from '#shared/edge-metrics.ts';
import { processMetrics } from '../control/deployment/process-metrics.ts';
import { startControl } from '../test/kit/control/harness.ts';

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** When to look into a metric of control; the others only inform. */
const worries: Readonly<Record<string, string>> = {
  trunkline_control_alert_evaluation_seconds: 'near 60: alerts come late',
  trunkline_control_alert_notices_total: '`given_up` grows: mail or SMS do not work',
  trunkline_control_calls_lost_total: 'it grows: edges die',
  trunkline_control_calls_unplaced_total: 'it grows',
  trunkline_control_database_connections: '`waiting` above 0 for long',
  trunkline_control_edge_reports_total: '`rejected` grows: edge and control are of different versions',
  trunkline_control_edges_connected: 'fewer than edges were started',
  trunkline_control_event_streams_missed_total: 'it grows',
  trunkline_control_fenced_writes_total: 'it grows: replicas lose their leases',
  trunkline_control_http_request_seconds: 'statuses 5xx, or times of seconds',
  trunkline_control_lease_changes_total: '`lost` grows: a replica or the database is too slow',
  trunkline_control_model_requests_total: 'outcomes other than `ok`',
  trunkline_control_model_requests_waiting: 'above 0 for long',
  trunkline_control_nodejs_eventloop_lag_p99_seconds: 'above 0.1 for long: something blocks the program',
  trunkline_control_operator_alerts_total: '`given_up` grows',
  trunkline_control_port_carrier_attempts_total: 'outcomes other than `ok`',
  trunkline_control_port_documents_total: '`infected`, `unscanned`',
  trunkline_control_process_open_fds: 'near `trunkline_control_process_max_fds`',
  trunkline_control_process_resident_memory_bytes: 'it grows over days',
  trunkline_control_quota_refused_total: 'it grows: raise the quota, or ask the customer',
  trunkline_control_recording_storage_attempts_total: '`given_up`, or `again` for long',
  trunkline_control_recording_storage_waiting: 'it grows for hours',
  trunkline_control_replica_messages_total: '`missed` or `dropped` grow',
  trunkline_control_retention_failures_total: 'it grows',
  trunkline_control_spans_total: '`dropped` or `failed` grow',
  trunkline_control_storage_failures_total: 'it grows: [full disk](runbook.md#trunklinecontroldisk)',
  trunkline_control_tool_code_killed_total: 'it grows',
  trunkline_control_tool_code_waiting: 'above 0 for long',
  trunkline_control_webhook_attempts_total: '`given_up` grows',
  trunkline_control_wrong_keys_total: 'it grows fast: somebody guesses keys',
  trunkline_control_work_taken_over_total: 'it grows: replicas die',
};

/** All metrics that a control plane registers, by name. */
export async function controlMetrics(): Promise<Metric[]> {
  const started = await startControl();
  try {
    const registries = [started.control.metrics, processMetrics()];
    const registered = registries
      .flatMap((registry) => registry.getMetricsAsArray())
      .map((metric) => ({
        name: metric.name,
        help: metric.help,
        type: String(metric.type),
        labels: labelsOf(metric),
      }));
    return [...registered, ...modelMetrics()].sort((one, other) => one.name.localeCompare(other.name, 'en'));
  } finally {
    await started.close();
  }
}

/** prom-client does not type what it was given. */
function labelsOf(metric: object): string[] {
  const names: unknown = 'labelNames' in metric ? metric.labelNames : [];
  return Array.isArray(names) ? names.map(String) : [];
}

/** Both programs count their language models in the same way. */
function modelMetrics(): Metric[] {
  const ofEdge = Object.values(edgeMetricSections).flatMap((section) => Object.entries(section));
  return ofEdge.flatMap(([name, metric]) =>
    name.startsWith('trunkline_edge_model_')
      ? [{ ...metric, name: name.replace('trunkline_edge_', 'trunkline_control_') }]
      : [],
  );
}

export async function metricsPage(): Promise<string> {
  const control = (await controlMetrics()).map((metric) => row(metric, worries[metric.name]));
  const sections = Object.entries(edgeMetricSections).map(([title, metrics]) => {
    const rows = Object.entries(metrics).map(([name, metric]) => row({ name, ...metric }, metric.worry));
    return `### ${title}\n\n${table(rows)}`;
  });
  return `${[
    '# Metrics',
    '`GET /metrics` of control has the metrics of control itself and of every edge that is connected to it, in the text format of Prometheus. It needs an operator key, or none with `METRICS_PUBLIC`. This page is written by `node scripts/metrics-page.ts`; alert rules and dashboards are in [deploy/prometheus](../deploy/prometheus) and [deploy/grafana](../deploy/grafana), what to do about an alert in the [runbook](runbook.md).',
    '    curl -s -H "authorization: $OPERATOR_KEY" http://127.0.0.1:8080/metrics',
    'Values of edges have the label `edge`, the id of the edge; they are at most 10 seconds old. A counter begins at 0 when its program starts. A metric with labels appears with its first event, unless a rule of an alert asks about it. With several control planes scrape each of them: an edge is shown by the one that it is connected to.',
    '## Edges',
    ...sections,
    '## Control',
    'Histograms have the usual series `_bucket`, `_sum` and `_count`.',
    table(control),
  ].join('\n\n')}\n`;
}

function row({ name, type, labels, help }: Metric, worry = ''): string[] {
  return [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    unitOf(name),
    plain(help),
    plain(worry),
  ];
}

/** Of Prometheus' names. */
function unitOf(name: string): string {
  if (/_seconds(?:_|$)/.test(name)) return 's';
  if (/_bytes(?:_|$)/.test(name)) return 'octets';
  return /_ms_sum$/.test(name) ? 'ms' : '';
}

const plain = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function table(rows: readonly (readonly string[])[]): string {
  const head = ['Name', 'Type', 'Labels', 'Unit', 'What it tells', 'Look into it when'];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

if (import.meta.main) {
  writeFileSync(join(import.meta.dirname, '..', 'docs', 'metrics.md'), await metricsPage());
}
