/** What the transport counts: its connections now, and what happened since the start. */
export interface TransportStats {
  readonly inbound: number;
  /** Inbound connections from sources that no configuration names, including handshakes. */
  readonly strangers: number;
  /** Inbound connections still in setup: TCP is up, TLS or the WebSocket is not. */
  readonly handshakes: number;
  readonly outbound: number;
  /** Of these, those to targets that only peers have named, including those being opened. */
  readonly peer_places: number;
  /** Connections to such targets that were not opened, and that were closed for another one. */
  readonly peer_places_refused: number;
  readonly peer_places_evicted: number;
  /** Requests not sent to such a target, because its address is private or otherwise forbidden. */
  readonly peer_places_not_allowed: number;
  /** Connections closed because nothing needed them. */
  readonly inbound_idle: number;
  readonly outbound_idle: number;
  /** Since the start. */
  readonly accepted: number;
  readonly connected: number;
  readonly connectFailures: number;
  /** Rejected, or failed in the handshake. */
  readonly refused: number;
  /** Strangers' connections evicted to make room. */
  readonly evicted: number;
  /** Known sources' connections that yielded to another known source whose organization holds less. */
  readonly yielded: number;
  /** Strangers' connections closed because no message arrived. */
  readonly silent: number;
  /** Connections closed because the peer read nothing of what was sent. */
  readonly unread: number;
  /** How often reading from a peer was paused until it took its answers. */
  readonly paused: number;
  readonly blockedAddresses: number;
  /** Octets of incomplete messages on all inbound connections. */
  readonly unfinished_bytes: number;
  /** Connections closed because incomplete messages held too much memory. */
  readonly unfinished_cut: number;
  /** Octets that wait for peers to read them, and of answers that their requests will have. */
  readonly unread_bytes: number;
  /** Connections closed because these took too much memory. */
  readonly unread_cut: number;
}
