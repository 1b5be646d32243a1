/**
 * The settings of earlier versions. A program that finds one does not start: with the variable ignored, it would run
 * with another value than the operator expects.
 */

/** What replaces a setting: what to do instead, an entry of a list, or a fixed value and where it is. */
type Fate =
  | ((value: string) => string)
  | { readonly list: 'QUOTAS' | 'RETENTION_DAYS'; readonly kind: string; readonly times: number }
  | { readonly fixed: string; readonly file: string };

const fixed = (file: string, values: Readonly<Record<string, string>>): Readonly<Record<string, Fate>> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { fixed: value, file }]));
const quota = (kind: string, times = 1): Fate => ({ list: 'QUOTAS', kind, times });
const retention = (kind: string): Fate => ({ list: 'RETENTION_DAYS', kind, times: 1 });
/** Values of these are URLs and keys, and are not repeated in a log. */
const other =
  (words: string): Fate =>
  () =>
    words;

const testServer = other('set LLM_TEST_BASE_URL, the server of LLM_CALLER_MODEL and LLM_JUDGE_MODEL,');
const testKey = other('set LLM_TEST_API_KEY, the key of LLM_TEST_BASE_URL,');

export const formerSettings: Readonly<Record<string, Fate>> = {
  // Merged into another setting.
  CALL_LIMIT_CONCURRENT: quota('outgoingCalls'),
  CALL_LIMIT_PER_MINUTE: quota('outgoingCallsPerMinute'),
  QUOTA_PATHWAYS: quota('pathways'),
  QUOTA_PATHWAY_VERSIONS: quota('pathwayVersions'),
  QUOTA_GRAPH_MB: quota('graphBytes', 1_048_576),
  QUOTA_TOOLS: quota('tools'),
  QUOTA_PERSONAS: quota('personas'),
  QUOTA_WIDGETS: quota('widgets'),
  QUOTA_NUMBERS: quota('numbers'),
  QUOTA_WIDGET_THREADS: quota('openThreads'),
  QUOTA_WIDGET_THREADS_PER_VISITOR: quota('openThreadsOfVisitor'),
  QUOTA_WIDGET_THREADS_PER_ADDRESS: quota('openThreadsOfAddress'),
  QUOTA_SCENARIOS: quota('scenarios'),
  QUOTA_INTEGRATION_RESOURCES: quota('integrationResources'),
  QUOTA_CHATS: quota('chats'),
  QUOTA_TEST_RUNS_WAITING: quota('waitingRuns'),
  TEST_RUNS_PER_ORG: quota('runsAtOnce'),
  TEST_RUNS_KEPT: quota('storedRuns'),
  TOOL_RUNS_PER_ORG: quota('toolRunsAtOnce'),
  CALL_LOG_DAYS: retention('calls'),
  TRACE_DAYS: retention('traces'),
  TOOL_LOG_DAYS: retention('toolRuns'),
  TEST_RECORD_DAYS: retention('testRecords'),
  TORNADO_DAYS: retention('tornado'),
  WIDGET_THREAD_DAYS: retention('widgetThreads'),
  PORT_DAYS: retention('ports'),
  AUDIT_DAYS: retention('changes'),
  SMTP_REQUIRE_TLS: other('add ?tls=required to SMTP_URL if it was true,'),
  SMTP_CA: other('add ?ca=<PEM file> to SMTP_URL'),
  DRACHTIO_PORT: (value) => `set DRACHTIO_HOST=<host>:${value}`,
  HEP_PORT: (value) => `set HEP_HOST=<address>:${value}`,
  LLM_CALLER_BASE_URL: testServer,
  LLM_CALLER_API_KEY: testKey,
  LLM_JUDGE_BASE_URL: testServer,
  LLM_JUDGE_API_KEY: testKey,
  ALERT_PROBE_GAP_SECONDS: other(
    'control takes three times TRUNK_PROBE_INTERVAL_S, at least 180 s; set that',
  ),
  TLS_CLIENT_CERTS: other('put the files into tls/clients of the data folder, or make that a link,'),
  DNS_SERVERS: other('set the name servers of the machine or container (/etc/resolv.conf)'),
  CODEC_LIBRARIES: other('add the folder to LD_LIBRARY_PATH, or to /etc/ld.so.conf.d,'),

  // Fixed, with the file of the constant and its reason.
  ...fixed('control/program.ts', {
    CONTROL_SHUTDOWN_SECONDS: '10 s',
  }),
  ...fixed('control/tools/limits.ts', {
    TOOL_CACHE_SECONDS: '600 s',
    TOOL_CODE_THREADS: '2',
    TOOL_CODE_QUEUE: '20',
    TOOL_CODE_MS: '5000 ms',
    TOOL_CODE_MEMORY_MB: '32 MiB',
  }),
  ...fixed('control/edge-link/limits.ts', {
    EDGE_COMMAND_TIMEOUT_MS: '5000 ms',
    EDGE_FRAME_BYTES: '16777216 octets',
  }),
  ...fixed('control/calls/limits.ts', {
    EDGE_LOST_SECONDS: '900 s',
    CALL_QUEUED_SECONDS: '60 s',
  }),
  ...fixed('control/webhooks/limits.ts', {
    WEBHOOK_TIMEOUT_MS: '10000 ms',
  }),
  ...fixed('control/widgets/limits.ts', {
    WIDGET_SESSIONS_PER_MINUTE: '30',
    WIDGET_REQUESTS_PER_MINUTE: '300',
    WIDGET_MESSAGES_PER_MINUTE: '30',
    WIDGET_THREAD_MESSAGES: '1000',
    WIDGET_THREAD_QUEUE: '10',
    WIDGET_STREAMS_PER_WIDGET: '1000',
    WIDGET_STREAMS_PER_ADDRESS: '20',
    WIDGET_STREAM_BUFFER: '65536 characters',
    WIDGET_HEARTBEAT_SECONDS: '15 s',
  }),
  ...fixed('control/testing/common/limits.ts', {
    TEST_RUNS: '64',
    TEST_RUN_TIMEOUT_SECONDS: '600 s',
    TEST_CALL_EDGE_SECONDS: '30 s',
    TEST_CALL_SOCKET_SECONDS: '30 s',
    TEST_STREAMS_PER_ORG: '50',
    TEST_HEARTBEAT_SECONDS: '15 s',
  }),
  ...fixed('control/alerts/limits.ts', {
    ALERT_EVALUATION_SECONDS: '60 s',
    ALERT_SEND_TIMEOUT_MS: '15000 ms',
  }),
  ...fixed('control/porting/limits.ts', {
    PORTING_COUNTRIES: 'US, CA, PR, GB',
    PORTING_CARRIER_POLL_SECONDS: '900 s',
    PORTING_CARRIER_TIMEOUT_MS: '15000 ms',
    PORTING_SCAN_TIMEOUT_MS: '30000 ms',
    PORTING_UPLOADS: '8',
    PORTING_UNUSED_DOCUMENTS: '100',
  }),
  ...fixed('shared/models/limits.ts', {
    LLM_TIMEOUT_S: '10 s',
    LLM_MAX_RETRIES: '2',
    LLM_MAX_TOKENS: '1024',
  }),
  ...fixed('edge/engine/transport/limits.ts', {
    SIP_MAX_CONNECTIONS_PER_ADDRESS: '5000',
    SIP_HANDSHAKES_PER_SECOND: '500',
    SIP_STRANGER_CONNECTIONS_PER_ADDRESS: '200',
    SIP_STRANGER_CONNECTIONS_PER_NETWORK: '500',
    SIP_STRANGER_FIRST_MESSAGE_S: '5 s',
    SIP_CONNECT_TIMEOUT_S: '4 s',
  }),
  ...fixed('edge/engine/configuration.ts', {
    SIP_REQUESTS_PER_SECOND: '10000',
  }),
  ...fixed('edge/engine/message/limits.ts', {
    SIP_MAX_MESSAGE_BYTES: '65536 octets',
    SIP_MAX_HEADERS: '128',
  }),
  ...fixed('edge/signaling/admission/strangers.ts', {
    INBOUND_TRIES: '5',
    INBOUND_TRIES_WINDOW_S: '60 s',
    INBOUND_BLOCK_S: '600 s',
    INBOUND_SOURCES: '10000',
  }),
  ...fixed('edge/call/times.ts', {
    RING_AFTER_MS: '200 ms',
    AGENT_PREPARE_TIMEOUT_S: '10 s',
    RING_TIMEOUT_S: '60 s',
  }),
  ...fixed('edge/agent/talk-limits.ts', {
    GREETING_WAIT_S: '5 s',
  }),
  ...fixed('edge/agent/answering/detector.ts', {
    VOICEMAIL_WATCH_S: '20 s',
    VOICEMAIL_GREETING_MS: '10000 ms',
  }),
  ...fixed('edge/agent/consult-agent.ts', {
    TRANSFER_ACCEPT_S: '15 s, twice',
  }),
  ...fixed('edge/agent/test-caller/test-caller.ts', {
    TEST_CALL_TURN_END_MS: '1000 ms',
    TEST_CALL_PATIENCE_S: '15 s',
    TEST_CALL_TURN_S: '120 s',
  }),
  ...fixed('edge/agent-tests.ts', {
    TEST_CALL_RING_S: '60 s',
    TEST_CALL_LAST_WAIT_S: '3 s',
    TEST_CALL_SOCKET_S: '5 s',
  }),
  ...fixed('edge/signaling/session/session-timer.ts', {
    SESSION_EXPIRES_S: '1800 s',
    SESSION_MIN_S: '90 s',
  }),
  ...fixed('edge/signaling/srf/environment.ts', {
    REFER_TIMEOUT_S: '180 s',
    REFER_NOTIFY_TIMEOUT_S: '60 s',
  }),
  ...fixed('edge/trunks/health.ts', {
    TRUNK_PROBE_TIMEOUT_S: '5 s',
    TRUNK_PROBE_CONCURRENCY: '64',
  }),
  ...fixed('edge/trunks/failover.ts', {
    TRUNK_FAILBACK_PROBES: '3',
    TRUNK_FAILOVER_PROBES: '2',
  }),
  ...fixed('edge/signaling/registration/times.ts', {
    REGISTER_PER_SECOND: '50',
    REGISTER_TIMEOUT_S: '8 s',
    REGISTER_KEEPALIVE_S: '30 s',
    REGISTER_RETRY_S: '5 s',
    REGISTER_RETRY_MAX_S: '600 s',
    REGISTER_REFUSED_PAUSE_S: '300 s',
  }),
  ...fixed('edge/media/worker-binary.ts', {
    MEDIASOUP_WORKER_ACCEPT: "false: the media worker must have been built with Trunkline's patches",
  }),
};

export function isFormerSetting(name: string): boolean {
  return Object.hasOwn(formerSettings, name);
}

/**
 * What to do about the settings of earlier versions in `env`, a line each. Those that went into one list share a line,
 * with the whole list: of two assignments of QUOTAS, only the last would count.
 */
export function rejectedSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  const lines: string[] = [];
  const lists = new Map<string, { names: string[]; entries: string[] }>();
  for (const [name, text] of Object.entries(env)) {
    const value = text?.trim();
    const fate = isFormerSetting(name) ? formerSettings[name] : undefined;
    if (!value || !fate) continue;
    if (typeof fate === 'function' || 'fixed' in fate) {
      lines.push(`${name} is no longer a setting: ${instead(fate, value)}`);
      continue;
    }
    const list = lists.get(fate.list) ?? { names: [], entries: entriesOf(env[fate.list]) };
    lists.set(fate.list, list);
    list.names.push(name);
    const isListed = list.entries.some((entry) => entry.split('=')[0]?.trim() === fate.kind);
    if (!isListed) list.entries.push(entry(fate, value));
  }
  for (const [list, { names, entries }] of lists) {
    const are = names.length === 1 ? 'is no longer a setting' : 'are no longer settings';
    lines.push(`${names.join(', ')} ${are}: set ${list}=${entries.join(',')} instead (docs/settings.md)`);
  }
  return lines;
}

/** What to do about one, with its value; a phrase. */
function instead(fate: Fate, value: string): string {
  if (typeof fate === 'function') return `${fate(value)} instead (docs/settings.md)`;
  if ('fixed' in fate) return `its value is fixed at ${fate.fixed} (why: ${fate.file}); unset it`;
  return `set ${fate.list}=${entry(fate, value)} instead (docs/settings.md)`;
}

/** `kind=number`, in octets where the old value was in MB. */
function entry({ kind, times }: Extract<Fate, { list: string }>, value: string): string {
  if (times === 1) return `${kind}=${value}`;
  return `${kind}=${Number.isFinite(Number(value)) ? Number(value) * times : '<octets>'}`;
}

function entriesOf(list: string | undefined): string[] {
  return (list ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
