/** The settings of the edge as docs/settings.md shows them; config.ts reads them. */

import { agentModelSettings } from '#shared/models/model-settings.ts';
import type { Setting } from '#shared/setting-reader.ts';

export const settings = [
  {
    name: 'TRUNKLINE_DATA',
    default: './data',
    description: 'Folder of the outbox, the kept configuration and the certificates.',
  },
  {
    name: 'EDGE_SECRET_KEY',
    default: '',
    description:
      'Key that encrypts the kept configuration: 64 hexadecimal digits. Unset: made once and kept in the data folder.',
  },
  { name: 'SIP_HOST', default: '0.0.0.0', description: 'Address that the edge listens on for SIP over TLS.' },
  { name: 'SIP_TLS_PORT', default: '5061', description: 'Port of SIP over TLS.' },
  {
    name: 'SIP_PUBLIC_HOST',
    default: '',
    description:
      'Name or address under which peers reach the edge. Unset: the local address of each connection.',
  },
  {
    name: 'SIP_WSS_PORT',
    default: '',
    description: 'Port of SIP over secure WebSocket. Unset: no listener.',
  },
  { name: 'RTP_HOST', default: '0.0.0.0', description: 'Address that media is received on.' },
  {
    name: 'RTP_PUBLIC_IP',
    default: '',
    description: 'Address in our SDP. Unset: RTP_HOST, or the first address of the machine.',
  },
  { name: 'RTP_PORT_MIN', default: '10000', description: 'Lowest RTP port.' },
  { name: 'RTP_PORT_MAX', default: '20000', description: 'Highest RTP port.' },
  {
    name: 'TLS_CERT',
    default: '$TRUNKLINE_DATA/tls/server.crt',
    description: 'PEM file of the server certificate, with its chain.',
  },
  {
    name: 'TLS_KEY',
    default: '$TRUNKLINE_DATA/tls/server.key',
    description: 'PEM file of the key of TLS_CERT.',
  },
  {
    name: 'TLS_CA',
    default: '$TRUNKLINE_DATA/tls/ca.crt',
    description: 'PEM file of additional authorities to trust on outgoing connections.',
  },
  {
    name: 'TLS_CLIENT_CERTS',
    default: '$TRUNKLINE_DATA/tls/clients',
    description:
      'Folder with `<host>.crt` and `<host>.key` for hosts that request a client certificate on outgoing connections.',
  },
  {
    name: 'DRACHTIO_HOST',
    default: '',
    description: 'Host of a drachtio-server to use instead of the embedded engine.',
  },
  { name: 'DRACHTIO_PORT', default: '9022', description: 'Application port of that drachtio-server.' },
  { name: 'DRACHTIO_SECRET', default: '', description: 'Secret of that drachtio-server.' },
  {
    name: 'HEP_HOST',
    default: '127.0.0.1',
    description:
      'Address on which the edge receives copies of SIP messages (HEP3) from the engine; over UDP too with DRACHTIO_HOST.',
  },
  {
    name: 'HEP_PORT',
    default: '9060 with DRACHTIO_HOST, else any free one',
    description: 'Port for these copies; 0: any free port.',
  },
  {
    name: 'CONTROL_URL',
    default: 'control_url of $TRUNKLINE_DATA/bootstrap.json',
    description: 'Where the edge reaches the control plane.',
  },
  {
    name: 'EDGE_TOKEN',
    default: 'edge_token of $TRUNKLINE_DATA/bootstrap.json',
    description: 'Token with which the edge authenticates to the control plane.',
  },
  { name: 'SIP_MAX_CONNECTIONS', default: '10000', description: 'Inbound TLS connections at a time.' },
  {
    name: 'SIP_MAX_CONNECTIONS_PER_ADDRESS',
    default: '5000',
    description: 'The same from one address that a configuration names.',
  },
  {
    name: 'SIP_HANDSHAKES_PER_SECOND',
    default: '500',
    description: 'New TLS connections per second from one address that a configuration names.',
  },
  {
    name: 'SIP_STRANGER_CONNECTIONS_PER_ADDRESS',
    default: '200',
    description: 'Inbound TLS connections at a time from one address that no configuration names.',
  },
  {
    name: 'SIP_STRANGER_CONNECTIONS_PER_NETWORK',
    default: '500',
    description: 'The same from one network: /24 of IPv4, /64 of IPv6.',
  },
  {
    name: 'SIP_STRANGER_FIRST_MESSAGE_S',
    default: '5',
    description: 'Seconds after the handshake in which such an address must send a whole SIP message.',
  },
  {
    name: 'SIP_REQUESTS_PER_SECOND',
    default: '10000',
    description: 'SIP requests per second from one address, with IPv6 from one /64.',
  },
  { name: 'SIP_MAX_MESSAGE_BYTES', default: '65536', description: 'Maximum size of a SIP message.' },
  {
    name: 'SIP_MAX_HEADERS',
    default: '128',
    description: 'Maximum number of header lines in a SIP message.',
  },
  {
    name: 'MAX_CALLS',
    default: '500',
    description: 'Calls at a time; further ones get 503 with Retry-After.',
  },
  {
    name: 'INBOUND_TRIES',
    default: '5',
    description: 'Failed attempts before an unknown source is ignored.',
  },
  {
    name: 'INBOUND_TRIES_WINDOW_S',
    default: '60',
    description: 'Seconds within which INBOUND_TRIES are counted.',
  },
  { name: 'INBOUND_BLOCK_S', default: '600', description: 'Seconds for which such a source is ignored.' },
  {
    name: 'INBOUND_SOURCES',
    default: '10000',
    description: 'Maximum number of unknown sources to remember.',
  },
  {
    name: 'RING_AFTER_MS',
    default: '200',
    description: 'Milliseconds of preparation after which the edge sends 180 Ringing.',
  },
  {
    name: 'AGENT_PREPARE_TIMEOUT_S',
    default: '10',
    description: 'Seconds that an agent may take to get ready before the edge rejects the call with 480.',
  },
  {
    name: 'GREETING_WAIT_S',
    default: '5',
    description: 'Seconds that an agent which lets the other side speak first waits for speech.',
  },
  {
    name: 'VOICEMAIL_WATCH_S',
    default: '20',
    description: 'Seconds after the answer in which an outgoing call is classified as person or voicemail.',
  },
  {
    name: 'VOICEMAIL_GREETING_MS',
    default: '10000',
    description: 'Milliseconds of uninterrupted greeting that are treated as voicemail, even without a beep.',
  },
  {
    name: 'TRANSFER_ACCEPT_S',
    default: '15',
    description: 'Seconds that the target of a warm transfer has to press the key; it is asked twice.',
  },
  {
    name: 'TEST_CALL_TURN_END_MS',
    default: '1000',
    description:
      "Milliseconds of silence after the agent's speech before it is the turn of a test call's caller.",
  },
  {
    name: 'TEST_CALL_PATIENCE_S',
    default: '15',
    description: 'Seconds without speech from the agent after which the caller of a test call goes on.',
  },
  {
    name: 'TEST_CALL_TURN_S',
    default: '120',
    description: "Seconds of the agent's speech that are transcribed in one turn of a test call.",
  },
  {
    name: 'TEST_CALL_RING_S',
    default: '60',
    description: 'Seconds that a test call may ring; its key is valid as long.',
  },
  {
    name: 'TEST_CALL_LAST_WAIT_S',
    default: '3',
    description: 'Seconds that one end of a finished test call waits for the record of the other end.',
  },
  {
    name: 'TEST_CALL_SOCKET_S',
    default: '5',
    description: "Seconds within which a test run's socket to control must open, and later answer each ping.",
  },
  {
    name: 'MEDIA_TIMEOUT_S',
    default: '60',
    description:
      'Seconds without RTP or RTCP after which the call ends; 0: never. On hold it does not apply: a silent peer is ' +
      'asked by OPTIONS each minute, and the call ends when that brings 408, 481, or nothing (`peer_gone`).',
  },
  {
    name: 'FOLLOW_REFER',
    default: 'true',
    description:
      "Whether a peer's REFER is followed where `transfer_mode` of its configuration allows it ([transfers.md](transfers.md)); else 403.",
  },
  {
    name: 'SESSION_EXPIRES_S',
    default: '1800',
    description: 'Session interval that the edge asks for (RFC 4028), seconds.',
  },
  {
    name: 'SESSION_MIN_S',
    default: '90',
    description: 'Shortest session interval that the edge accepts, seconds (Min-SE).',
  },
  {
    name: 'DRAIN_TIMEOUT_S',
    default: '60',
    description: 'Seconds after SIGTERM until the remaining calls are ended.',
  },
  {
    name: 'RING_TIMEOUT_S',
    default: '60',
    description:
      'Seconds without an answer, after 180 or only a 100, before the edge cancels an outgoing call.',
  },
  {
    name: 'REFER_TIMEOUT_S',
    default: '180',
    description:
      "Seconds that a transfer requested by a peer's REFER may take before the edge reports 503 in a NOTIFY.",
  },
  {
    name: 'REFER_NOTIFY_TIMEOUT_S',
    default: '60',
    description: 'Seconds without a NOTIFY from the peer after which a REFER that the edge sent has failed.',
  },
  {
    name: 'SIP_CONNECT_TIMEOUT_S',
    default: '4',
    description: 'Seconds that an outgoing TLS connection may take, handshake included.',
  },
  {
    name: 'DNS_SERVERS',
    default: '',
    description: 'DNS servers for trunk names, comma-separated. Unset: those of the machine.',
  },
  {
    name: 'TRUNK_PROBE_INTERVAL_S',
    default: '60',
    description: 'Seconds between two OPTIONS to an endpoint.',
  },
  {
    name: 'TRUNK_PROBE_TIMEOUT_S',
    default: '5',
    description: 'Seconds after which an OPTIONS without an answer has failed.',
  },
  { name: 'TRUNK_PROBE_CONCURRENCY', default: '64', description: 'OPTIONS under way at a time.' },
  {
    name: 'TRUNK_FAILBACK_PROBES',
    default: '3',
    description: 'Successful probes in a row after which a trunk returns to its primary endpoint.',
  },
  {
    name: 'TRUNK_FAILOVER_PROBES',
    default: '2',
    description:
      'Failed probes in a row after which a trunk moves to a failover endpoint without waiting for a call to fail.',
  },
  {
    name: 'REGISTER_PER_SECOND',
    default: '50',
    description: 'REGISTER attempts started per second.',
  },
  {
    name: 'REGISTER_TIMEOUT_S',
    default: '8',
    description: 'Seconds that a registrar has to answer, at shutdown also for un-registering.',
  },
  {
    name: 'REGISTER_KEEPALIVE_S',
    default: '30',
    description: 'Seconds between two checks that the connection to a registrar is alive; 0: no checks.',
  },
  {
    name: 'REGISTER_RETRY_S',
    default: '5',
    description: 'Base of the growing pauses after a failed registration, seconds.',
  },
  { name: 'REGISTER_RETRY_MAX_S', default: '600', description: 'Longest of these pauses, seconds.' },
  {
    name: 'REGISTER_REFUSED_PAUSE_S',
    default: '300',
    description:
      'Seconds before the edge retries at a registrar that refused the username, password or request, after the first quick retries of a new record.',
  },
  { name: 'MEDIA_WORKERS', default: 'one per core', description: 'Number of media worker processes.' },
  {
    name: 'MEDIASOUP_WORKER',
    default: '',
    description: 'Media worker program. Unset: the one that set-up has built.',
  },
  {
    name: 'MEDIASOUP_WORKER_ACCEPT',
    default: 'false',
    description: "Whether to use a media worker that was not built with Trunkline's patches.",
  },
  {
    name: 'CODEC_LIBRARIES',
    default: '',
    description:
      "The only folder to search for the libraries of Opus, G.722 and G.729. Unset: the system's library folders.",
  },
  {
    name: 'TTS_VOICE',
    default: 'slt; alloy with TTS_BASE_URL',
    description: 'Default voice of calls; embedded: slt, kal, kal16, rms or awb.',
  },
  {
    name: 'TTS_BASE_URL',
    default: '',
    description: 'OpenAI-compatible server for /audio/speech. Unset: the embedded text-to-speech.',
  },
  { name: 'TTS_API_KEY', default: '', description: 'API key of TTS_BASE_URL.' },
  { name: 'TTS_MODEL', default: 'tts-1', description: 'Model to request from TTS_BASE_URL.' },
  {
    name: 'STT_BASE_URL',
    default: '',
    description:
      'OpenAI-compatible server for /audio/transcriptions. Unset: calls are driven by key presses.',
  },
  { name: 'STT_API_KEY', default: '', description: 'API key of STT_BASE_URL.' },
  { name: 'STT_MODEL', default: 'whisper-1', description: 'Model to request from STT_BASE_URL.' },
  ...agentModelSettings,
  { name: 'LOG_LEVEL', default: 'info', description: 'fatal, error, warn, info, debug, trace or silent.' },
] as const satisfies readonly Setting[];
