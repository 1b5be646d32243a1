/**
 * Limits and timeouts of the embedded engine, written once for both programs. Names that end in `Ms` are milliseconds,
 * those with `Bytes` octets. The defaults are in `edge/engine`.
 */
import { flag, integer, objectOf, type Shaped } from '../shapes.ts';

const count = integer(1);

/** Towards peers. */
const transport = {
  /** Octets in one SIP message, head and body. */
  maxMessageBytes: count,
  /** Concurrent inbound connections of all peers, including handshakes. */
  maxConnections: count,
  /** The same per known address. Carriers that open a connection per call need thousands. */
  maxConnectionsPerAddress: count,
  /** New inbound connections per second from one known address, which is also the burst size. */
  handshakesPerSecond: count,
  /** Concurrent inbound connections per address that no configuration names. */
  strangersPerAddress: count,
  /** The same per network: /24 of IPv4, /64 of IPv6. */
  strangersPerNetwork: count,
  /** New inbound connections per second from strangers of one network. */
  strangerHandshakesPerNetwork: count,
  /** The same for all strangers: handshakes cost CPU time that known sources need. */
  strangerHandshakesPerSecond: count,
  /** Octets of all incomplete messages from strangers together: thousands of full size would be hundreds of MiB. */
  strangerUnfinishedBytes: count,
  /** The same for known sources. */
  knownUnfinishedBytes: count,
  /** Concurrent outbound connections to targets that only peers have named, by Contact or Record-Route. */
  maxPeerTargets: count,
  /** The same per network: /24 of IPv4, /64 of IPv6. */
  peerTargetsPerNetwork: count,
  /**
   * Octets queued for a peer, including the pending answers to its requests. At half of the limit its requests
   * are no longer read until it has taken some; above the limit, the peer is cut.
   */
  maxQueuedBytes: count,
  /** The same of all strangers together: the one that has most is cut. */
  strangerUnreadBytes: count,
  /** The same of all other peers. */
  knownUnreadBytes: count,
  /** A peer that takes none of the queued data for this long is cut. */
  writeTimeoutMs: count,
  /**
   * An outbound flow on which nothing at all has arrived for this long after a request takes no new requests:
   * those open another flow. Requests in progress may still be answered; the flow is closed once their 32 s are
   * over, or as idle.
   */
  silenceTimeoutMs: count,
  /** From TCP accept to the end of the TLS handshake; for WSS the same again to the end of the upgrade. */
  handshakeTimeoutMs: count,
  /** From name resolution to the end of the TLS handshake of an outbound connection, over all addresses. */
  connectTimeoutMs: count,
  /** From the end of the handshake to a stranger's first whole message. CRLFs do not count. */
  firstMessageTimeoutMs: count,
  /**
   * A flow that is idle for this long, not pinned and without a registration, is closed. On outbound flows only
   * messages count as traffic.
   */
  idleTimeoutMs: count,
  /**
   * The same for strangers, of which only whole messages count as traffic, and for outbound flows to a target
   * that only a peer has named.
   */
  strangerIdleTimeoutMs: count,
  /** An outbound flow without traffic for this long is pinged (RFC 5626 section 4.4.1). */
  pingIntervalMs: count,
  /** A peer known to answer pings must send something within this time after a ping. */
  pongTimeoutMs: count,
  /**
   * Whether a peer that never answered a ping is cut as well. Off by default: many peers do not know RFC 5626,
   * and those are pinged once, then monitored by TCP keepalive only.
   */
  requirePong: flag,
  /**
   * Idle time before the first TCP keepalive probe. Node then sends one probe per second and gives up after ten:
   * a peer that vanished is detected this long plus ten seconds after the last octet, whether the flow is pinned
   * or not. While octets of ours are unacknowledged, the kernel does not probe but retransmits, on Linux for
   * about 15 minutes (tcp_retries2), and Node has no access to TCP_USER_TIMEOUT. Calls do not wait for it:
   * requests over such a flow end with 408 after 32 s, and the last dialog unpins it. An outbound flow takes no
   * new requests after `silenceTimeoutMs`, and is closed with that 408, unless something arrived on it since the
   * request was sent (`Uac.failed`).
   */
  tcpKeepaliveMs: count,
  /**
   * A message over TLS must be complete this long after its first octet; a WebSocket frame is limited by its
   * size.
   */
  messageTimeoutMs: count,
  /** After garbage: how long the connection stays open for the responses to earlier requests. */
  drainTimeoutMs: count,
};

/** Messages and transactions. */
const messages = {
  /** Header field lines of one SIP message; a folded one counts once. */
  maxHeaders: count,
  /** SIP requests per second and source address; requests above the limit are dropped silently. */
  requestsPerSecond: count,
  /** Concurrent server transactions. */
  maxTransactions: count,
};

/** Towards applications, of which the edge is one. */
const applications = {
  /** Octets in one frame from an application; larger ones are rejected. */
  maxFrameBytes: count,
  /** Octets queued for an application that does not read; beyond this, it is disconnected. */
  maxAppQueuedBytes: count,
  /** Concurrent connections of applications. */
  maxApps: count,
  /** From an application's connection to its authentication. */
  appAuthenticateMs: count,
};

export type TransportLimits = { readonly [K in keyof typeof transport]: Shaped<(typeof transport)[K]> };

const all = { ...transport, ...messages, ...applications };

export type EngineLimits = { readonly [K in keyof typeof all]: Shaped<(typeof all)[K]> };

/** Any of them. */
export const someLimits = objectOf({}, all);
