/**
 * Events that are out of date soon, such as quality samples of calls. They are many, so they are stored nowhere, have no
 * ids, and go only to readers that ask for their types. Of each subject the newest waits for a slow reader.
 */
import { type Hearing, Interests } from '../replicas/index.ts';
import { namesOf } from './record.ts';
import type { Happening } from './types.ts';

/** As it is sent. */
export interface PassingEvent {
  readonly orgId: string;
  readonly type: string;
  readonly subject: Readonly<Record<string, string>>;
  /** In the form of server-sent events. */
  readonly text: string;
}

/** What a reader has not taken yet. */
export interface Passing {
  readonly isWaiting: boolean;
  /** The oldest ones, up to about this many characters; empty: none. */
  take(characters: number): string;
  close(): void;
}

/** Of a reader that does not want any. */
export const nonePassing: Passing = { isWaiting: false, take: () => '', close: () => undefined };

export class PassingEvents {
  readonly #watchers = new Map<string, Set<(event: PassingEvent) => void>>();
  readonly #interests: Interests | null;
  readonly #topic;

  /** @param transients of replicas whose streams see what happens here, and the other way round; null: none */
  constructor(transients: Hearing | null = null) {
    this.#interests = transients && new Interests(transients, 'passing events');
    this.#topic = transients?.topic<PassingEvent>('passing events');
    this.#topic?.on((event) => this.#tellHere(event));
  }

  /** Whether anybody reads any, at any replica. */
  get isWatched(): boolean {
    return this.#watchers.size > 0 || this.#interests?.isAny === true;
  }

  tell({ at, data, orgId, subject, type }: Happening): void {
    const isWatchedElsewhere = (this.#interests?.watching(orgId).length ?? 0) > 0;
    if (!isWatchedElsewhere && !this.#watchers.has(orgId)) return;
    const names = namesOf(subject);
    const text = `event: ${type}\ndata: ${JSON.stringify({ type, at, subject: names, data })}\n\n`;
    const event = { orgId, type, subject: names, text };
    this.#tellHere(event);
    if (isWatchedElsewhere) void this.#topic?.send(event);
  }

  /** @param most subjects of which one waits @param wake is called when there is something to take */
  watch(orgId: string, wanted: (event: PassingEvent) => boolean, most: number, wake: () => void): Passing {
    const waiting = new Map<string, string>();
    const receive = (event: PassingEvent) => {
      if (!wanted(event)) return;
      const key = `${event.type} ${Object.values(event.subject).join(' ')}`;
      waiting.delete(key);
      waiting.set(key, event.text);
      const [oldest] = waiting.keys();
      if (waiting.size > most && oldest !== undefined) waiting.delete(oldest);
      wake();
    };
    const watchers = this.#watchers.get(orgId) ?? new Set();
    this.#watchers.set(orgId, watchers.add(receive));
    const stop = this.#interests?.watch(orgId);
    return {
      get isWaiting() {
        return waiting.size > 0;
      },
      take: (characters) => {
        let taken = '';
        for (const [key, text] of waiting) {
          if (taken.length >= characters) break;
          taken += text;
          waiting.delete(key);
        }
        return taken;
      },
      close: () => {
        if (!watchers.delete(receive)) return;
        if (watchers.size === 0) this.#watchers.delete(orgId);
        stop?.();
      },
    };
  }

  #tellHere(event: PassingEvent): void {
    for (const receive of this.#watchers.get(event.orgId) ?? []) receive(event);
  }
}
