/** One connection to a peer, as the rest of the engine sees it (a "flow" in RFC 5626). */
import type { ConnectionFailure, ConnectionFault } from '#shared/connection-faults.ts';
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
  /** Who shares limits with it: the organization of a known source, the network of a stranger, else the peer's address. */
  readonly group: string;
  /** Whether we opened it. */
  readonly outbound: boolean;
  /** True once nothing can be sent anymore. */
  readonly closed: boolean;
  /** True once reading has stopped: responses may still be sent, but requests would never be answered. */
  readonly draining: boolean;
  /**
   * Whether the peer has much to read: a copy of what waits for it would only add to that, and its acknowledgment may
   * wait here.
   */
  readonly backlogged: boolean;
  /** How many times data has arrived: shows whether a peer has been silent since some moment. */
  readonly receivedCount: number;
  /** Sends one message. False when the flow is closed, or closes now because the peer does not read. */
  send(bytes: Buffer): boolean;
  /** Keeps the flow from being closed as idle, until as many calls of `unpin`: for a dialog or a transaction. */
  pin(): void;
  unpin(): void;
  /** Whether a dialog or a transaction needs it. */
  readonly pinned: boolean;
  /** The peer has registered us for this many ms and may send calls over this flow: it is not idle until then. */
  keepFor(ms: number): void;
  /**
   * A request from the peer is pending, with an answer of about this size. When a peer has too many answers to
   * read, its requests are no longer read.
   */
  owe(bytes: number): void;
  /** The request has been answered, or never will be. */
  settle(bytes: number): void;
  /** Takes no new requests: they open another flow. Requests in progress may still be answered. */
  setAside(): void;
  /** Flushes, then closes. `reason` goes into the `closed` event and the log. */
  close(reason: string): void;
}

/**
 * Who named the target of a connection: the application, which knows trunks, registrars and transfer targets and
 * has checked them; or a peer, by Contact or Record-Route.
 */
export type NamedBy = 'application' | NamedByPeer;

export interface NamedByPeer {
  /** The address from which the peer's messages come. */
  readonly peer: string;
}

/** Events of the transport for its owner. Called from socket events; must not throw. */
export interface TransportEvents {
  /** One whole message, unparsed. `bytes` belongs to the receiver. */
  message(flow: Flow, bytes: Buffer): void;
  /**
   * The peer's stream cannot be split into messages any further. The flow is draining: an answer
   * (`answerableRequest(error.partial)` with `error.status`) and the responses to earlier requests may still be
   * sent. The owner then closes the flow; after `drainTimeoutMs` it closes on its own.
   */
  frameError(flow: Flow, error: FrameError): void;
  /** Once per flow that was delivered by `message`, `opened` or `connect`; the flow's last event. */
  closed(flow: Flow, loss: ConnectionFailure): void;
  /** We end a flow because of what its peer does or fails to do. `closed` follows. */
  cut?(flow: Flow, reason: string): void;
  /** An inbound flow is ready. */
  opened?(flow: Flow): void;
  /** An inbound connection was rejected, or its handshake failed: for counters and the log. */
  refused?(remoteAddress: string, reason: string): void;
}

/** Why a connection could not be opened. `message` names the target and the cause, fit for a Warning header. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly fault: ConnectionFault;
  /** The part of the message that a sentence quotes (`ConnectionFailure`). */
  readonly detail: string;

  constructor(fault: ConnectionFault, message: string, detail = message) {
    super(message);
    this.fault = fault;
    this.detail = detail;
  }

  get failure(): ConnectionFailure {
    return { fault: this.fault, text: this.message, detail: this.detail };
  }
}
