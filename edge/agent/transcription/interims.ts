/**
 * Interim results that come faster than anybody can use them: the newest takes the place of those before it, which are
 * left unread. To parse a message costs ten times as much as to receive it, and each has all words of the one before.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import { Allowance } from '../allowance.ts';

/** Interim results in a second that are all read: servers send one for each piece of audio at most, which is 20 ms. */
const mostPerSecond = 50;
/** Time after which the newest of those beyond is read, ms. */
const newestAfterMs = 20;

export class Interims {
  readonly #clock: Clock;
  readonly #read: (message: string) => void;
  readonly #allowance: Allowance;
  #newest: string | null = null;
  #timer: Timer | null = null;

  constructor(clock: Clock, read: (message: string) => void) {
    this.#clock = clock;
    this.#read = read;
    this.#allowance = new Allowance(clock, mostPerSecond);
  }

  /** @returns whether the one before it is left unread */
  add(message: string): boolean {
    if (this.#newest !== null) {
      this.#newest = message;
      return true;
    }
    if (this.#allowance.take()) {
      this.#read(message);
      return false;
    }
    this.#newest = message;
    this.#timer = this.#clock.after(newestAfterMs, () => this.flush());
    return false;
  }

  /** Another message comes: what came before it is read before it. */
  flush(): void {
    const newest = this.#newest;
    this.drop();
    if (newest !== null) this.#read(newest);
  }

  drop(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#newest = null;
  }
}
