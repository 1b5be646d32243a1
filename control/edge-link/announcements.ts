/** Notifies waiters, in all replicas, that something was stored, such as an edge's report. */
import type { Clock } from '#shared/clock.ts';
import { type Db, outsideFences } from '../db/index.ts';
import type { Bus, Topic } from '../replicas/index.ts';

export interface Reach {
  readonly bus: Bus;
  /** Subjects whose waiters in this process are enough, such as a queue that each replica works on. */
  readonly hereOnly: ReadonlySet<string>;
}

export class Announcements {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #hereOnly: ReadonlySet<string>;
  readonly #others: Topic<readonly string[]> | null;

  /** @param reach absent: to waiters in this process alone */
  constructor(clock: Clock, reach?: Reach) {
    this.#clock = clock;
    this.#hereOnly = reach?.hereOnly ?? new Set();
    this.#others = reach?.bus.topic('announced') ?? null;
    this.#others?.on((subjects) => {
      for (const subject of subjects) this.#tell(subject);
    });
    // The waiters look again at what is stored.
    reach?.bus.onMissed(() => {
      for (const subject of [...this.#waiting.keys()]) this.#tell(subject);
    });
  }

  /** Calls `listener` at every announcement of `subject`. Returns a function that unsubscribes. */
  on(subject: string, listener: () => void): () => void {
    const listeners = this.#waiting.get(subject) ?? new Set();
    this.#waiting.set(subject, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#waiting.delete(subject);
    };
  }

  /** Call after the commit. */
  announce(subject: string): void {
    this.#tell(subject);
    // The message is stored later, whether or not the announcer's work may still write then.
    if (!this.#hereOnly.has(subject)) outsideFences(() => this.#others?.post([subject]));
  }

  /**
   * Announces to other replicas in the transaction that stored it; nothing is lost if this process dies after the commit.
   * @returns announces to waiters here; call it after the commit
   */
  async announceIn(db: Db, subjects: ReadonlySet<string>): Promise<() => void> {
    const others = [...subjects].filter((subject) => !this.#hereOnly.has(subject));
    if (others.length > 0) await this.#others?.publish(db, others);
    return () => {
      for (const subject of subjects) this.#tell(subject);
    };
  }

  /** Whether anyone waits for `subject`. */
  waits(subject: string): boolean {
    return this.#waiting.has(subject);
  }

  /** Waits for one announcement of `subject`, at most `ms`. Listening has started when this returns. */
  wait(subject: string, ms: number): { readonly ended: Promise<void>; readonly cancel: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.after(ms, () => cancel());
    const stop = this.on(subject, () => cancel());
    const cancel = () => {
      timer.cancel();
      stop();
      resolve();
    };
    return { ended: promise, cancel };
  }

  #tell(subject: string): void {
    // The listeners' work is not part of the announcer's, and may go on for longer.
    outsideFences(() => {
      for (const listener of [...(this.#waiting.get(subject) ?? [])]) listener();
    });
  }
}
