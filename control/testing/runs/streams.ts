/** The open event streams of tests: their limits, at all replicas together, and how they end. */

import { Readable } from 'node:stream';
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import { ApiError } from '#shared/errors.ts';
import type { SharedPlaces } from '../../replicas/index.ts';
import { type EventParts, testEvents } from './events.ts';
import type { RunMetrics } from './metrics.ts';

export interface TestStreamsParts {
  readonly clock: Clock;
  readonly perOrganization: number;
  readonly heartbeatMs: number;
  /** Open streams of each organization. */
  readonly places: SharedPlaces;
  readonly metrics: Pick<RunMetrics, 'streamBegan' | 'streamEnded'>;
}

export type StreamOrder = Pick<EventParts, 'read' | 'watch' | 'after'> & {
  readonly orgId: string;
  /** Whether the reader's key or session still works; asked with each heartbeat. */
  readonly allowed: (() => Promise<boolean>) | null;
};

/** The reader then reconnects. */
const longestMs = 60 * 60 * 1000;

const ignore = () => undefined;

export class TestStreams {
  readonly #parts: TestStreamsParts;
  readonly #open = new Map<Readable, () => void>();
  #closed = false;

  constructor(parts: TestStreamsParts) {
    this.#parts = parts;
  }

  /** @throws ApiError RATE_LIMITED, SERVICE_UNAVAILABLE */
  async open({ allowed, orgId, ...order }: StreamOrder): Promise<Readable> {
    const leave = await this.#admit(orgId);
    const { clock, heartbeatMs, metrics } = this.#parts;
    const stop = new AbortController();
    const events = testEvents({ ...order, clock, heartbeatMs, signal: stop.signal });
    const began = clock.now();
    let read = began;
    const pull = async () => {
      read = clock.now();
      const { done, value } = await events.next();
      stream.push(done ? null : value);
    };
    const stream = new Readable({
      highWaterMark: 1,
      read: () => void pull().catch((error: Error) => stream.destroy(error)),
      destroy: (error, done) => {
        stop.abort();
        // Runs the generator's cleanup, also when it is not waiting.
        events.return(undefined).then(() => done(error), done);
      },
    });
    const end = () => {
      stop.abort();
      // Nobody reads what is buffered, so the end would never be reached.
      if (stream.readableLength > 0) stream.destroy();
    };
    const watch = () => {
      const now = clock.now();
      const stalled = stream.readableLength > 0 && now - read > 3 * heartbeatMs;
      if (stalled || now - began >= longestMs) return end();
      timer = clock.after(heartbeatMs, watch);
      // Without an answer the next look asks again.
      allowed?.().then((still) => still || end(), ignore);
    };
    let timer = clock.after(heartbeatMs, watch);
    this.#open.set(stream, end);
    metrics.streamBegan();
    stream.once('close', () => {
      timer.cancel();
      this.#open.delete(stream);
      leave();
      metrics.streamEnded();
    });
    return stream;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Ends every stream and opens no new ones. */
  close(): void {
    this.#closed = true;
    for (const end of this.#open.values()) end();
  }

  /** @returns what leaves the place of the stream */
  async #admit(orgId: string): Promise<() => void> {
    this.#checkOpen();
    const { perOrganization: limit, places } = this.#parts;
    const leave = await places.enter(orgId, limit);
    if (leave) {
      this.#checkOpen(leave);
      return leave;
    }
    const details = { limit, window_seconds: 1, scope: 'organization_test_streams' };
    const message = `An organization has at most ${counted(limit, 'event stream')} of runs and batches open at a time; close one, or wait until one ends.`;
    throw ApiError.of('RATE_LIMITED', details, message).waiting(5);
  }

  #checkOpen(otherwise: () => void = () => undefined): void {
    if (!this.#closed) return;
    otherwise();
    throw ApiError.unavailable('The control plane is shutting down; try again.', 1);
  }
}
