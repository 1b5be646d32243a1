/**
 * Turns of work that would hold up everything else if it ran at once: one piece in each turn of the event loop, and of each
 * key one after another. Many pieces of one key cost others the time of one piece.
 */
import { setImmediate } from 'node:timers/promises';

export class Turns {
  #next: Promise<unknown> = Promise.resolve();
  readonly #last = new Map<string, Promise<unknown>>();

  take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const done = before.then(() => this.#turn()).then(work);
    const ended: Promise<void> = done.then(
      () => this.#end(key, ended),
      () => this.#end(key, ended),
    );
    this.#last.set(key, ended);
    return done;
  }

  #turn(): Promise<unknown> {
    this.#next = this.#next.then(() => setImmediate());
    return this.#next;
  }

  #end(key: string, ended: Promise<unknown>): void {
    if (this.#last.get(key) === ended) this.#last.delete(key);
  }
}
