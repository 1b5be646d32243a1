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
    description: 'Port of SIP over secure WebSocket. Unset: no such listener.',
  },
  { name: 'RTP_HOST', default: '0.0.0.0', description: 'Address that media is received on.' },
  {
    name: 'RTP_PUBLIC_IP',
    default: '',
    description: 'Address that SDP names. Unset: RTP_HOST, or the first address of the machine.',
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
    description:
      'PEM file of further authorities that peers of outgoing connections may have their certificates from.',
  },
  {
    name: 'TLS_CLIENT_CERTS',
    default: '$TRUNKLINE_DATA/tls/clients',
    description:
      'Folder with `<host>.crt` and `<host>.key` for peers of outgoing connections that ask for a certificate.',
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
      'Address that copies of SIP messages (HEP3) are taken on from the engine; by UDP, too, with DRACHTIO_HOST.',
  },
  {
    name: 'HEP_PORT',
    default: '9060 with DRACHTIO_HOST, else any free one',
    description: 'Port for these copies; 0: any free one.',
  },
  {
    name: 'CONTROL_URL',
    default: 'control_url of $TRUNKLINE_DATA/bootstrap.json',
    description: 'Where the edge reaches the control plane.',
  },
  {
    name: 'EDGE_TOKEN',
    default: 'edge_token of $TRUNKLINE_DATA/bootstrap.json',
    description: 'Token with which the edge shows itself to the control plane.',
  },
  { name: 'SIP_MAX_CONNECTIONS', default: '10000', description: 'Inbound TLS connections at a time.' },
  {
    name: 'SIP_MAX_CONNECTIONS_PER_ADDRESS',
    default: '5000',
    description: 'The same of one address that a configuration names.',
  },
  {
    name: 'SIP_HANDSHAKES_PER_SECOND',
    default: '500',
    description: 'New TLS connections per second from one address that a configuration names.',
  },
  {
    name: 'SIP_STRANGER_CONNECTIONS_PER_ADDRESS',
    default: '200',
    description: 'Inbound TLS connections at a time of one address that no configuration names.',
  },
  {
    name: 'SIP_STRANGER_CONNECTIONS_PER_NETWORK',
    default: '500',
    description: 'The same of one network: /24 of IPv4, /64 of IPv6.',
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
  { name: 'SIP_MAX_MESSAGE_BYTES', default: '65536', description: 'Largest SIP message.' },
  { name: 'SIP_MAX_HEADERS', default: '128', description: 'Header field lines of a SIP message at most.' },
  {
    name: 'MAX_CALLS',
    default: '500',
    description: 'Calls at a time; further ones get 503 with Retry-After.',
  },
  {
    name: 'INBOUND_TRIES',
    default: '5',
    description: 'Refused tries of a source without trunk after which it gets no answer any more.',
  },
  {
    name: 'INBOUND_TRIES_WINDOW_S',
    default: '60',
    description: 'Seconds within which INBOUND_TRIES are counted.',
  },
  { name: 'INBOUND_BLOCK_S', default: '600', description: 'Seconds for which such a source gets no answer.' },
  {
    name: 'INBOUND_SOURCES',
    default: '10000',
    description: 'Sources without trunk that are remembered at most.',
  },
  {
    name: 'RING_AFTER_MS',
    default: '200',
    description: 'Milliseconds of preparation after which 180 Ringing goes out.',
  },
  {
    name: 'AGENT_PREPARE_TIMEOUT_S',
    default: '10',
    description: 'Seconds that an agent may take to get ready before the call is answered 480.',
  },
  {
    name: 'GREETING_WAIT_S',
    default: '5',
    description: 'Seconds that an agent that lets the other side speak first waits for it to begin.',
  },
  {
    name: 'VOICEMAIL_WATCH_S',
    default: '20',
    description:
      'Seconds after the answer within which a call of ours is judged to have reached a person or a mailbox.',
  },
  {
    name: 'VOICEMAIL_GREETING_MS',
    default: '10000',
    description:
      'Milliseconds of uninterrupted greeting that make a mailbox of who answers, also without a beep.',
  },
  {
    name: 'TRANSFER_ACCEPT_S',
    default: '15',
    description: 'Seconds that the target of a warm transfer has to press the key, each of two times.',
  },
  {
    name: 'TEST_CALL_TURN_END_MS',
    default: '1000',
    description:
      "Milliseconds of silence after the agent's words that make it the turn of a test call's caller.",
  },
  {
    name: 'TEST_CALL_PATIENCE_S',
    default: '15',
    description: 'Seconds without a word of the agent after which the caller of a test call goes on.',
  },
  {
    name: 'TEST_CALL_TURN_S',
    default: '120',
    description: "Seconds of the agent's words that are transcribed of one turn of a test call.",
  },
  {
    name: 'TEST_CALL_RING_S',
    default: '60',
    description: 'Seconds that a test call may ring; its key is good for as long.',
  },
  {
    name: 'TEST_CALL_LAST_WAIT_S',
    default: '3',
    description: 'Seconds that the end of a test call which is over waits for the record of the other.',
  },
  {
    name: 'TEST_CALL_SOCKET_S',
    default: '5',
    description: "Seconds within which a test run's socket to control opens, and then answers each ping.",
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
    description: 'Smallest session interval that the edge takes, seconds.',
  },
  {
    name: 'DRAIN_TIMEOUT_S',
    default: '60',
    description: 'Seconds that running calls may take to end after SIGTERM.',
  },
  {
    name: 'RING_TIMEOUT_S',
    default: '60',
    description: 'Seconds that a call of ours may ring, or be silent after a 100, before it is given up.',
  },
  {
    name: 'REFER_TIMEOUT_S',
    default: '180',
    description: 'Seconds that a transfer which a peer asked for by REFER may take before it is told 503.',
  },
  {
    name: 'REFER_NOTIFY_TIMEOUT_S',
    default: '60',
    description: "Seconds without a NOTIFY of the peer after which a REFER of the edge's has failed.",
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
  { name: 'TRUNK_PROBE_CONCURRENCY', default: '64', description: 'OPTIONS on their way at a time.' },
  {
    name: 'TRUNK_FAILBACK_PROBES',
    default: '3',
    description: 'Good probes in a row after which a trunk returns to its primary endpoint by itself.',
  },
  {
    name: 'TRUNK_FAILOVER_PROBES',
    default: '2',
    description: 'Failed probes in a row after which they alone move a trunk to a failover endpoint.',
  },
  {
    name: 'REGISTER_PER_SECOND',
    default: '50',
    description: 'Registrations at registrars of PBXs that are begun per second.',
  },
  {
    name: 'REGISTER_TIMEOUT_S',
    default: '8',
    description: 'Seconds that a registrar may take to answer, and at the end the un-registering.',
  },
  {
    name: 'REGISTER_KEEPALIVE_S',
    default: '30',
    description: 'Seconds between two looks whether the connection to a registrar still stands; 0: none.',
  },
  {
    name: 'REGISTER_RETRY_S',
    default: '5',
    description: 'Base of the growing pauses after a registration that failed, seconds.',
  },
  { name: 'REGISTER_RETRY_MAX_S', default: '600', description: 'Longest of these pauses, seconds.' },
  {
    name: 'REGISTER_REFUSED_PAUSE_S',
    default: '300',
    description:
      'Seconds before a registrar that refused username, password or request is asked again, after the close tries of a new record.',
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
    description: "Whether a media worker without the mark of Trunkline's patches is used.",
  },
  {
    name: 'CODEC_LIBRARIES',
    default: '',
    description:
      'Folder with the libraries of Opus, G.722 and G.729, to be looked for there alone. Unset: where the system has them.',
  },
  {
    name: 'TTS_VOICE',
    default: 'slt; alloy with TTS_BASE_URL',
    description: 'Voice of calls that name none; embedded: slt, kal, kal16, rms or awb.',
  },
  {
    name: 'TTS_BASE_URL',
    default: '',
    description: 'OpenAI-compatible server for /audio/speech. Unset: the embedded text-to-speech.',
  },
  { name: 'TTS_API_KEY', default: '', description: 'API key of TTS_BASE_URL.' },
  { name: 'TTS_MODEL', default: 'tts-1', description: 'Model asked of TTS_BASE_URL.' },
  {
    name: 'STT_BASE_URL',
    default: '',
    description:
      'OpenAI-compatible server for /audio/transcriptions. Unset: calls are driven by key presses.',
  },
  { name: 'STT_API_KEY', default: '', description: 'API key of STT_BASE_URL.' },
  { name: 'STT_MODEL', default: 'whisper-1', description: 'Model asked of STT_BASE_URL.' },
  ...agentModelSettings,
  { name: 'LOG_LEVEL', default: 'info', description: 'fatal, error, warn, info, debug, trace or silent.' },
] as const satisfies readonly Setting[];
