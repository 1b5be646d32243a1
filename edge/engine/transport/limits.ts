/** Limits and timeouts of the transport towards peers. Times in milliseconds. */
export interface TransportLimits {
  /** Octets in one SIP message. */
  readonly maxMessageBytes: number;
  /** Concurrent inbound connections of all peers, including handshakes. */
  readonly maxConnections: number;
  /** The same per known address. Carriers that open a connection per call need thousands. */
  readonly maxConnectionsPerAddress: number;
  /** New inbound connections per second from one known address, which is also the burst size. */
  readonly handshakesPerSecond: number;
  /** Concurrent inbound connections per address that no configuration names. */
  readonly strangersPerAddress: number;
  /** The same per network: /24 of IPv4, /64 of IPv6. */
  readonly strangersPerNetwork: number;
  /** New inbound connections per second from strangers of one network. */
  readonly strangerHandshakesPerNetwork: number;
  /** The same for all strangers: handshakes cost CPU time that known sources need. */
  readonly strangerHandshakesPerSecond: number;
  /** Octets of all incomplete messages from strangers together: thousands of full size would be hundreds of MiB. */
  readonly strangerUnfinishedBytes: number;
  /** The same for known sources. */
  readonly knownUnfinishedBytes: number;
  /** Concurrent outbound connections to targets that only peers have named, by Contact or Record-Route. */
  readonly maxPeerPlaces: number;
  /** The same per network: /24 of IPv4, /64 of IPv6. */
  readonly peerPlacesPerNetwork: number;
  /**
   * Octets queued for a peer, including the pending answers to its requests. At half of the limit its requests
   * are no longer read until it has taken some; above the limit, the peer is cut.
   */
  readonly maxQueuedBytes: number;
  /** A peer that takes none of the queued data for this long is cut. */
  readonly writeTimeoutMs: number;
  /**
   * An outbound flow on which nothing at all has arrived for this long after a request takes no new requests:
   * those open another flow. Requests in progress may still be answered; the flow is closed once their 32 s are
   * over, or as idle.
   */
  readonly silenceTimeoutMs: number;
  /** From TCP accept to the end of the TLS handshake; for WSS the same again to the end of the upgrade. */
  readonly handshakeTimeoutMs: number;
  /** From name resolution to the end of the TLS handshake of an outbound connection, over all addresses. */
  readonly connectTimeoutMs: number;
  /** From the end of the handshake to a stranger's first whole message. CRLFs do not count. */
  readonly firstMessageTimeoutMs: number;
  /**
   * A flow that is idle for this long, not pinned and without a registration, is closed. On outbound flows only
   * messages count as traffic.
   */
  readonly idleTimeoutMs: number;
  /**
   * The same for strangers, of which only whole messages count as traffic, and for outbound flows to a target
   * that only a peer has named.
   */
  readonly strangerIdleTimeoutMs: number;
  /** An outbound flow without traffic for this long is pinged (RFC 5626 section 4.4.1). */
  readonly pingIntervalMs: number;
  /** A peer known to answer pings must send something within this time after a ping. */
  readonly pongTimeoutMs: number;
  /**
   * Whether a peer that never answered a ping is cut as well. Off by default: many peers do not know RFC 5626,
   * and those are pinged once, then monitored by TCP keepalive only.
   */
  readonly requirePong: boolean;
  /**
   * Idle time before the first TCP keepalive probe. Node then sends one probe per second and gives up after ten:
   * a peer that vanished is detected this long plus ten seconds after the last octet, whether the flow is pinned
   * or not. While octets of ours are unacknowledged, the kernel does not probe but retransmits, on Linux for
   * about 15 minutes (tcp_retries2), and Node has no access to TCP_USER_TIMEOUT. Calls do not wait for it:
   * requests over such a flow end with 408 after 32 s, and the last dialog unpins it. An outbound flow takes no
   * new requests after `silenceTimeoutMs`, and is closed with that 408, unless something arrived on it since the
   * request was sent (`Uac.failed`).
   */
  readonly tcpKeepaliveMs: number;
  /**
   * A message over TLS must be complete this long after its first octet; a WebSocket frame is limited by its
   * size.
   */
  readonly messageTimeoutMs: number;
  /** After garbage: how long the connection stays open for the responses to earlier requests. */
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
