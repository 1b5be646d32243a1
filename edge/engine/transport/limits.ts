/** What peers may ask of the transport, and how long they may take. Times in milliseconds. */
export interface TransportLimits {
  /** Octets of one SIP message. */
  readonly maxMessageBytes: number;
  /** Inbound connections at a time, of all peers, handshakes included. */
  readonly maxConnections: number;
  /** The same of one address. Carriers that open a connection per call need thousands. */
  readonly maxConnectionsPerAddress: number;
  /** New inbound connections per second from one address; as many may come at once. */
  readonly handshakesPerSecond: number;
  /** Octets that wait for a peer to read them; beyond, it is cut. */
  readonly maxQueuedBytes: number;
  /** From TCP accept to the end of the TLS handshake (for WSS: of the upgrade). */
  readonly handshakeTimeoutMs: number;
  /** From name resolution to the end of the TLS handshake of an outbound connection, all addresses together. */
  readonly connectTimeoutMs: number;
  /** An inbound flow without any traffic and not pinned is closed after it. */
  readonly idleTimeoutMs: number;
  /** An outbound flow without traffic is pinged after it (RFC 5626 section 4.4.1). */
  readonly pingIntervalMs: number;
  /** How long after a ping something must have come from a peer that is known to answer pings. */
  readonly pongTimeoutMs: number;
  /**
   * Whether a peer that never answered a ping is cut as well. Off by default: many peers do not know RFC 5626,
   * and those are pinged once, then watched by TCP keepalive alone.
   */
  readonly requirePong: boolean;
  /** A message must be complete this long after its first octet. */
  readonly messageTimeoutMs: number;
}

export const DEFAULT_TRANSPORT_LIMITS: TransportLimits = {
  maxMessageBytes: 65_536,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 5_000,
  handshakesPerSecond: 500,
  maxQueuedBytes: 1_048_576,
  handshakeTimeoutMs: 10_000,
  connectTimeoutMs: 10_000,
  idleTimeoutMs: 600_000,
  pingIntervalMs: 30_000,
  pongTimeoutMs: 10_000,
  requirePong: false,
  messageTimeoutMs: 10_000,
};
