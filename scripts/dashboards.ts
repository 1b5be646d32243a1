/**
 * Writes the dashboards of deploy/grafana from what follows: `node scripts/dashboards.ts`.
 *
 * Long because it is one list of panels.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Unit = 'short' | 's' | 'ms' | 'bytes' | 'percentunit' | 'reqps' | 'dateTimeFromNow';

interface Panel {
  readonly title: string;
  readonly unit: Unit;
  readonly kind?: 'timeseries' | 'stat';
  /** What it tells, and when to worry. */
  readonly about: string;
  /** PromQL by legend. */
  readonly lines: Readonly<Record<string, string>>;
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  /** A choice of edges, by their label. */
  readonly choosesEdges: boolean;
  readonly panels: readonly Panel[];
}

const edge = '{edge=~"$edge"}';
const rate = '$__rate_interval';

const edges: Dashboard = {
  uid: 'trunkline-edge',
  title: 'Trunkline: edges',
  choosesEdges: true,
  panels: [
    {
      title: 'Calls',
      unit: 'short',
      about: 'Calls that are up, and the most that the edge takes (MAX_CALLS).',
      lines: {
        '{{edge}}': `trunkline_edge_calls${edge}`,
        'most {{edge}}': `trunkline_edge_calls_most${edge}`,
      },
    },
    {
      title: 'Calls that ended, by cause',
      unit: 'reqps',
      about: 'A code that names a failure should be rare (docs/errors.md).',
      lines: { '{{termination}}': `sum by (termination) (rate(trunkline_edge_calls_total${edge}[${rate}]))` },
    },
    {
      title: 'Rejected requests, by reason',
      unit: 'reqps',
      about: 'source_not_allowed: scanners, or a customer with a new address (docs/runbook.md).',
      lines: { '{{reason}}': `sum by (reason) (rate(trunkline_edge_refused_total${edge}[${rate}]))` },
    },
    {
      title: 'Engine',
      unit: 'short',
      kind: 'stat',
      about: '1: the SIP engine works. 0: the edge takes no calls.',
      lines: { '{{edge}}': `trunkline_edge_engine_up${edge}` },
    },
    {
      title: 'Certificate expires',
      unit: 'dateTimeFromNow',
      kind: 'stat',
      about: 'The certificate that peers get.',
      lines: { '{{edge}}': `trunkline_engine_certificate_expires_seconds${edge} * 1000` },
    },
    {
      title: 'Draining',
      unit: 'short',
      kind: 'stat',
      about: '1: the edge takes no more calls.',
      lines: { '{{edge}}': `trunkline_edge_draining${edge}` },
    },
    {
      title: 'Load of the machine',
      unit: 'short',
      about: 'Load average of a minute per processor: above 1 work waits.',
      lines: { '{{edge}}': `trunkline_edge_host_load${edge}` },
    },
    {
      title: 'RTP ports in use',
      unit: 'percentunit',
      about: 'Share of the pairs of ports.',
      lines: { '{{edge}}': `trunkline_edge_rtp_ports_in_use${edge} / trunkline_edge_rtp_ports${edge}` },
    },
    {
      title: 'Frames of audio not sent in time',
      unit: 'reqps',
      about: 'Above 0 callers hear gaps: the machine is too slow.',
      lines: { '{{edge}}': `rate(trunkline_edge_audio_frames_skipped_total${edge}[${rate}])` },
    },
    {
      title: 'Media workers and shards that died',
      unit: 'short',
      about: 'Their calls ended.',
      lines: {
        'workers {{edge}}': `increase(trunkline_edge_media_worker_deaths_total${edge}[1h])`,
        'hung workers {{edge}}': `increase(trunkline_edge_media_worker_hangs_total${edge}[1h])`,
        'shards {{edge}}': `increase(trunkline_edge_media_shard_deaths_total${edge}[1h])`,
      },
    },
    {
      title: 'Reports that wait for control',
      unit: 'short',
      about: 'They grow while control is away or slow.',
      lines: {
        'outbox {{edge}}': `trunkline_edge_outbox_pending${edge}`,
        'in memory {{edge}}': `trunkline_edge_outbox_held${edge}`,
      },
    },
    {
      title: 'Memory',
      unit: 'bytes',
      about: 'Growth over days is a leak.',
      lines: {
        'edge {{edge}}': `trunkline_edge_process_resident_memory_bytes${edge}`,
        'engine {{edge}}': `trunkline_engine_process_resident_memory_bytes${edge}`,
      },
    },
    {
      title: 'Requests to language models',
      unit: 'reqps',
      about: 'By outcome; others than ok are failures.',
      lines: {
        '{{outcome}}': `sum by (outcome) (rate(trunkline_edge_model_requests_total${edge}[${rate}]))`,
      },
    },
    {
      title: 'Until the final text of speech',
      unit: 'ms',
      about: 'From the end of speech, of servers that transcribe while the caller speaks.',
      lines: {
        '{{edge}}': `rate(trunkline_edge_transcription_final_ms_sum${edge}[${rate}]) / rate(trunkline_edge_transcription_final_ms_count${edge}[${rate}])`,
      },
    },
    {
      title: 'Until the first sound of an answer',
      unit: 'ms',
      about: 'Of the text-to-speech server.',
      lines: {
        '{{edge}}': `rate(trunkline_edge_text_to_speech_first_sound_ms_sum${edge}[${rate}]) / rate(trunkline_edge_text_to_speech_first_sound_ms_count${edge}[${rate}])`,
      },
    },
  ],
};

const trunks: Dashboard = {
  uid: 'trunkline-trunks',
  title: 'Trunkline: trunks and SIP',
  choosesEdges: true,
  panels: [
    {
      title: 'Endpoints, by health',
      unit: 'short',
      about: 'Endpoints of outbound trunks, by their last probes.',
      lines: { '{{status}}': `sum by (status) (trunkline_edge_trunk_endpoints${edge})` },
    },
    {
      title: 'Probes',
      unit: 'reqps',
      about: 'OPTIONS by result.',
      lines: { '{{result}}': `sum by (result) (rate(trunkline_edge_trunk_probes_total${edge}[${rate}]))` },
    },
    {
      title: 'Moves to another endpoint',
      unit: 'short',
      about: 'Failovers and returns, by cause, in an hour.',
      lines: { '{{cause}}': `sum by (cause) (increase(trunkline_edge_trunk_moves_total${edge}[1h]))` },
    },
    {
      title: 'Registrations, by state',
      unit: 'short',
      about: 'failed: no calls come from that PBX.',
      lines: { '{{state}}': `sum by (state) (trunkline_edge_registrations${edge})` },
    },
    {
      title: 'Outgoing calls refused by limits',
      unit: 'reqps',
      about: 'By limit.',
      lines: {
        '{{reason}}': `sum by (reason) (rate(trunkline_edge_outbound_refused_total${edge}[${rate}]))`,
      },
    },
    {
      title: 'Transfers',
      unit: 'reqps',
      about: 'By kind and outcome.',
      lines: {
        '{{kind}} {{outcome}}': `sum by (kind, outcome) (rate(trunkline_edge_transfers_total${edge}[${rate}]))`,
      },
    },
    {
      title: 'SIP messages',
      unit: 'reqps',
      about: 'All that the engine received and sent.',
      lines: {
        received: `sum(rate(trunkline_engine_sip_received${edge}[${rate}]))`,
        sent: `sum(rate(trunkline_engine_sip_sent${edge}[${rate}]))`,
      },
    },
    {
      title: 'Requests without an answer',
      unit: 'reqps',
      about: 'Peers that do not answer, or cannot be reached; responses without ACK.',
      lines: {
        'timed out': `sum(rate(trunkline_engine_requests_timed_out${edge}[${rate}]))`,
        unreachable: `sum(rate(trunkline_engine_requests_unreachable${edge}[${rate}]))`,
        'no ACK': `sum(rate(trunkline_engine_ack_timeouts${edge}[${rate}]))`,
      },
    },
    {
      title: 'TLS connections',
      unit: 'short',
      about: 'Strangers are sources that no configuration names.',
      lines: {
        inbound: `sum(trunkline_engine_transport_inbound${edge})`,
        outbound: `sum(trunkline_engine_transport_outbound${edge})`,
        strangers: `sum(trunkline_engine_transport_strangers${edge})`,
      },
    },
    {
      title: 'Connections that failed',
      unit: 'reqps',
      about: 'refused grows when peers do not trust the certificate.',
      lines: {
        refused: `sum(rate(trunkline_engine_transport_refused${edge}[${rate}]))`,
        'could not connect': `sum(rate(trunkline_engine_transport_connectFailures${edge}[${rate}]))`,
      },
    },
    {
      title: 'Media without key presses',
      unit: 'short',
      about: 'Legs in an hour whose peer has no telephone-event: menus do not hear its keys.',
      lines: { '{{edge}}': `increase(trunkline_edge_media_legs_without_keys_total${edge}[1h])` },
    },
    {
      title: 'Blocked addresses',
      unit: 'short',
      about: 'Sources that get no answer for a while.',
      lines: { '{{edge}}': `trunkline_engine_transport_blockedAddresses${edge}` },
    },
  ],
};

const control: Dashboard = {
  uid: 'trunkline-control',
  title: 'Trunkline: control',
  choosesEdges: false,
  panels: [
    {
      title: 'Requests, by status',
      unit: 'reqps',
      about: 'Of the HTTP API.',
      lines: {
        '{{status}}': `sum by (status) (rate(trunkline_control_http_request_seconds_count[${rate}]))`,
      },
    },
    {
      title: 'Time of requests',
      unit: 's',
      about: 'Of 95 in 100 requests, by method.',
      lines: {
        '{{method}}': `histogram_quantile(0.95, sum by (le, method) (rate(trunkline_control_http_request_seconds_bucket[${rate}])))`,
      },
    },
    {
      title: 'Slowest routes',
      unit: 's',
      about: 'The five with the longest mean.',
      lines: {
        '{{route}}': `topk(5, sum by (route) (rate(trunkline_control_http_request_seconds_sum[${rate}])) / sum by (route) (rate(trunkline_control_http_request_seconds_count[${rate}])))`,
      },
    },
    {
      title: 'Connected edges',
      unit: 'short',
      kind: 'stat',
      about: 'Of all control planes.',
      lines: { edges: 'sum(trunkline_control_edges_connected)' },
    },
    {
      title: 'Open alerts',
      unit: 'short',
      kind: 'stat',
      about: 'Of customers, by kind.',
      lines: { '{{kind}}': 'max by (kind) (trunkline_control_alerts_open)' },
    },
    {
      title: 'Failed statements',
      unit: 'short',
      kind: 'stat',
      about: 'In an hour; the disk or the database fails.',
      lines: { '{{instance}}': 'increase(trunkline_control_storage_failures_total[1h])' },
    },
    {
      title: 'Reports of edges',
      unit: 'reqps',
      about: 'rejected ones are of an edge of another version.',
      lines: { '{{outcome}}': `sum by (outcome) (rate(trunkline_control_edge_reports_total[${rate}]))` },
    },
    {
      title: 'Webhooks',
      unit: 'reqps',
      about: 'Attempts by outcome.',
      lines: { '{{outcome}}': `sum by (outcome) (rate(trunkline_control_webhook_attempts_total[${rate}]))` },
    },
    {
      title: 'Connections to PostgreSQL',
      unit: 'short',
      about: 'waiting above 0 for long: the server is too slow. Zero with SQLite.',
      lines: { '{{state}} {{instance}}': 'trunkline_control_database_connections' },
    },
    {
      title: 'Delay of the event loop',
      unit: 's',
      about: 'Of 99 in 100 turns; above 0.1 something blocks the program.',
      lines: { '{{instance}}': 'trunkline_control_nodejs_eventloop_lag_p99_seconds' },
    },
    {
      title: 'Memory',
      unit: 'bytes',
      about: 'Growth over days is a leak.',
      lines: { '{{instance}}': 'trunkline_control_process_resident_memory_bytes' },
    },
    {
      title: 'Test runs',
      unit: 'short',
      about: 'Running and waiting.',
      lines: {
        running: 'sum(trunkline_control_test_runs)',
        waiting: 'max(trunkline_control_test_runs_waiting)',
      },
    },
    {
      title: 'Runs of tools',
      unit: 'reqps',
      about: 'By outcome.',
      lines: { '{{outcome}}': `sum by (outcome) (rate(trunkline_control_tool_runs_total[${rate}]))` },
    },
    {
      title: 'Calls closed without their edge',
      unit: 'short',
      about: 'In an hour: edges died.',
      lines: { '{{instance}}': 'increase(trunkline_control_calls_lost_total[1h])' },
    },
    {
      title: 'Requests with wrong keys',
      unit: 'reqps',
      about: 'refused: answered with 401; slowed: with 429.',
      lines: { '{{outcome}}': `sum by (outcome) (rate(trunkline_control_wrong_keys_total[${rate}]))` },
    },
  ],
};

const dashboards: readonly Dashboard[] = [edges, trunks, control];

// A variable of the dashboard.
const source = { type: 'prometheus', uid: ['$', '{source}'].join('') };
const size = { width: 8, height: 7, perRow: 3 };

function panelOf({ title, unit, kind = 'timeseries', about, lines }: Panel, at: number) {
  return {
    id: at + 1,
    title,
    type: kind,
    description: about,
    datasource: source,
    gridPos: {
      x: (at % size.perRow) * size.width,
      y: Math.floor(at / size.perRow) * size.height,
      w: size.width,
      h: size.height,
    },
    fieldConfig: { defaults: { unit, min: unit === 'dateTimeFromNow' ? null : 0 }, overrides: [] },
    targets: Object.entries(lines).map(([legendFormat, expr], line) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + line),
      datasource: source,
      expr,
      legendFormat,
    })),
  };
}

function variablesOf({ choosesEdges }: Dashboard) {
  const sources = { name: 'source', label: 'Prometheus', type: 'datasource', query: 'prometheus' };
  const choice = {
    name: 'edge',
    label: 'Edge',
    type: 'query',
    datasource: source,
    query: 'label_values(trunkline_edge_calls, edge)',
    multi: true,
    includeAll: true,
    allValue: '.*',
    refresh: 2,
  };
  return choosesEdges ? [sources, choice] : [sources];
}

/** File names and contents. */
export function dashboardFiles(): Map<string, string> {
  return new Map(
    dashboards.map((dashboard) => {
      const { uid, title, panels } = dashboard;
      const model = {
        uid,
        title,
        tags: ['trunkline'],
        timezone: 'browser',
        schemaVersion: 39,
        version: 1,
        editable: true,
        refresh: '30s',
        time: { from: 'now-6h', to: 'now' },
        templating: { list: variablesOf(dashboard) },
        panels: panels.map(panelOf),
      };
      return [`${uid}.json`, `${JSON.stringify(model, null, 2)}\n`];
    }),
  );
}

if (import.meta.main) {
  const folder = join(import.meta.dirname, '..', 'deploy', 'grafana');
  for (const [name, text] of dashboardFiles()) writeFileSync(join(folder, name), text);
}
