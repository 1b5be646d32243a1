/** What peers may ask of the transport, and how long they may take. Times in milliseconds. */
export interface TransportLimits {
  /** Octets of one SIP message. */
  readonly maxMessageBytes: number;
  /** Inbound connections at a time, of all peers, handshakes included. */
  readonly maxConnections: number;
  /** The same of one known address. Carriers that open a connection per call need thousands. */
  readonly maxConnectionsPerAddress: number;
  /** New inbound connections per second from one known address; as many may come at once. */
  readonly handshakesPerSecond: number;
  /** Inbound connections at a time of one address that no configuration names. */
  readonly strangersPerAddress: number;
  /** The same of one network: /24 of IPv4, /64 of IPv6. */
  readonly strangersPerNetwork: number;
  /** New inbound connections per second of strangers, from one network. */
  readonly strangerHandshakesPerNetwork: number;
  /** The same of all strangers: handshakes cost processor time, which known sources need. */
  readonly strangerHandshakesPerSecond: number;
  /** Octets of all unfinished messages of strangers together: thousands of full size would be hundreds of MiB. */
  readonly strangerUnfinishedBytes: number;
  /** The same of known sources. */
  readonly knownUnfinishedBytes: number;
  /** Connections of ours at a time to places that only peers have named, by Contact or Record-Route. */
  readonly maxPeerPlaces: number;
  /** The same of one network: /24 of IPv4, /64 of IPv6. */
  readonly peerPlacesPerNetwork: number;
  /**
   * Octets that wait for a peer to read them, or will, once its requests are answered. At half of it no more of its
   * requests are read until it has taken some; beyond it, the peer is cut.
   */
  readonly maxQueuedBytes: number;
  /** A peer that takes nothing for so long of what waits for it is cut. */
  readonly writeTimeoutMs: number;
  /**
   * A flow of ours on which nothing at all has come for so long after a request takes no new requests: those open
   * another one. Its own may still be answered; it is closed once their 32 s are over, or as idle.
   */
  readonly silenceTimeoutMs: number;
  /** From TCP accept to the end of the TLS handshake; for WSS as long again to the end of the upgrade. */
  readonly handshakeTimeoutMs: number;
  /** From name resolution to the end of the TLS handshake of an outbound connection, all addresses together. */
  readonly connectTimeoutMs: number;
  /** From the end of the handshake to the first whole message of a stranger. CRLFs are no message. */
  readonly firstMessageTimeoutMs: number;
  /**
   * A flow without traffic, not pinned and without registration, is closed after it. On one that we have opened only
   * messages are traffic.
   */
  readonly idleTimeoutMs: number;
  /**
   * The same of a stranger, of whom only whole messages count as traffic, and of a flow that we have opened to a place
   * that only a peer has named.
   */
  readonly strangerIdleTimeoutMs: number;
  /** An outbound flow without traffic is pinged after it (RFC 5626 section 4.4.1). */
  readonly pingIntervalMs: number;
  /** How long after a ping something must have come from a peer that is known to answer pings. */
  readonly pongTimeoutMs: number;
  /**
   * Whether a peer that never answered a ping is cut as well. Off by default: many peers do not know RFC 5626,
   * and those are pinged once, then watched by TCP keepalive alone.
   */
  readonly requirePong: boolean;
  /**
   * Quiet time before the first TCP keepalive probe. Node sends one probe per second then, and gives up after
   * ten: a peer that vanished without a word is noticed this long and ten seconds after the last octet, pinned
   * flow or not. While octets of ours are not acknowledged, the kernel does not probe but retransmits, on Linux
   * for about 15 minutes (tcp_retries2), and Node has no access to TCP_USER_TIMEOUT. Calls do not wait for it:
   * requests over such a flow end with 408 after 32 s, and with the last dialog goes the pin. A flow that we opened
   * takes no new requests after `silenceTimeoutMs`, and is closed with that 408, unless something was heard on it
   * since the request left (`Uac.failed`).
   */
  readonly tcpKeepaliveMs: number;
  /** A message over TLS must be complete this long after its first octet; a WebSocket frame is bound by its size. */
  readonly messageTimeoutMs: number;
  /** After garbage: how long the connection stays for the responses to the requests before it. */
  readonly drainTimeoutMs: number;
}

export const DEFAULT_TRANSPORT_LIMITS: TransportLimits = {
  maxMessageBytes: 65_536,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 5_000,
  handshakesPerSecond: 500,
  strangersPerAddress: 200,
  strangersPerNetwork: 500,
  strangerHandshakesPerNetwork: 100,
  strangerHandshakesPerSecond: 300,
  strangerUnfinishedBytes: 8_388_608,
  knownUnfinishedBytes: 67_108_864,
  maxPeerPlaces: 1_000,
  peerPlacesPerNetwork: 100,
  maxQueuedBytes: 1_048_576,
  writeTimeoutMs: 30_000,
  silenceTimeoutMs: 4_000,
  handshakeTimeoutMs: 5_000,
  connectTimeoutMs: 4_000,
  firstMessageTimeoutMs: 5_000,
  idleTimeoutMs: 600_000,
  strangerIdleTimeoutMs: 60_000,
  pingIntervalMs: 30_000,
  pongTimeoutMs: 10_000,
  requirePong: false,
  tcpKeepaliveMs: 30_000,
  messageTimeoutMs: 10_000,
  drainTimeoutMs: 2_000,
};
