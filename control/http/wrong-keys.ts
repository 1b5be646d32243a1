/**
 * Rate-limits key guessing per client network. A request with a valid key is never limited, so tenants behind one
 * address do not affect each other.
 */

import { hash } from 'node:crypto';
import { Counter, type Registry } from 'prom-client';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { hostKey } from '#shared/networks.ts';

/** Wrong keys that a network may try at once, and again per minute. A person who mistypes needs a few. */
const mostTries = 30;
/** The same wrong key again is a client with an old key, not a guess: such a request counts this much. */
const repeatedCosts = 0.1;
/** Networks remembered; the least recent one is dropped for a new one. About 200 bytes each. */
const mostNetworks = 10_000;

interface Tries {
  /** Tries left at `at`. */
  readonly left: number;
  /** ms */
  readonly at: number;
  /** Hash of the last wrong key; the key itself is not kept. */
  readonly last: string;
}

export class WrongKeys {
  readonly #clock: Clock;
  /** By network, least recent first. */
  readonly #tries = new Map<string, Tries>();
  readonly #refused = new Counter({
    name: 'trunkline_control_wrong_keys_total',
    help: 'Requests with an unknown or revoked key: rejected with 401, or rate-limited with 429.',
    labelNames: ['outcome'],
    registers: [],
  });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  measure(registry: Registry): void {
    registry.registerMetric(this.#refused);
  }

  /** How many networks are remembered. */
  get size(): number {
    return this.#tries.size;
  }

  /**
   * The error for a request with an invalid key.
   * @param key null when there was none, which is not a guess
   * @returns AUTH_FAILURE; RATE_LIMITED when the client's network has no tries left
   */
  refusal(address: string, key: string | null): ApiError {
    if (key === null) return ApiError.of('AUTH_FAILURE');
    const network = hostKey(address);
    const now = this.#clock.elapsed();
    const last = hash('sha256', key);
    const before = this.#tries.get(network) ?? { left: mostTries, at: now, last: '' };
    const had = Math.min(mostTries, before.left + ((now - before.at) / 60_000) * mostTries);
    const cost = before.last === last ? repeatedCosts : 1;
    // Rounding must not cost a try.
    const allowed = had + 1e-6 >= cost;
    this.#tries.delete(network);
    if (this.#tries.size >= mostNetworks) this.#pruneOldest();
    this.#tries.set(network, { left: allowed ? had - cost : had, at: now, last });
    this.#refused.inc({ outcome: allowed ? 'refused' : 'slowed' });
    if (allowed) return ApiError.of('AUTH_FAILURE');
    const waitSeconds = Math.max(1, Math.ceil(((cost - had) / mostTries) * 60));
    const details = { limit: mostTries, window_seconds: 60, scope: 'wrong_keys' };
    const message = `More than ${mostTries} wrong keys a minute from this network; use a valid key, or wait ${waitSeconds} s.`;
    return ApiError.of('RATE_LIMITED', details, message).waiting(waitSeconds);
  }

  #pruneOldest(): void {
    const [oldest] = this.#tries.keys();
    if (oldest !== undefined) this.#tries.delete(oldest);
  }
}
