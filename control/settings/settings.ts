/** The settings of the control plane as docs/settings.md shows them; config.ts reads them. */
import { agentModelSettings, testModelSettings } from '#shared/models/model-settings.ts';
import type { Setting } from '#shared/setting-reader.ts';

export const settings = [
  {
    name: 'TRUNKLINE_DATA',
    default: './data',
    description: 'Folder of the database, keys and certificates.',
  },
  {
    name: 'TRUNKLINE_SECRET_KEY',
    default: '',
    description:
      'Key that encrypts stored secrets: 64 hexadecimal digits. Unset: made once and kept in the data folder.',
  },
  {
    name: 'TRUNKLINE_REGION',
    default: 'local',
    description: 'Name of the region that this deployment serves.',
  },
  {
    name: 'DATABASE_URL',
    default: '',
    description: 'SQLite file as a path or file: URL. Unset: control.db in the data folder.',
  },
  { name: 'CONTROL_HOST', default: '127.0.0.1', description: 'Address that the HTTP API listens on.' },
  { name: 'CONTROL_PORT', default: '8080', description: 'Port of the HTTP API.' },
  {
    name: 'CONTROL_URL',
    default: 'http://<CONTROL_HOST>:<CONTROL_PORT>',
    description: 'Where others reach the HTTP API.',
  },
  {
    name: 'CONTROL_SHUTDOWN_SECONDS',
    default: '10',
    description: 'How long control waits for running requests after SIGTERM.',
  },
  {
    name: 'TRUSTED_PROXIES',
    default: '',
    description:
      'Addresses and networks, separated by commas, of proxies whose X-Forwarded-For names the client.',
  },
  {
    name: 'EXPECT_EDGE',
    default: 'false',
    description:
      'Whether /health is 503 without an edge that has applied its configuration and does not shut down.',
  },
  { name: 'SIP_HOST', default: '0.0.0.0', description: 'Address that the edge listens on for SIP over TLS.' },
  { name: 'SIP_TLS_PORT', default: '5061', description: 'Port of SIP over TLS.' },
  {
    name: 'SIP_PUBLIC_HOST',
    default: '',
    description: 'Name or address under which peers reach the edge; goes into the certificate.',
  },
  {
    name: 'RTP_PUBLIC_IP',
    default: '',
    description: 'Address that the edge names in SDP, shown as an address for firewalls.',
  },
  { name: 'RTP_PORT_MIN', default: '10000', description: 'Lowest RTP port.' },
  { name: 'RTP_PORT_MAX', default: '20000', description: 'Highest RTP port.' },
  {
    name: 'TLS_CERT',
    default: '',
    description: 'PEM file of a server certificate, with its chain. Unset: one is made.',
  },
  { name: 'TLS_KEY', default: '', description: 'PEM file of the key of TLS_CERT.' },
  {
    name: 'TLS_CA',
    default: '',
    description: 'PEM file of the authority that issued TLS_CERT, named in bootstrap.json.',
  },
  {
    name: 'SIP_ENTITLEMENT_DEFAULT',
    default: 'false',
    description: 'Whether new organizations may use SIP.',
  },
  {
    name: 'SIP_OPEN_INBOUND',
    default: 'false',
    description: 'Whether a number that lists no sources accepts calls from every source.',
  },
  {
    name: 'ALLOW_PRIVATE_TARGETS',
    default: '',
    description:
      'Private networks that may be contacted, for customers and for peers alike, in CIDR form, separated by commas.',
  },
  {
    name: 'CORS_ORIGINS',
    default: '',
    description:
      'Origins, separated by commas, whose pages may use the API, such as `https://console.example.com`.',
  },
  { name: 'RATE_LIMIT_PER_MINUTE', default: '600', description: 'Requests per minute and API key.' },
  {
    name: 'METRICS_PUBLIC',
    default: 'false',
    description: 'Whether /metrics answers without an operator key.',
  },
  {
    name: 'CALL_LIMIT_CONCURRENT',
    default: '',
    description:
      'Most outgoing calls at a time of an organization; it can set less, and `org call-ceiling` sets another ceiling for one. Unset: no limit.',
  },
  {
    name: 'CALL_LIMIT_PER_MINUTE',
    default: '',
    description: 'Most outgoing calls of an organization within 60 s, in the same way. Unset: no limit.',
  },
  { name: 'CALL_LOG_DAYS', default: '90', description: 'Days that call records are kept.' },
  { name: 'TRACE_DAYS', default: '14', description: 'Days that SIP traces are kept.' },
  { name: 'TOOL_LOG_DAYS', default: '14', description: 'Days that runs of tools are kept.' },
  {
    name: 'TEST_RECORD_DAYS',
    default: '90',
    description: 'Days that transcripts and actions of test runs are kept; their verdicts stay.',
  },
  {
    name: 'TEST_RUNS_KEPT',
    default: '100000',
    description: 'Test runs kept per organization; the oldest finished ones are deleted first.',
  },
  {
    name: 'PORT_DAYS',
    default: '1095',
    description:
      'Days that port requests are kept after their end, with letters and documents; unsigned ones 90 days.',
  },
  { name: 'TORNADO_DAYS', default: '90', description: 'Days that ended tornado sessions are kept.' },
  {
    name: 'TOOL_CACHE_SECONDS',
    default: '600',
    description: 'How long a tool with `cache` reuses a result within its conversation.',
  },
  {
    name: 'TOOL_RUNS_PER_ORG',
    default: '50',
    description: 'Tool runs at a time, per organization; further runs fail.',
  },
  {
    name: 'TOOL_CODE_THREADS',
    default: '2',
    description: 'Threads that run the code of `custom-code` tools.',
  },
  {
    name: 'TOOL_CODE_QUEUE',
    default: '20',
    description: 'Runs of such code that may wait for a thread, per organization; more fail.',
  },
  {
    name: 'TOOL_CODE_MS',
    default: '5000',
    description: 'Computing time of such code; the timeout of the tool applies too.',
  },
  { name: 'TOOL_CODE_MEMORY_MB', default: '32', description: 'Memory of such code.' },
  { name: 'QUOTA_PATHWAYS', default: '500', description: 'Pathways that an organization keeps.' },
  { name: 'QUOTA_PATHWAY_VERSIONS', default: '200', description: 'Versions that a pathway keeps.' },
  { name: 'QUOTA_GRAPH_MB', default: '200', description: 'Graphs of an organization, versions included.' },
  { name: 'QUOTA_TOOLS', default: '1000', description: 'Tools that an organization keeps.' },
  { name: 'QUOTA_PERSONAS', default: '1000', description: 'Personas that an organization keeps.' },
  { name: 'QUOTA_WIDGETS', default: '100', description: 'Widgets that an organization keeps.' },
  {
    name: 'QUOTA_NUMBERS',
    default: '10000',
    description: 'Numbers that an organization holds, those that are being ported included.',
  },
  {
    name: 'QUOTA_WIDGET_THREADS',
    default: '10000',
    description: 'Open threads of one widget; more are rejected until some end.',
  },
  {
    name: 'QUOTA_WIDGET_THREADS_PER_VISITOR',
    default: '50',
    description: 'Open threads of one visitor of a widget.',
  },
  {
    name: 'QUOTA_WIDGET_THREADS_PER_ADDRESS',
    default: '200',
    description: 'Open threads of one widget started from one client address.',
  },
  { name: 'QUOTA_SCENARIOS', default: '1000', description: 'Test scenarios that an organization keeps.' },
  {
    name: 'QUOTA_INTEGRATION_RESOURCES',
    default: '200',
    description: 'Connected resources that an organization keeps.',
  },
  {
    name: 'QUOTA_CHATS',
    default: '1000',
    description:
      'Chats with pathways that an organization keeps; a chat is deleted a day after its last message.',
  },
  {
    name: 'QUOTA_TEST_RUNS_WAITING',
    default: '10000',
    description: 'Test runs of an organization that wait; more are rejected until some have started.',
  },
  { name: 'AUDIT_DAYS', default: '365', description: 'Days that the log of changes is kept.' },
  {
    name: 'BACKUP_PASSPHRASE',
    default: '',
    description: 'Seals the keys that go into a backup. Unset: keys are left out of backups.',
  },
  {
    name: 'EDGE_COMMAND_TIMEOUT_MS',
    default: '5000',
    description: 'Timeout of a command to an edge.',
  },
  {
    name: 'EDGE_LOST_SECONDS',
    default: '900',
    description: 'Seconds without a connection of an edge after which its calls are closed with edge_lost.',
  },
  {
    name: 'CALL_QUEUED_SECONDS',
    default: '60',
    description:
      'Seconds after which a call that no edge reports is closed with edge_unavailable; at least twice EDGE_COMMAND_TIMEOUT_MS.',
  },
  {
    name: 'WEBHOOK_TIMEOUT_MS',
    default: '10000',
    description: 'Timeout of one webhook attempt.',
  },
  {
    name: 'WIDGET_SESSIONS_PER_MINUTE',
    default: '30',
    description: 'Sessions of widget visitors per minute and client address.',
  },
  {
    name: 'WIDGET_REQUESTS_PER_MINUTE',
    default: '300',
    description: 'Other requests of widget visitors per minute and client address.',
  },
  {
    name: 'WIDGET_MESSAGES_PER_MINUTE',
    default: '30',
    description: 'Messages of a visitor per minute and thread.',
  },
  {
    name: 'WIDGET_THREAD_MESSAGES',
    default: '1000',
    description: 'Messages after which a widget thread ends.',
  },
  {
    name: 'WIDGET_THREAD_QUEUE',
    default: '10',
    description: 'Messages of one widget thread that are being answered or waiting; more are rejected.',
  },
  { name: 'WIDGET_THREAD_DAYS', default: '90', description: 'Days that ended widget threads are kept.' },
  {
    name: 'TEST_RUNS_PER_ORG',
    default: '20',
    description: 'Test runs of one organization at a time; more wait.',
  },
  { name: 'TEST_RUNS', default: '64', description: 'Test runs of all organizations at a time; more wait.' },
  {
    name: 'TEST_RUN_TIMEOUT_SECONDS',
    default: '600',
    description: 'Timeout of a test run; then it ends in ERROR.',
  },
  {
    name: 'TEST_CALL_EDGE_SECONDS',
    default: '30',
    description: 'How long a test run over a call waits for an edge that can place it.',
  },
  {
    name: 'TEST_CALL_SOCKET_SECONDS',
    default: '30',
    description: 'How long the edge may take to open the socket of a test run over a call.',
  },
  {
    name: 'TEST_STREAMS_PER_ORG',
    default: '50',
    description: 'Open event streams of test runs and batches of one organization.',
  },
  {
    name: 'TEST_HEARTBEAT_SECONDS',
    default: '15',
    description: 'Interval of heartbeats on a silent stream.',
  },
  {
    name: 'WIDGET_STREAMS_PER_WIDGET',
    default: '1000',
    description: 'Event streams of one widget that may be open.',
  },
  {
    name: 'WIDGET_STREAMS_PER_ADDRESS',
    default: '20',
    description: 'Event streams that visitors of one client address may have open.',
  },
  {
    name: 'WIDGET_STREAM_BUFFER',
    default: '65536',
    description: 'Characters of an unfinished answer that are buffered for a slow event stream.',
  },
  {
    name: 'WIDGET_HEARTBEAT_SECONDS',
    default: '15',
    description:
      'Interval of heartbeats on a silent event stream; a stream that is not read for three times as long is closed.',
  },
  {
    name: 'EDGE_FRAME_BYTES',
    default: '16777216',
    description: 'Maximum size of a frame from an edge, in octets; at least 16777216.',
  },
  { name: 'ALERT_EVALUATION_SECONDS', default: '60', description: 'Time between two evaluations of alerts.' },
  {
    name: 'ALERT_PROBE_GAP_SECONDS',
    default: '180',
    description:
      'Seconds without a probe after which the state of a trunk is unknown; set it to more than twice TRUNK_PROBE_INTERVAL_S.',
  },
  {
    name: 'ALERT_SEND_TIMEOUT_MS',
    default: '15000',
    description: 'Timeout of one attempt to send an alert by mail or SMS.',
  },
  {
    name: 'OPERATOR_ALERTS',
    default: '',
    description:
      'Mail addresses and http(s) URLs, separated by commas, to notify when an edge or control cannot write to its disk ([operations.md](operations.md)). Mail needs SMTP_URL.',
  },
  {
    name: 'SMTP_URL',
    default: '',
    description:
      'Mail server for alerts and ports: smtp://user:password@host:port, or smtps:// for TLS from the start. Unset: the log.',
  },
  { name: 'MAIL_FROM', default: '', description: 'Sender address of mail; needed with SMTP_URL.' },
  {
    name: 'SMTP_REQUIRE_TLS',
    default: 'false',
    description:
      'Whether mail is sent over TLS only. Unset: TLS where the server offers it; always with a password.',
  },
  {
    name: 'SMTP_CA',
    default: '',
    description: 'PEM file of the authorities to trust for the mail server. Unset: those of Node.',
  },
  {
    name: 'SMS_API_URL',
    default: '',
    description: 'SMS service for alerts: takes POST {from, to, text} as JSON. Unset: the log.',
  },
  { name: 'SMS_API_KEY', default: '', description: 'Bearer key of SMS_API_URL.' },
  { name: 'SMS_FROM', default: '', description: 'Sender of SMS; needed with SMS_API_URL.' },
  {
    name: 'PORTING_COUNTRIES',
    default: 'US,CA,PR,GB',
    description: 'Countries whose numbers are ported, two letters each.',
  },
  {
    name: 'PORTING_CARRIER_URL',
    default: '',
    description: 'Porting API of the carrier (docs/porting.md). Unset: an operator handles orders manually.',
  },
  { name: 'PORTING_CARRIER_KEY', default: '', description: 'Bearer key of PORTING_CARRIER_URL.' },
  {
    name: 'PORTING_WEBHOOK_SECRET',
    default: '',
    description:
      'Secret that the carrier signs its webhook with. Unset: no webhook, control only polls the carrier.',
  },
  {
    name: 'PORTING_CARRIER_POLL_SECONDS',
    default: '900',
    description: 'Time between two status requests to the carrier about an order.',
  },
  {
    name: 'PORTING_CARRIER_TIMEOUT_MS',
    default: '15000',
    description: 'Longest wait for an answer of the carrier.',
  },
  {
    name: 'PORTING_VIRUS_SCAN',
    default: '',
    description:
      'Virus scanner for uploaded documents: tcp://host:port of clamd, or the path of a program that reads the file from stdin and exits with 0 (clean) or 1 (found). Unset: documents are not scanned.',
  },
  { name: 'PORTING_SCAN_TIMEOUT_MS', default: '30000', description: 'Timeout of one virus scan.' },
  { name: 'PORTING_UPLOADS', default: '8', description: 'Document uploads at a time.' },
  {
    name: 'PORTING_UNUSED_DOCUMENTS',
    default: '100',
    description: "Maximum number of an organization's documents that no port request uses.",
  },
  ...agentModelSettings,
  ...testModelSettings,
  {
    name: 'LOG_LEVEL',
    default: 'info',
    description: 'Least severe lines of the log: fatal, error, warn, info, debug, trace or silent.',
  },
] as const satisfies readonly Setting[];
