/** The open event streams: their limits, at all replicas together, and how they end. */

import type { Readable } from 'node:stream';
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import { ApiError } from '#shared/errors.ts';
import type { Db } from '../db/index.ts';
import type { SharedPlaces } from '../replicas/index.ts';
import { threadEvents } from './event-stream.ts';
import type { WidgetLimits } from './limits.ts';
import type { Live } from './live.ts';
import type { StreamEnd, WidgetMetrics } from './metrics.ts';
import { PulledStream } from './pulled-stream.ts';

export interface StreamsParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly live: Live;
  /** Open streams of each widget, and of each client address. */
  readonly places: SharedPlaces;
  readonly limits: Pick<WidgetLimits, 'perWidget' | 'perAddress' | 'heartbeatMs' | 'mostPending'>;
  readonly metrics: Pick<WidgetMetrics, 'refused' | 'streamBegan' | 'streamEnded'>;
}

export interface StreamOrder {
  readonly widgetId: string;
  readonly threadId: string;
  /** null: authenticated by an API key */
  readonly address: string | null;
  /** Number of the reader's last message. */
  readonly after: number;
  /** ms since the epoch: when its authorization expires; null: never */
  readonly until: number | null;
  /** Whether the reader's key or session still works, asked with each heartbeat; null: a visitor's. */
  readonly allowed: (() => Promise<boolean>) | null;
}

/** The reader then reconnects with its key or token. */
const longestMs = 60 * 60 * 1000;

const ignore = () => undefined;

export class Streams {
  readonly #parts: StreamsParts;
  readonly #open = new Map<Readable, { readonly order: StreamOrder; end(why: StreamEnd): void }>();
  #closed = false;

  constructor(parts: StreamsParts) {
    this.#parts = parts;
  }

  /** @throws ApiError RATE_LIMITED, SERVICE_UNAVAILABLE */
  async open(order: StreamOrder): Promise<Readable> {
    const leave = await this.#admit(order);
    const { metrics } = this.#parts;
    const stop = new AbortController();
    const stream = this.#streamOf(order, stop);
    let why: StreamEnd | null = null;
    const end = (reason: StreamEnd) => {
      why ??= reason;
      stop.abort();
      // Nobody reads, so the end would never be reached.
      if (!stream.pulling) stream.destroy();
    };
    const cancelWatch = this.#watch(stream, order, end);
    this.#open.set(stream, { order, end });
    metrics.streamBegan();
    stream.once('close', () => {
      cancelWatch();
      this.#open.delete(stream);
      leave();
      metrics.streamEnded(why ?? (stream.exhausted ? 'over' : 'left'));
    });
    return stream;
  }

  #streamOf({ address, after, threadId, widgetId }: StreamOrder, stop: AbortController): PulledStream {
    const { clock, db, limits, live } = this.#parts;
    const watcher = live.watch(threadId, limits.mostPending);
    const { heartbeatMs } = limits;
    const { signal } = stop;
    signal.addEventListener('abort', () => watcher.wake());
    const toVisitor = address !== null;
    const events = threadEvents({
      db,
      clock,
      watcher,
      widgetId,
      threadId,
      after,
      toVisitor,
      signal,
      heartbeatMs,
    });
    return new PulledStream(events, clock, () => {
      stop.abort();
      watcher.close();
    });
  }

  /** Ends a stream that has expired or that nobody reads. Returns a function that stops watching. */
  #watch(stream: PulledStream, order: StreamOrder, end: (why: StreamEnd) => void): () => void {
    const { clock, limits } = this.#parts;
    const leftMs = (order.until ?? Number.POSITIVE_INFINITY) - clock.now();
    const over = clock.elapsed() + Math.min(longestMs, leftMs);
    const look = () => {
      const now = clock.elapsed();
      if (now >= over) end('over');
      else if (now - stream.pulledAt > 3 * limits.heartbeatMs) end('stalled');
      else {
        timer = clock.after(limits.heartbeatMs, look);
        // Without an answer the next look asks again.
        order.allowed?.().then((still) => still || end('revoked'), ignore);
      }
    };
    let timer = clock.after(limits.heartbeatMs, look);
    return () => timer.cancel();
  }

  /** Ends every stream and opens no new ones. */
  close(): void {
    this.#closed = true;
    for (const { end } of this.#open.values()) end('closing');
  }

  /** @returns what leaves the places of the stream */
  async #admit({ address, widgetId }: StreamOrder): Promise<() => void> {
    const { limits, places } = this.#parts;
    this.#checkOpen();
    const leave = await places.enter(`widget ${widgetId}`, limits.perWidget);
    if (!leave) return this.#refuse('widget_streams', limits.perWidget);
    try {
      const ofAddress =
        address === null ? () => undefined : await places.enter(`address ${address}`, limits.perAddress);
      if (!ofAddress) return this.#refuse('address_streams', limits.perAddress);
      this.#checkOpen(ofAddress);
      return () => {
        leave();
        ofAddress();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  #checkOpen(otherwise: () => void = () => undefined): void {
    if (!this.#closed) return;
    otherwise();
    throw ApiError.unavailable('The control plane is shutting down; try again.', 1);
  }

  #refuse(scope: string, limit: number): never {
    this.#parts.metrics.refused(scope);
    const details = { limit, window_seconds: 1, scope };
    const whose = scope === 'widget_streams' ? 'A widget' : 'One client address';
    const message = `${whose} has at most ${counted(limit, 'event stream')} open at a time; close one, or wait until one ends.`;
    throw ApiError.of('RATE_LIMITED', details, message).waiting(5);
  }
}
