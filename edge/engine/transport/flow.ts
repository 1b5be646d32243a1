/** One connection to a peer, as the rest of the engine sees it (a "flow" in RFC 5626's words). */
import type { FrameError } from '../message/framing.ts';

export interface Flow {
  /** Unique in the process. */
  readonly id: number;
  readonly protocol: 'tls' | 'wss';
  /** IPv4-mapped IPv6 addresses are shown as plain IPv4. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  /** Whether we opened it. */
  readonly outbound: boolean;
  /** True from the moment on which nothing can be sent any more. */
  readonly closed: boolean;
  /** True once nothing more is read of it: responses may still be sent, requests would never be answered. */
  readonly draining: boolean;
  /** How many times something has come in: whether a peer was silent since a moment. */
  readonly heard: number;
  /** Sends one message. False when the flow is closed, or is closed now because the peer does not read. */
  send(bytes: Buffer): boolean;
  /** Keeps the flow from being closed as idle, until as many `unpin` calls: for a dialog or a transaction. */
  pin(): void;
  unpin(): void;
  /** The peer has registered us for so many ms, and may send calls over this flow: it is not idle until then. */
  keepFor(ms: number): void;
  /**
   * A request of the peer is with somebody who will answer it by about so many octets. Requests of a peer that owes
   * us the reading of too many answers are not read any further.
   */
  owe(bytes: number): void;
  /** It is answered, or never will be. */
  settle(bytes: number): void;
  /** Takes no new requests any more: they open another flow. What is under way may still be answered. */
  setAside(): void;
  /** Flushes what was sent, then closes. `reason` goes into the `closed` event and the log. */
  close(reason: string): void;
}

/**
 * Who has named the place to which a connection is made: the application, which knows trunks, registrars and transfer
 * targets and has judged them; or a peer, by Contact or Record-Route.
 */
export type NamedBy = 'application' | NamedByPeer;

export interface NamedByPeer {
  /** The address from which the peer's messages come. */
  readonly peer: string;
}

/** What the transport tells its owner. Called from socket events; must not throw. */
export interface TransportEvents {
  /** One whole message, not parsed yet. `bytes` belongs to the receiver. */
  message(flow: Flow, bytes: Buffer): void;
  /**
   * The peer's stream cannot be cut into messages any further. The flow is draining: an answer
   * (`answerableRequest(error.partial)` with `error.status`) and the responses to requests before it may still
   * be sent. Who listens closes the flow when that is done; after `drainTimeoutMs` it closes by itself.
   */
  frameError(flow: Flow, error: FrameError): void;
  /** Once per flow that was delivered by `message`, `opened` or `connect`; after it nothing comes from this flow. */
  closed(flow: Flow, reason: string): void;
  /** A flow is ended by us for what its peer does or leaves undone. `closed` follows. */
  cut?(flow: Flow, reason: string): void;
  /** An inbound flow is ready. */
  opened?(flow: Flow): void;
  /** An inbound connection was turned away, or its handshake failed: for counters and the log. */
  refused?(remoteAddress: string, reason: string): void;
}

export type TransportErrorCode =
  | 'resolve'
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'certificate'
  | 'tls'
  | 'limit'
  | 'not_allowed'
  | 'closed';

/** Why a connection could not be made. `message` names the target and the cause, fit for a Warning header. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly code: TransportErrorCode;

  constructor(code: TransportErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
