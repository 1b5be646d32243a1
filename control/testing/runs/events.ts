/**
 * Runs and batches as server-sent events (HTML standard, section 9.2; contract 6.4): `state` at once and at each
 * change, `turn` for each line of a run's conversation, `end` last. A turn's id is `<attempt>-<its place>`: a reader
 * that reconnects with its last one misses none.
 */
import type { Clock } from '#shared/clock.ts';
import { serverSentEvent as event, News, retryMs } from '../../http/index.ts';

/** The current content of a stream. */
export interface Snapshot {
  /** Data of `state`. */
  readonly state: object;
  /** Distinguishes states. */
  readonly version: string;
  readonly over: boolean;
  readonly attempt: number;
  /** Data of `turn`, all of the current attempt. */
  readonly turns: readonly object[];
}

export interface EventParts {
  readonly clock: Clock;
  /** Null: it was deleted. */
  readonly read: () => Promise<Snapshot | null>;
  /** Calls `notify` when something may have changed. Returns a function that unsubscribes. */
  readonly watch: (notify: () => void) => () => void;
  /** What the reader already has; null: nothing. */
  readonly after: LastTurn | null;
  readonly heartbeatMs: number;
  /** Aborted when the stream is to end. */
  readonly signal: AbortSignal;
}

export interface LastTurn {
  readonly attempt: number;
  /** from 1 */
  readonly place: number;
}

/** An invalid id means that the reader has nothing. */
export function lastTurn(header: string | string[] | undefined): LastTurn | null {
  const [, attempt, place] = /^([0-9]{1,6})-([0-9]{1,6})$/.exec(String(header ?? '')) ?? [];
  return attempt === undefined ? null : { attempt: Number(attempt), place: Number(place) };
}

export async function* testEvents(parts: EventParts): AsyncGenerator<string> {
  const { after, read, signal, watch } = parts;
  const news = new News(parts.clock, parts.heartbeatMs);
  const stop = watch(() => news.notify());
  const stopped = () => news.notify();
  signal.addEventListener('abort', stopped);
  try {
    yield `retry: ${retryMs}\n\n`;
    let sent = { version: '', attempt: after?.attempt ?? -1, turns: after?.place ?? 0 };
    for (let first = true; !signal.aborted; first = false) {
      const now = await read();
      if (!now) return;
      const changed = first || now.version !== sent.version;
      // A run is RUNNING before its first turn, and ended after its last one.
      const early = changed && (first || !now.over);
      if (early) yield event('state', now.state);
      const from = now.attempt === sent.attempt ? sent.turns : 0;
      for (const [index, turn] of now.turns.entries()) {
        if (index >= from) yield event('turn', turn, `${now.attempt}-${index + 1}`);
      }
      if (changed && !early) yield event('state', now.state);
      if (now.over) {
        yield event('end', {});
        return;
      }
      sent = { version: now.version, attempt: now.attempt, turns: Math.max(from, now.turns.length) };
      if (await news.quiet()) yield ':\n\n';
    }
  } finally {
    stop();
    signal.removeEventListener('abort', stopped);
  }
}
