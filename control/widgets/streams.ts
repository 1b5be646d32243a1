/** The open event streams of threads: whose they are, and what they send. */

import type { Readable } from 'node:stream';
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import type { Db } from '../db/index.ts';
import { OpenStreams, type Place } from '../http/index.ts';
import type { SharedPlaces } from '../replicas/index.ts';
import { threadEvents } from './event-stream.ts';
import type { WidgetLimits } from './limits.ts';
import type { Live } from './live.ts';
import type { WidgetMetrics } from './metrics.ts';

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

export class Streams {
  readonly #parts: StreamsParts;
  readonly #open: OpenStreams;

  constructor(parts: StreamsParts) {
    const { clock, limits, metrics, places } = parts;
    this.#parts = parts;
    this.#open = new OpenStreams({
      clock,
      places,
      heartbeatMs: limits.heartbeatMs,
      refused: metrics.refused,
      began: metrics.streamBegan,
      ended: metrics.streamEnded,
    });
  }

  /** @throws ApiError RATE_LIMITED, SERVICE_UNAVAILABLE */
  open(order: StreamOrder): Promise<Readable> {
    return this.#open.open({
      places: this.#placesOf(order),
      until: order.until,
      allowed: order.allowed,
      texts: (signal) => this.#texts(order, signal),
    });
  }

  /** Ends every stream and opens no new ones. */
  close(): void {
    this.#open.close();
  }

  async *#texts(
    { address, after, threadId, widgetId }: StreamOrder,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    const { clock, db, limits, live } = this.#parts;
    const watcher = live.watch(threadId, limits.mostPending);
    const wake = () => watcher.wake();
    signal.addEventListener('abort', wake);
    try {
      const { heartbeatMs } = limits;
      const toVisitor = address !== null;
      yield* threadEvents({
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
    } finally {
      signal.removeEventListener('abort', wake);
      watcher.close();
    }
  }

  #placesOf({ address, widgetId }: StreamOrder): Place[] {
    const { perAddress, perWidget } = this.#parts.limits;
    const ofWidget = placeOf('A widget', `widget ${widgetId}`, perWidget, 'widget_streams');
    if (address === null) return [ofWidget];
    return [ofWidget, placeOf('One client address', `address ${address}`, perAddress, 'address_streams')];
  }
}

function placeOf(whose: string, key: string, most: number, scope: string): Place {
  const message = `${whose} has at most ${counted(most, 'event stream')} open at a time; close one, or wait until one ends.`;
  return { key, most, scope, message };
}
