/**
 * Which sources have authenticated lately, and which have tried wrong passwords too often.
 *
 * Sources with credentials are strangers by address, and may share it with others (NAT). So one that has authenticated
 * is not blocked for what others there do; and the tries of a password are counted for each source and record, also of
 * sources that some configuration names, which are never blocked.
 */
import type { Clock } from '#shared/clock.ts';
import { hostKey } from '#shared/networks.ts';

/** How long a source counts as authenticated: longer than the pauses between the calls of a PBX in use. */
const authenticatedMs = 3_600_000;
/** Remembered sources; the one that authenticated longest ago is forgotten first. About 1 MB. */
const maxAuthenticated = 10_000;

/** Counts wrong passwords by a key. */
export interface Guesses {
  tried(key: string): unknown;
  isBlocked(key: string): boolean;
}

export class AuthenticatedSources {
  readonly #clock: Clock;
  /** When a source authenticated last, oldest first. */
  readonly #lately = new Map<string, number>();
  readonly #guesses: Guesses;
  readonly #most: number;

  /** @param most sources that are remembered */
  constructor(clock: Clock, guesses: Guesses, most = maxAuthenticated) {
    this.#clock = clock;
    this.#guesses = guesses;
    this.#most = most;
  }

  /** Whether a caller at this address has authenticated lately. */
  has(source: string): boolean {
    const at = this.#lately.get(hostKey(source));
    return at !== undefined && at > this.#clock.elapsed() - authenticatedMs;
  }

  /** Whether a password for this record may be tried from this source. */
  mayTry(source: string, trunkId: string): boolean {
    return !this.#guesses.isBlocked(`${hostKey(source)} ${trunkId}`);
  }

  failed(source: string, trunkId: string): void {
    this.#guesses.tried(`${hostKey(source)} ${trunkId}`);
  }

  passed(source: string): void {
    const key = hostKey(source);
    this.#lately.delete(key);
    this.#lately.set(key, this.#clock.elapsed());
    if (this.#lately.size <= this.#most) return;
    const oldest = this.#lately.keys().next();
    if (!oldest.done) this.#lately.delete(oldest.value);
  }
}
