/**
 * One audio socket kept alive: opened to a checked address, monitored by pings, reconnected when lost.
 *
 *     [ idle ] --connect--> [ connecting ] --open--> [ open ] --lost--> [ retrying ] --10 s--> [ closed ]
 *                                 | fails               | ^                  |
 *                                 v                     | +-------open-------+
 *                             [ closed ] <--1000, close-+
 */

import { createHmac } from 'node:crypto';
import type { BlockList } from 'node:net';
import { WebSocket } from 'ws';
import type { ReadingBudget } from '#outgoing/reading-budget.ts';
import { brokenBy, openWebSocket } from '#outgoing/web-socket.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import type { ResolveHost } from '#shared/judged-lookup.ts';
import { Timers } from '#shared/timers.ts';
import type { Log } from '../call/log.ts';
import { Seldom } from './seldom.ts';
import { type StreamFormat, streamFormats } from './stream-messages.ts';

export interface StreamLimits {
  /** time for the socket to open, ms, including DNS */
  readonly openTimeoutMs: number;
  /** time after which a lost socket is abandoned, ms */
  readonly reconnectForMs: number;
  readonly firstRetryMs: number;
  readonly pingEveryMs: number;
  readonly pongWithinMs: number;
  /** ms for the closing handshake */
  readonly closeWithinMs: number;
  /** maximum size of one message from the server, bytes */
  readonly maxMessageBytes: number;
  /** what the server may leave unread in all, bytes; beyond it the socket is lost */
  readonly maxUntoldBytes: number;
  /** maximum audio from the server queued for playback, seconds */
  readonly maxQueuedSeconds: number;
}

export const streamLimits: StreamLimits = {
  openTimeoutMs: 5000,
  reconnectForMs: 10_000,
  firstRetryMs: 250,
  pingEveryMs: 15_000,
  pongWithinMs: 10_000,
  closeWithinMs: 2000,
  maxMessageBytes: 4 * 1_048_576,
  maxUntoldBytes: 1_048_576,
  maxQueuedSeconds: 600,
};

export interface StreamLinkDeps {
  readonly url: string;
  readonly callId: string;
  /** key of the handshake signature */
  readonly signingSecret: string;
  readonly allowed: () => BlockList;
  readonly resolve: ResolveHost;
  /** PEM of additional certificate authorities */
  readonly ca: string | string[] | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: StreamLimits;
  /** Called each time the server is held back because it sends more than is read. */
  readonly held?: (() => void) | undefined;
}

export interface StreamLinkEvents {
  /** The socket is up, for the first time or after a loss. No message arrives before. */
  opened(): void;
  message(text: string): void;
  lost(reason: string): void;
  /** The server closed with 1000. */
  closedByServer(): void;
  /** The socket was lost and did not reconnect in time. */
  givenUp(reason: string): void;
}

export class StreamLink {
  readonly #deps: StreamLinkDeps;
  readonly #events: StreamLinkEvents;
  readonly #timers: Timers;
  #socket: WebSocket | null = null;
  /** Aborted when the link is closed: ends an attempt. */
  readonly #over = new AbortController();
  #format: StreamFormat | null = null;
  #closed = false;
  #openSince = 0;
  /** When the socket that was lost last is given up. */
  #deadline = 0;
  /** Pause before the last attempt. */
  #pauseMs = 0;
  readonly #holds: Seldom;

  constructor(deps: StreamLinkDeps, events: StreamLinkEvents) {
    this.#deps = deps;
    this.#events = events;
    this.#timers = new Timers(deps.clock);
    this.#holds = new Seldom(deps.clock);
  }

  /** The format chosen by the server; the first connection's choice holds for the whole call. */
  get format(): StreamFormat {
    return this.#format ?? streamFormats[0];
  }

  get open(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Bytes that the server has not read yet. */
  get bufferedBytes(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  /** Opens the socket for the first time. Rejects when that fails, without a retry. */
  async connect(): Promise<void> {
    try {
      await this.#attempt(this.#deps.limits.openTimeoutMs);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Sends a text frame; no effect while the socket is not open. Audio is dropped before, marks and errors are not. */
  send(text: string): void {
    const socket = this.#socket;
    if (!socket || !this.open) return;
    if (socket.bufferedAmount <= this.#deps.limits.maxUntoldBytes) socket.send(text);
    else {
      socket.terminate();
      this.#onClose(
        1006,
        `the server does not read: ${counted(socket.bufferedAmount, 'octet')} of answers are unread`,
      );
    }
  }

  /** Closes with 1000 and stops all attempts. Safe to call twice. */
  close(): void {
    this.#closed = true;
    this.#timers.stop();
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
    this.#over.abort(new Error('the call ended'));
  }

  // ---------------------------------------------------------------- opening

  /** One attempt; its socket is used when it succeeds. */
  async #attempt(timeoutMs: number): Promise<void> {
    const limit = new AbortController();
    const timer = this.#timers.after(timeoutMs, () => {
      limit.abort(new Error(`${this.#deps.url} did not open within ${timeoutMs} ms`));
    });
    try {
      await this.#dial(limit.signal);
    } finally {
      timer.cancel();
    }
  }

  async #dial(limit: AbortSignal): Promise<void> {
    const { url, allowed, resolve, ca, clock, limits } = this.#deps;
    const target = new URL(url);
    if (target.protocol !== 'wss:') throw new Error(`${url} is not a wss:// URL`);
    const formats = this.#format ? [this.#format] : streamFormats;
    await openWebSocket(
      {
        url: target,
        headers: this.#signedHeaders(),
        protocols: formats.map((format) => format.subprotocol),
        maxMessageBytes: limits.maxMessageBytes,
        closeWithinMs: limits.closeWithinMs,
        clock,
        held: () => this.#held(),
        opened: (socket, budget) => {
          socket.on('error', (error) => this.#onError(socket, error));
          if (this.#closed) socket.terminate();
          else this.#adopt(socket, budget);
        },
      },
      { allowed: allowed(), resolve, ca },
      AbortSignal.any([limit, this.#over.signal]),
    );
  }

  /** Contract 9.5: HMAC-SHA256 over URL, call and time, keyed with the secret's text as the customer has it. */
  #signedHeaders(): Record<string, string> {
    const { url, callId, signingSecret, clock } = this.#deps;
    const seconds = Math.floor(clock.now() / 1000);
    const signature = createHmac('sha256', signingSecret)
      .update(`${url}\n${callId}\n${seconds}`)
      .digest('hex');
    return {
      'X-Webhook-Signature': signature,
      'X-Webhook-Timestamp': String(seconds),
      'X-Call-Id': callId,
    };
  }

  // ---------------------------------------------------------------- open

  #adopt(socket: WebSocket, budget: ReadingBudget): void {
    this.#socket = socket;
    this.#openSince = this.#deps.clock.elapsed();
    this.#format ??=
      streamFormats.find((format) => format.subprotocol === socket.protocol) ?? streamFormats[0];
    socket.on('message', (data, isBinary) => {
      if (!isBinary && this.#socket === socket) this.#events.message(data.toString());
    });
    socket.on('close', (code, reason) => {
      if (this.#socket === socket) this.#onClose(code, reason.toString());
    });
    this.#keepAlive(socket, budget);
    this.#events.opened();
  }

  #keepAlive(socket: WebSocket, budget: ReadingBudget): void {
    const { clock } = this.#deps;
    const { pingEveryMs, pongWithinMs } = this.#deps.limits;
    let waiting: Timer | null = null;
    socket.on('pong', () => {
      waiting?.cancel();
      waiting = null;
    });
    const ping = () => {
      if (this.#socket !== socket || socket.readyState !== WebSocket.OPEN) return;
      socket.ping();
      const pingedAt = clock.elapsed();
      waiting ??= this.#timers.after(pongWithinMs, () => {
        waiting = null;
        if (this.#socket !== socket || budget.aliveSince(pingedAt)) return;
        this.#deps.log.warn({ pong_within_ms: pongWithinMs }, 'the stream server does not answer pings');
        socket.terminate();
      });
      this.#timers.after(pingEveryMs, ping);
    };
    this.#timers.after(pingEveryMs, ping);
  }

  #held(): void {
    const { held = () => {}, log } = this.#deps;
    held();
    this.#holds.log((times) =>
      log.info({ times }, 'the stream server is held back: it sends more than is read'),
    );
  }

  #onError(socket: WebSocket, error: Error): void {
    const { log, limits } = this.#deps;
    log.debug({ err: error }, 'stream socket error');
    const broken = brokenBy(error, limits.maxMessageBytes);
    if (broken && this.#socket === socket) this.#onClose(broken.code, `the server ${broken.why}`);
  }

  #onClose(code: number, reason: string): void {
    this.#socket = null;
    this.#timers.stop();
    if (this.#closed) return;
    if (code === 1000) {
      this.#closed = true;
      this.#events.closedByServer();
      return;
    }
    const why = `the stream socket was lost (close code ${code}${reason === '' ? '' : `, ${reason}`})`;
    this.#deps.log.warn({ code, reason }, 'stream socket lost, reconnecting');
    this.#events.lost(why);
    if (this.#closed) return;
    // A server that accepts connections and loses them at once gets no more time than one that is away.
    const { clock, limits } = this.#deps;
    const now = clock.elapsed();
    const wasStable = this.#deadline === 0 || now - this.#openSince >= limits.reconnectForMs;
    if (wasStable) this.#deadline = now + limits.reconnectForMs;
    this.#retry(why, this.#deadline, wasStable ? limits.firstRetryMs : this.#pauseMs * 2);
  }

  // ---------------------------------------------------------------- reconnecting

  #retry(why: string, deadline: number, delayMs: number): void {
    const left = deadline - this.#deps.clock.elapsed();
    if (left <= 0) {
      this.#closed = true;
      this.#events.givenUp(why);
      return;
    }
    this.#pauseMs = delayMs;
    this.#timers.after(Math.min(delayMs, left), () => {
      const remaining = deadline - this.#deps.clock.elapsed();
      if (remaining <= 0) {
        this.#retry(why, deadline, delayMs);
        return;
      }
      this.#attempt(Math.min(this.#deps.limits.openTimeoutMs, remaining)).then(
        () => this.#deps.log.info({}, 'stream socket reconnected'),
        (error: unknown) => {
          if (this.#closed) return;
          this.#deps.log.info({ err: error }, 'stream socket reconnect failed');
          this.#retry(why, deadline, delayMs * 2);
        },
      );
    });
  }
}
