/**
 * The settings of both programs: environment variables that the operator of a deployment changes. Everything else is a
 * constant beside the code that uses it (docs/limits.md). docs/settings.md is written from this table
 * (scripts/settings-page.ts).
 *
 * Units are in the name: _S are seconds, _DAYS days, _PER_MINUTE a rate; other numbers are ports and counts.
 */
import { quotas, retention } from './amounts.ts';

/** Which program reads a setting. Set-up, the edge for the media worker and control for the console read `set-up`. */
export type SettingProgram = 'control' | 'edge' | 'both' | 'set-up';

export interface Setting {
  readonly name: string;
  readonly program: SettingProgram;
  /** Empty: unset. */
  readonly default: string;
  /** One or more sentences. */
  readonly meaning: string;
}

const row =
  <P extends SettingProgram>(program: P) =>
  <N extends string>(name: N, value: string, meaning: string) =>
    ({ name, program, default: value, meaning }) as const;
const both = row('both');
const control = row('control');
const edge = row('edge');

/** The sections of docs/settings.md. */
export const settingSections = [
  {
    title: 'Data, log and secrets',
    settings: [
      both(
        'TRUNKLINE_DATA',
        './data',
        'Folder of the database, outbox, keys and certificates. Edge and control on one machine share it.',
      ),
      both(
        'LOG_LEVEL',
        'info',
        'Least severe lines of the log: fatal, error, warn, info, debug, trace or silent. With ,json behind it (info,json) the lines are JSON, with ,text they are for people; with neither they are for people on a terminal, and else JSON.',
      ),
      both(
        'OTEL_EXPORTER_OTLP_ENDPOINT',
        '',
        'Collector that gets traces over OTLP/HTTP, such as http://127.0.0.1:4318 ([tracing](tracing.md)). OTEL_EXPORTER_OTLP_HEADERS and the other variables of the OpenTelemetry exporter count too. Unset: no traces.',
      ),
      control(
        'DATABASE_URL',
        '',
        'PostgreSQL database (postgres://user:password@host:port/name), or SQLite file, as a path or file: URL. Unset: control.db in the data folder.',
      ),
      control(
        'TRUNKLINE_SECRET_KEY',
        '',
        'Key that encrypts stored secrets: 64 hexadecimal digits. Unset: created once and kept in the data folder.',
      ),
      edge(
        'EDGE_SECRET_KEY',
        '',
        'Key that encrypts the stored configuration: 64 hexadecimal digits. Unset: created once and kept in the data folder.',
      ),
      control(
        'BACKUP_PASSPHRASE',
        '',
        'Encrypts the keys that go into a backup. Unset: backups contain no keys.',
      ),
      row('set-up')(
        'TRUNKLINE_CACHE',
        '~/.cache/trunkline',
        'Folder of the built media worker and console, and of the test peers.',
      ),
    ],
  },
  {
    title: 'Control and its API',
    settings: [
      control('TRUNKLINE_REGION', 'local', 'Name of the region that this deployment serves.'),
      control('CONTROL_HOST', '127.0.0.1', 'Address that the HTTP API listens on.'),
      control('CONTROL_PORT', '8080', 'Port of the HTTP API.'),
      both(
        'CONTROL_URL',
        '',
        'Where the edge and the links in mails reach the HTTP API. Unset: control uses its own address, the edge the control_url of bootstrap.json in its data folder.',
      ),
      edge(
        'EDGE_TOKEN',
        '',
        'Token with which the edge authenticates to control. Unset: the edge_token of bootstrap.json in its data folder.',
      ),
      control(
        'EXPECT_EDGE',
        'false',
        'Whether /health is 503 unless an edge is connected, has applied its configuration and is not draining.',
      ),
      control(
        'TRUSTED_PROXIES',
        '',
        'Addresses and networks of proxies whose X-Forwarded-For is trusted, separated by commas.',
      ),
      control(
        'CORS_ORIGINS',
        '',
        'Origins whose pages may use the API, separated by commas, such as `https://console.example.com`.',
      ),
      control('METRICS_PUBLIC', 'false', 'Whether /metrics answers without an operator key.'),
      control('RATE_LIMIT_PER_MINUTE', '600', 'Requests per minute and API key.'),
    ],
  },
  {
    title: 'SIP, media and TLS',
    settings: [
      both('SIP_HOST', '0.0.0.0', 'Address that the edge listens on for SIP over TLS.'),
      both('SIP_TLS_PORT', '5061', 'Port of SIP over TLS.'),
      both(
        'SIP_PUBLIC_HOST',
        '',
        'Name or address under which peers reach the edge; goes into the certificate. Unset: the local address of each connection.',
      ),
      edge(
        'SIP_WSS_PORT',
        '',
        'Port of SIP over secure WebSocket, for [calls from a browser](phone.md). Unset: no listener.',
      ),
      edge('RTP_HOST', '0.0.0.0', 'Address that media is received on.'),
      both(
        'RTP_PUBLIC_IP',
        '',
        'Address that the edge puts in SDP, listed for firewalls. Unset: RTP_HOST, or the first address of the machine.',
      ),
      both('RTP_PORT_MIN', '10000', 'Lowest RTP port.'),
      both('RTP_PORT_MAX', '20000', 'Highest RTP port.'),
      both(
        'TLS_CERT',
        '',
        'PEM file of the server certificate, with its chain. Unset: tls/server.crt in the data folder, which control creates.',
      ),
      both(
        'TLS_KEY',
        '',
        'PEM file of the key of TLS_CERT. Unset: tls/server.key in the data folder, which control creates.',
      ),
      both(
        'TLS_CA',
        '',
        'PEM file of the authority that issued TLS_CERT; the edge also trusts it on outgoing connections. Unset: tls/ca.crt in the data folder, if it exists.',
      ),
      edge(
        'DRACHTIO_HOST',
        '',
        'Host or host:port of a drachtio-server to use instead of the embedded engine; port 9022 if none is given.',
      ),
      edge('DRACHTIO_SECRET', '', 'Secret of that drachtio-server.'),
      edge(
        'HEP_HOST',
        '127.0.0.1',
        'Address or address:port on which the edge receives copies of SIP messages (HEP3) from the engine, over UDP too with DRACHTIO_HOST. Without a port: 9060 with DRACHTIO_HOST, else any free one.',
      ),
    ],
  },
  {
    title: 'Calls and trunks',
    settings: [
      edge('MAX_CALLS', '500', 'Calls at a time; further ones get 503 with Retry-After.'),
      edge('SIP_MAX_CONNECTIONS', '10000', 'Inbound TLS connections at a time.'),
      edge(
        'MEDIA_WORKERS',
        '',
        'Number of media shards: threads that carry audio, each with a media worker process. Unset: one per two cores.',
      ),
      edge('MEDIASOUP_WORKER', '', 'Media worker program. Unset: the one that set-up has built.'),
      edge(
        'MEDIA_TIMEOUT_S',
        '60',
        'Seconds without RTP or RTCP after which the call ends; 0: never. On hold, OPTIONS check the peer instead ([limits](limits.md#calls)).',
      ),
      edge('DRAIN_TIMEOUT_S', '60', 'Seconds after SIGTERM until the edge ends the remaining calls.'),
      both(
        'TRUNK_PROBE_INTERVAL_S',
        '60',
        'Seconds between two OPTIONS to an endpoint. Set control and edges alike: control treats the state of a trunk as unknown after three intervals without a probe, at least 180 s.',
      ),
      edge(
        'FOLLOW_REFER',
        'true',
        "Whether a peer's REFER is followed where `transfer_mode` of its configuration allows it ([transfers](transfers.md)); else 403.",
      ),
      control(
        'SIP_OPEN_INBOUND',
        'false',
        'Whether a number that lists no sources accepts calls from every source.',
      ),
      control(
        'ALLOW_PRIVATE_TARGETS',
        '',
        'Private networks that customers and peers may make the programs contact, in CIDR form, separated by commas.',
      ),
    ],
  },
  {
    title: 'Organizations',
    settings: [
      control('SIP_ENTITLEMENT_DEFAULT', 'false', 'Whether new organizations may use SIP.'),
      control('QUOTAS', '', `How much an organization may have: ${form(quotas)}, as in the table below.`),
      control('RETENTION_DAYS', '', `Days that records are kept: ${form(retention)}, as in the table below.`),
    ],
  },
  {
    title: 'Speech and language models',
    settings: [
      edge(
        'TTS_BASE_URL',
        '',
        'Text-to-speech server ([speech](speech.md)): http(s):// is an OpenAI-compatible server for /audio/speech; wss:// ends in /v1/text-to-speech (ElevenLabs) or /v1/speak (Deepgram). Unset: the embedded text-to-speech.',
      ),
      edge('TTS_API_KEY', '', 'API key of TTS_BASE_URL.'),
      edge(
        'TTS_MODEL',
        '',
        'Model to request from TTS_BASE_URL. Unset: tts-1, or eleven_flash_v2_5 with ElevenLabs; the models of Deepgram are its voices.',
      ),
      edge(
        'TTS_VOICE',
        '',
        'Default voice of calls. Unset: alloy with an OpenAI-compatible server, aura-2-thalia-en with Deepgram, else slt; must be set with ElevenLabs. Embedded: slt, kal, kal16, rms or awb.',
      ),
      edge(
        'STT_BASE_URL',
        '',
        'Transcription server, or several separated by commas: the first that works is used ([speech](speech.md)). http(s):// is an OpenAI-compatible server for /audio/transcriptions; wss:// ends in /realtime (OpenAI Realtime), /v1/listen (Deepgram) or /v2/listen (Deepgram Flux) and transcribes while the caller speaks. Unset: calls are driven by key presses.',
      ),
      edge(
        'STT_API_KEY',
        '',
        'API key of STT_BASE_URL; with several servers one for each, separated by commas, possibly empty.',
      ),
      edge(
        'STT_MODEL',
        '',
        'Model to request from STT_BASE_URL, as many as servers. Unset: whisper-1, gpt-live-transcribe, nova-3 or flux-general-en, by protocol.',
      ),
      both(
        'LLM_BASE_URL',
        '',
        "OpenAI-compatible server of the agents' language model. Unset: the embedded rules.",
      ),
      both('LLM_API_KEY', '', 'API key of LLM_BASE_URL.'),
      both('LLM_MODEL', '', 'Model of agents; must be set when LLM_BASE_URL is.'),
      both('LLM_TURBO_MODEL', '', 'Model of agents whose model is turbo. Unset: LLM_MODEL.'),
      both('LLM_CONCURRENCY', '64', 'Requests to language models at a time, per program; more wait.'),
      control(
        'LLM_TEST_BASE_URL',
        '',
        'OpenAI-compatible server for LLM_CALLER_MODEL and LLM_JUDGE_MODEL. Unset: LLM_BASE_URL.',
      ),
      control(
        'LLM_TEST_API_KEY',
        '',
        'API key of LLM_TEST_BASE_URL; LLM_API_KEY is only used for LLM_BASE_URL.',
      ),
      control(
        'LLM_CALLER_MODEL',
        '',
        'Model that plays the caller in agent tests. Unset: LLM_MODEL, or the embedded rules without LLM_BASE_URL.',
      ),
      control('LLM_JUDGE_MODEL', '', 'Model that judges agent tests. Unset: as for LLM_CALLER_MODEL.'),
    ],
  },
  {
    title: 'Mail, SMS and porting',
    settings: [
      control(
        'OPERATOR_ALERTS',
        '',
        'Mail addresses and http(s) URLs, separated by commas, to notify when an edge or control cannot write to its disk ([operations](operations.md)). Mail needs SMTP_URL.',
      ),
      control(
        'SMTP_URL',
        '',
        'Mail server: smtp://user:password@host:port, or smtps:// for TLS from the start. `?tls=required` sends over TLS only (always with a password; else TLS where the server offers it); `?ca=<PEM file>` trusts other authorities than Node. Unset: mails go to the log.',
      ),
      control('MAIL_FROM', '', 'Sender address of mail; needed with SMTP_URL.'),
      control(
        'SMS_API_URL',
        '',
        'SMS service: takes POST {from, to, text} as JSON. Unset: SMS go to the log.',
      ),
      control('SMS_API_KEY', '', 'Bearer key of SMS_API_URL.'),
      control('SMS_FROM', '', 'Sender of SMS; needed with SMS_API_URL.'),
      control(
        'PORTING_CARRIER_URL',
        '',
        'Porting API of the carrier ([porting](porting.md)). Unset: an operator handles orders manually.',
      ),
      control('PORTING_CARRIER_KEY', '', 'Bearer key of PORTING_CARRIER_URL.'),
      control(
        'PORTING_WEBHOOK_SECRET',
        '',
        'Secret with which the carrier signs its webhook. Unset: no webhook, control polls the carrier.',
      ),
      control(
        'PORTING_VIRUS_SCAN',
        '',
        'Virus scanner for uploaded documents: tcp://host:port of clamd, or the path of a program that reads the file from stdin and exits with 0 (clean) or 1 (found). Unset: documents are not scanned.',
      ),
    ],
  },
] as const;

type Row = (typeof settingSections)[number]['settings'][number];

/** The names that a program reads. */
export type SettingName<P extends SettingProgram> = Extract<Row, { readonly program: P | 'both' }>['name'];

export const settings: readonly (Setting & Row)[] = settingSections.flatMap(({ settings }) => [...settings]);

/** `a=1, b=2` with the first two names. */
function form(amounts: Readonly<Record<string, { readonly default: number | null }>>): string {
  const shown = Object.entries(amounts).slice(0, 2);
  return `\`${shown.map(([name, { default: value }]) => `${name}=${value}`).join(', ')}\``;
}
