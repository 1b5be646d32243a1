/** A connection's life: framing, keepalive, timeouts, closing. The socket is behind `Wire`. */

import { type ConnectionFailure, connectionFailure } from '#shared/connection-faults.ts';
import type { TransportLimits } from '#shared/engine-protocol/limits.ts';
import { StreamFramer } from '../message/framing.ts';
import type { ConnectionSlot } from './connection-slot.ts';
import type { Flow, TransportEvents } from './flow.ts';
import type { OctetHolder } from './held-octets.ts';
import { isLineBreaks, Keepalive, PING, PONG, ticks } from './keepalive.ts';
import { SendBacklog } from './send-backlog.ts';
import type { Endpoints, Wire } from './wire.ts';

/** Events that the layer counts. */
export type Counted = 'silent' | 'unread' | 'paused' | 'inbound_idle' | 'outbound_idle';

/** The layer that owns the connection. */
export interface ConnectionOwner {
  readonly events: TransportEvents;
  readonly limits: TransportLimits;
  /** Seconds since the layer started; pauses while the process does, and is unaffected by clock changes. */
  readonly tick: number;
  /** The connection accepts no more requests: stop using it as a target. May be called twice. */
  closing(connection: Connection): void;
  count(what: Counted): void;
  /** An inbound connection holds this many octets of an incomplete message. */
  unfinished(connection: OctetHolder, octets: number): void;
  /** The socket has closed. */
  gone(connection: Connection): void;
}

/** Seconds between `end` and `destroy`, for a peer that does not read the remaining data. */
const LINGER_TICKS = 2;
/** Twice the life of a transaction: a slow peer must not accumulate connections that were set aside. */
const ASIDE_IDLE_MS = 64_000;

let lastId = 0;

export class Connection implements Flow, OctetHolder {
  readonly id = ++lastId;
  readonly protocol: 'tls' | 'wss';
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  readonly outbound: boolean;
  readonly #wire: Wire;
  readonly #owner: ConnectionOwner;
  readonly #framer: StreamFramer;
  /** Null for an outbound connection. */
  readonly #slot: ConnectionSlot | null;
  /** Whether we connected to a target that only a peer has named. */
  readonly #namedByPeer: boolean;
  #pins = 0;
  /** Tick until which a registration needs it. */
  #keptUntil = 0;
  readonly #backlog: SendBacklog;
  /** Octets of an incomplete message, as last reported to the owner. */
  #heldBytes = 0;
  /** The same for a WebSocket. */
  #partBytes = 0;
  readonly #openedAt: number;
  #isAside = false;
  #receivedCount = 0;
  #reason: string | null = null;
  #gone = false;
  /** Tick of the last octet received or sent, and of the first one of the incomplete message. */
  #activeAt: number;
  #pendingSince = 0;
  readonly #keepalive: Keepalive;
  #closedAt = 0;
  #drainReason: string | null = null;
  #drainingSince = 0;

  /**
   * @param slot admission's record of it; null for one that we opened
   * @param namedByPeer whether we opened it to a target that only a peer has named
   */
  constructor(
    owner: ConnectionOwner,
    wire: Wire,
    endpoints: Endpoints,
    slot: ConnectionSlot | null,
    namedByPeer = false,
  ) {
    this.protocol = wire.protocol;
    this.remoteAddress = endpoints.remoteAddress;
    this.remotePort = endpoints.remotePort;
    this.localAddress = endpoints.localAddress;
    this.localPort = endpoints.localPort;
    this.outbound = slot === null;
    this.#slot = slot;
    this.#namedByPeer = namedByPeer;
    slot?.ready((reason) => this.destroy(reason));
    this.#owner = owner;
    this.#wire = wire;
    this.#framer = new StreamFramer({ maxBytes: owner.limits.maxMessageBytes });
    this.#openedAt = owner.tick;
    this.#backlog = new SendBacklog(owner.limits, owner.tick);
    this.#keepalive = new Keepalive(owner.limits, owner.tick);
    this.#activeAt = owner.tick;
  }

  /** An inbound connection from a source that no configuration names. */
  get isStranger(): boolean {
    return this.#slot?.known === false;
  }

  get group(): string {
    return this.#slot?.share ?? this.#slot?.network ?? this.remoteAddress;
  }

  get closed(): boolean {
    return this.#reason !== null;
  }

  get draining(): boolean {
    return this.#drainReason !== null;
  }

  get backlogged(): boolean {
    return this.#backlog.paused || this.#wire.queuedBytes > this.#maxQueuedBytes / 8;
  }

  /** Octets that wait for the peer; 0: so few that they do not matter. */
  get waitingBytes(): number {
    return this.closed ? 0 : this.#backlog.waiting(this.#wire.queuedBytes);
  }

  get receivedCount(): number {
    return this.#receivedCount;
  }

  setAside(): void {
    this.#isAside = true;
    this.#owner.closing(this);
  }

  pin(): void {
    this.#pins++;
    this.#slot?.pin();
  }

  unpin(): void {
    if (this.#pins > 0) this.#pins--;
    this.#slot?.unpin();
    this.#activeAt = this.#owner.tick;
  }

  get pinned(): boolean {
    return this.#pins > 0;
  }

  /** Tick at which it was last needed. */
  get usedAt(): number {
    return this.#activeAt;
  }

  keepFor(ms: number): void {
    this.#keptUntil = Math.max(this.#keptUntil, this.#owner.tick + ticks(ms));
  }

  owe(bytes: number): void {
    this.#backlog.owe(bytes);
    this.#pace();
  }

  settle(bytes: number): void {
    this.#backlog.settle(bytes);
    this.#pace();
  }

  /** The wire has taken everything queued. */
  drained(): void {
    this.#pace();
  }

  send(bytes: Buffer): boolean {
    if (this.closed) return false;
    const queued = this.#wire.queuedBytes + bytes.length;
    if (queued > this.#maxQueuedBytes) {
      this.#owner.count('unread');
      this.destroy(`the peer does not read: ${queued} octets queued`);
      return false;
    }
    this.#activeAt = this.#owner.tick;
    this.#write(bytes);
    return true;
  }

  #write(bytes: Buffer): void {
    const queued = this.#wire.queuedBytes;
    this.#wire.write(bytes);
    this.#backlog.wrote(bytes.length, queued, this.#owner.tick);
    this.#pace();
  }

  /** A stranger needs no more than one message and its answer. */
  get #maxQueuedBytes(): number {
    const { maxQueuedBytes, maxMessageBytes } = this.#owner.limits;
    return this.isStranger ? Math.min(maxQueuedBytes, 2 * maxMessageBytes) : maxQueuedBytes;
  }

  /** Reads only while the peer reads its answers. */
  #pace(): void {
    const { queuedBytes } = this.#wire;
    if (this.closed && !this.#backlog.paused) return;
    const change = this.#backlog.pace(queuedBytes, this.#maxQueuedBytes);
    if (change === 'pause') {
      this.#owner.count('paused');
      this.#wire.pause();
    } else if (change === 'resume') {
      // The rest of a message waited here, not at the peer.
      this.#pendingSince = this.#owner.tick;
      this.#wire.resume();
    }
  }

  close(reason: string): void {
    if (this.closed) return;
    this.#stop(reason);
    // A socket that is not read does not notice that the peer has closed.
    if (this.#backlog.paused) this.#wire.resume();
    this.#wire.end(reason);
  }

  /** Closes without flushing. */
  destroy(reason: string): void {
    if (!this.closed) this.#owner.events.cut?.(this, reason);
    this.#stop(reason);
    this.#wire.destroy();
  }

  /** Octets from a TLS stream. */
  received(chunk: Buffer): void {
    // After garbage, octets are read and dropped, not left in the kernel: TCP would then answer our close with a
    // reset, and the peer could lose responses that it has not read yet (RFC 1122 section 4.2.2.13).
    if (this.closed || this.draining) return;
    this.#take(chunk);
    this.#holds(this.#framer.heldBytes);
  }

  #take(chunk: Buffer): void {
    const answersPing = this.#noteReceived();
    const before = this.#framer.pendingBytes;
    let cut = false;
    let pinged = false;
    for (const event of this.#framer.push(chunk)) {
      if (event.kind === 'message') {
        cut = true;
        this.#spoke();
        this.#owner.events.message(this, event.bytes);
      } else if (event.kind === 'ping') {
        pinged = true;
      } else if (event.kind === 'error') {
        this.#drain(event.reason);
        this.#owner.events.frameError(this, event);
        return;
      }
      if (this.closed) return;
    }
    // The CRLF that answered our ping must not count as the first half of the peer's ping.
    if (answersPing) this.#framer.forgetHalfPing();
    // One answer for all pings of a chunk, so that a flood of them does not cause a flood of ours.
    if (pinged) this.#sendKeepalive(PONG);
    if (this.#framer.pendingBytes > 0 && (before === 0 || cut)) this.#pendingSince = this.#owner.tick;
  }

  /** Octets arrived on a WebSocket: there are so many of an incomplete message, and another one is complete or not. */
  receivedPart(octets: number, completed: boolean): void {
    if (this.closed) return;
    if (octets > 0 && (this.#partBytes === 0 || completed)) this.#pendingSince = this.#owner.tick;
    this.#partBytes = octets;
    this.#holds(octets);
  }

  #holds(octets: number): void {
    if (octets === this.#heldBytes || (this.closed && octets > 0)) return;
    this.#heldBytes = octets;
    if (this.#slot) this.#owner.unfinished(this, octets);
  }

  /** A keepalive of the wire's own, such as a WebSocket ping, which the wire has answered. */
  alive(): void {
    this.#noteReceived();
  }

  /** One WebSocket frame: one message, or CRLFs as keepalive (RFC 7118 sections 5 and 6). */
  receivedFrame(bytes: Buffer): void {
    if (this.closed) return;
    this.#noteReceived();
    if (bytes.length > 4 || !isLineBreaks(bytes)) {
      this.#spoke();
      this.#owner.events.message(this, bytes);
    } else if (bytes.length === 4) this.#sendKeepalive(PONG);
  }

  #spoke(): void {
    this.#slot?.spoke();
    this.#activeAt = this.#owner.tick;
  }

  #sendKeepalive(bytes: Buffer): boolean {
    const activeAt = this.#activeAt;
    const sent = this.send(bytes);
    if (sent && this.#isKeptByMessages) this.#activeAt = activeAt;
    return sent;
  }

  /** Whether only messages count as traffic: keepalives from strangers and on outbound flows do not. */
  get #isKeptByMessages(): boolean {
    return this.outbound || this.isStranger;
  }

  /** Called once a second. */
  checkTime(): void {
    const { limits, tick } = this.#owner;
    if (this.#backlog.paused) this.#pace();
    if (this.closed) {
      if (tick - this.#closedAt >= LINGER_TICKS) this.#wire.destroy();
      return;
    }
    if (this.#drainReason !== null) {
      if (tick - this.#drainingSince >= ticks(limits.drainTimeoutMs)) this.close(this.#drainReason);
    } else if (this.#backlog.stalls(this.#wire.queuedBytes, tick)) {
      this.#owner.count('unread');
      this.destroy(`the peer does not read: it took nothing for ${limits.writeTimeoutMs / 1000} s`);
    } else if (this.isStranger && this.#saysNothing) {
      this.#owner.count('silent');
      this.destroy(`no message within ${limits.firstMessageTimeoutMs / 1000} s`);
    } else if (this.#halfAMessage && tick - this.#pendingSince >= ticks(limits.messageTimeoutMs)) {
      this.destroy(`no complete message within ${limits.messageTimeoutMs / 1000} s`);
    } else if (this.#isIdle) {
      this.#owner.count(this.outbound ? 'outbound_idle' : 'inbound_idle');
      this.close(`idle for ${this.#idleMs / 1000} s`);
    } else if (this.outbound && !this.#isAside) {
      this.#checkPing();
    }
  }

  get #isIdle(): boolean {
    const { tick } = this.#owner;
    const needed = this.#pins > 0 || this.#backlog.owed > 0 || tick < this.#keptUntil;
    return !needed && tick - this.#activeAt >= ticks(this.#idleMs);
  }

  get #saysNothing(): boolean {
    const { tick, limits } = this.#owner;
    return this.#slot?.stage !== 'spoken' && tick - this.#openedAt >= ticks(limits.firstMessageTimeoutMs);
  }

  /** A message has begun and the peer owes the remainder: what we do not read is not late. */
  get #halfAMessage(): boolean {
    return this.#framer.pendingBytes + this.#partBytes > 0 && !this.#backlog.paused;
  }

  get #idleMs(): number {
    const { idleTimeoutMs, strangerIdleTimeoutMs } = this.#owner.limits;
    if (this.isStranger || this.#namedByPeer) return Math.min(idleTimeoutMs, strangerIdleTimeoutMs);
    return this.#isAside ? Math.min(idleTimeoutMs, ASIDE_IDLE_MS) : idleTimeoutMs;
  }

  #checkPing(): void {
    const { limits, tick } = this.#owner;
    const due = this.#keepalive.due(tick);
    if (due === 'dead') this.destroy(`keepalive not answered within ${limits.pongTimeoutMs / 1000} s`);
    else if (due === 'ping' && this.#sendKeepalive(PING)) this.#keepalive.pinged(tick);
  }

  /** Anything received after a ping shows that the peer is alive. Returns whether a ping was pending. */
  #noteReceived(): boolean {
    this.#receivedCount++;
    if (!this.#isKeptByMessages) this.#activeAt = this.#owner.tick;
    return this.#keepalive.received(this.#owner.tick);
  }

  /** The socket has closed; `loss` counts unless we closed it ourselves. */
  lost(loss: ConnectionFailure): void {
    if (this.#gone) return;
    this.#gone = true;
    const ours = this.#reason;
    this.#stop(loss.text);
    this.#owner.gone(this);
    this.#owner.events.closed(this, ours === null ? loss : connectionFailure('lost', ours));
  }

  /** Stops reading; no more requests are sent over it. */
  #drain(reason: string): void {
    this.#drainReason = reason;
    this.#drainingSince = this.#owner.tick;
    this.#owner.closing(this);
  }

  #stop(reason: string): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#holds(0);
    this.#closedAt = this.#owner.tick;
    if (!this.draining) this.#owner.closing(this);
  }
}
