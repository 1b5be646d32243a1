/**
 * The open streams of server-sent events of one kind, such as those of widget threads: how many may be open, at all
 * replicas together, and how they end:
 *
 *     admitted --read by its client--> open --over, stalled, not allowed any more, control closes--> ended
 *
 * A stream pulls its texts from a generator, one at a time and only when its reader has taken the one before: a slow reader
 * costs a text and its connection, and nobody else anything.
 */
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import type { SharedPlaces } from '../replicas/index.ts';
import { PulledStream } from './pulled-stream.ts';

/** Why a stream ended. */
export type StreamEnd = 'left' | 'stalled' | 'over' | 'revoked' | 'closing';

/** Of which a stream takes one. */
export interface Place {
  readonly key: string;
  readonly most: number;
  /** Name in `details.scope`. */
  readonly scope: string;
  /** What the client reads when all are taken. */
  readonly message: string;
}

export interface OpenStreamsParts {
  readonly clock: Clock;
  readonly places: SharedPlaces;
  /** Between heartbeats on a silent stream; one that is not read for three times as long is closed. */
  readonly heartbeatMs: number;
  readonly refused?: (scope: string) => void;
  readonly began: () => void;
  readonly ended: (end: StreamEnd) => void;
}

export interface StreamOrder {
  /** All are needed. */
  readonly places: readonly Place[];
  /** What is sent. `signal` is aborted when the stream is to end; its reason is a StreamEnd. */
  readonly texts: (signal: AbortSignal) => AsyncGenerator<string>;
  /** ms since the epoch: when its authorization expires; null: never */
  readonly until?: number | null;
  /** Whether the reader's key or session still works, asked with each heartbeat; null: it has neither. */
  readonly allowed: (() => Promise<boolean>) | null;
}

/** The reader then reconnects with its key or token. */
const longestMs = 60 * 60 * 1000;

/** ms after which a reader that lost its stream opens it again. */
export const retryMs = 2_000;

/** @param data nothing that JSON cannot hold */
export function serverSentEvent(name: string, data: unknown, id?: string | number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Answers with a stream. */
export function sendEvents(reply: FastifyReply, stream: Readable): FastifyReply {
  // Tells proxies not to buffer the response. A connection kept for later requests would hold up a shutdown.
  return reply
    .header('x-accel-buffering', 'no')
    .header('connection', 'close')
    .type('text/event-stream; charset=utf-8')
    .send(stream);
}

export class OpenStreams {
  readonly #parts: OpenStreamsParts;
  readonly #open = new Map<Readable, (why: StreamEnd) => void>();
  #closed = false;

  constructor(parts: OpenStreamsParts) {
    this.#parts = parts;
  }

  /** @throws ApiError RATE_LIMITED, SERVICE_UNAVAILABLE */
  async open(order: StreamOrder): Promise<Readable> {
    const leave = await this.#admit(order.places);
    const { began, clock, ended } = this.#parts;
    const stop = new AbortController();
    let why: StreamEnd | null = null;
    const stream = new PulledStream(order.texts(stop.signal), clock, () => {
      // A generator that ends because its reader has left is no end of its own.
      why ??= stream.exhausted ? 'over' : 'left';
      stop.abort('left');
    });
    const end = (reason: StreamEnd) => {
      why ??= reason;
      stop.abort(reason);
      // Nobody reads, so the end would never be reached.
      if (!stream.pulling) stream.destroy();
    };
    const cancelWatch = this.#watch(stream, order, end);
    this.#open.set(stream, end);
    began();
    stream.once('close', () => {
      cancelWatch();
      this.#open.delete(stream);
      leave();
      ended(why ?? 'left');
    });
    return stream;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Ends every stream and opens no new ones. */
  close(): void {
    this.#closed = true;
    for (const end of this.#open.values()) end('closing');
  }

  /** Ends a stream that has expired, or that nobody reads or may read. Returns a function that stops watching. */
  #watch(stream: PulledStream, { allowed, until }: StreamOrder, end: (why: StreamEnd) => void): () => void {
    const { clock, heartbeatMs } = this.#parts;
    const leftMs = (until ?? Number.POSITIVE_INFINITY) - clock.now();
    const over = clock.elapsed() + Math.min(longestMs, leftMs);
    let asking = false;
    const ask = () => {
      if (!allowed || asking) return;
      asking = true;
      // Without an answer it stays open until the next look.
      allowed()
        .then(
          (isStill) => {
            if (!isStill) end('revoked');
          },
          () => undefined,
        )
        .finally(() => {
          asking = false;
        });
    };
    const look = () => {
      const now = clock.elapsed();
      if (now >= over) end('over');
      else if (!stream.pulling && now - stream.pulledAt > 3 * heartbeatMs) end('stalled');
      else {
        ask();
        timer = clock.after(heartbeatMs, look);
      }
    };
    let timer = clock.after(heartbeatMs, look);
    return () => timer.cancel();
  }

  /** @returns what leaves the places of the stream */
  async #admit(wanted: readonly Place[]): Promise<() => void> {
    const { places, refused } = this.#parts;
    this.#checkOpen();
    const taken: (() => void)[] = [];
    const leave = () => {
      for (const one of taken) one();
    };
    try {
      for (const { key, message, most, scope } of wanted) {
        const left = await places.enter(key, most);
        if (left) taken.push(left);
        else {
          refused?.(scope);
          throw ApiError.of('RATE_LIMITED', { limit: most, window_seconds: 1, scope }, message).waiting(5);
        }
      }
      this.#checkOpen();
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  #checkOpen(): void {
    if (this.#closed) throw ApiError.unavailable('The control plane is shutting down; try again.', 1);
  }
}
