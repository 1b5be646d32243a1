/** The open event streams of runs and batches: whose they are, and what they send. */

import type { Readable } from 'node:stream';
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import { OpenStreams } from '../../http/index.ts';
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

export class TestStreams {
  readonly #parts: TestStreamsParts;
  readonly #open: OpenStreams;

  constructor(parts: TestStreamsParts) {
    const { clock, heartbeatMs, metrics, places } = parts;
    this.#parts = parts;
    this.#open = new OpenStreams({
      clock,
      places,
      heartbeatMs,
      began: metrics.streamBegan,
      ended: metrics.streamEnded,
    });
  }

  /** @throws ApiError RATE_LIMITED, SERVICE_UNAVAILABLE */
  open({ allowed, orgId, ...order }: StreamOrder): Promise<Readable> {
    const { clock, heartbeatMs, perOrganization: most } = this.#parts;
    const message = `An organization has at most ${counted(most, 'event stream')} of runs and batches open at a time; close one, or wait until one ends.`;
    return this.#open.open({
      places: [{ key: orgId, most, scope: 'organization_test_streams', message }],
      allowed,
      texts: (signal) => testEvents({ ...order, clock, heartbeatMs, signal }),
    });
  }

  get count(): number {
    return this.#open.count;
  }

  /** Ends every stream and opens no new ones. */
  close(): void {
    this.#open.close();
  }
}
