/**
 * Rate-limits guessing of keys and sessions per client network. A request with a valid one is never limited, so tenants
 * behind one address do not affect each other. Several replicas count together (control/replicas/shared-counts.ts).
 */

import { hash } from 'node:crypto';
import { Counter, type Registry } from 'prom-client';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { hostKey } from '#shared/networks.ts';
import { alone, type Join, type Teller } from '../replicas/index.ts';

/** Wrong keys that a network may try at once, and again per minute. A person who mistypes needs a few. */
const mostTries = 30;
/** The same wrong key again is a client with an old key, not a guess: such a request counts this much. */
const repeatedCosts = 0.1;
/** Networks remembered; the least recent one is dropped for a new one. About 200 bytes each. */
const mostNetworks = 10_000;

interface Tries {
  /** Tries left at `at`, of all replicas; less than none when several let one through at the same time. */
  left: number;
  /** ms */
  at: number;
  /** Hash of the last wrong key; the key itself is not kept. */
  last: string;
  /** Tries that the other replicas are not told of, and those on their way to them. */
  untold: number;
  onWay: number;
}

/** A network, and tries used. */
type Entry = readonly [string, number];

export class WrongKeys {
  readonly #clock: Clock;
  readonly #teller: Teller;
  /** By network, least recent first. */
  readonly #tries = new Map<string, Tries>();
  /** Networks with something to tell. */
  readonly #changed = new Set<string>();
  #onWay: readonly Tries[] = [];
  readonly #refused = new Counter({
    name: 'trunkline_control_wrong_keys_total',
    help: 'Requests with an unknown or revoked key, or an unknown session: rejected with 401, or rate-limited with 429.',
    labelNames: ['outcome'],
    registers: [],
  });

  constructor(clock: Clock, join: Join = alone) {
    this.#clock = clock;
    this.#teller = join<Entry>({
      collect: () => this.#collect(),
      told: (heard) => this.#told(heard),
      heard: (entries) => this.#heard(entries),
      all: () => this.#all(),
      known: (entries) => this.#known(entries),
      // The tries that it has answered still count.
      left: () => undefined,
    });
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
   * @throws ApiError SERVICE_UNAVAILABLE when other replicas must hear of earlier tries first, and cannot be reached
   */
  async refusal(address: string, key: string | null): Promise<ApiError> {
    if (key === null) return ApiError.of('AUTH_FAILURE');
    const network = hostKey(address);
    const last = hash('sha256', key);
    for (;;) {
      const refusal = this.#refusal(network, last);
      if (refusal !== null) return refusal;
      await this.#teller.now();
    }
  }

  /** Null: the other replicas have to hear of earlier tries first. */
  #refusal(network: string, last: string): ApiError | null {
    const tries = this.#of(network);
    const cost = tries.last === last ? repeatedCosts : 1;
    // Rounding must not cost a try.
    const allowed = tries.left + 1e-6 >= cost;
    if (allowed && !this.#teller.isAlone) {
      const untold = tries.untold + tries.onWay;
      const allowance = this.#teller.allowance(mostTries);
      if (untold > 0 && untold + cost > allowance) {
        this.#changed.add(network);
        return null;
      }
      tries.untold += cost;
      if (tries.untold * 2 >= allowance) {
        this.#changed.add(network);
        this.#teller.soon();
      }
    }
    const had = tries.left;
    if (allowed) tries.left -= cost;
    tries.last = last;
    this.#refused.inc({ outcome: allowed ? 'refused' : 'slowed' });
    if (allowed) return ApiError.of('AUTH_FAILURE');
    const waitSeconds = Math.max(1, Math.ceil(((cost - had) / mostTries) * 60));
    const details = { limit: mostTries, window_seconds: 60, scope: 'wrong_keys' };
    const message = `More than ${mostTries} wrong keys a minute from this network; use a valid key, or wait ${waitSeconds} s.`;
    return ApiError.of('RATE_LIMITED', details, message).waiting(waitSeconds);
  }

  /** The tries of a network as of now, which is then the most recent one. */
  #of(network: string): Tries {
    const now = this.#clock.elapsed();
    const tries = this.#tries.get(network) ?? { left: mostTries, at: now, last: '', untold: 0, onWay: 0 };
    tries.left = Math.min(mostTries, tries.left + ((now - tries.at) / 60_000) * mostTries);
    tries.at = now;
    this.#tries.delete(network);
    if (this.#tries.size >= mostNetworks) this.#pruneOldest();
    this.#tries.set(network, tries);
    return tries;
  }

  #pruneOldest(): void {
    const [oldest] = this.#tries.keys();
    if (oldest !== undefined) this.#tries.delete(oldest);
  }

  // ---------------------------------------------------------------- with other replicas

  #collect(): Entry[] {
    const changed = [...this.#changed].flatMap((network) => {
      const tries = this.#tries.get(network);
      return tries && tries.untold > 0 ? [{ network, tries }] : [];
    });
    this.#changed.clear();
    this.#onWay = changed.map(({ tries }) => tries);
    return changed.map(({ network, tries }) => {
      tries.onWay = tries.untold;
      tries.untold = 0;
      return [network, tries.onWay];
    });
  }

  #told(heard: boolean): void {
    for (const tries of this.#onWay) {
      // Told once more with what follows.
      if (!heard) tries.untold += tries.onWay;
      tries.onWay = 0;
    }
  }

  #heard(entries: readonly Entry[]): void {
    for (const [network, used] of entries) this.#of(network).left -= used;
  }

  #all(): Entry[] {
    const now = this.#clock.elapsed();
    return [...this.#tries].flatMap(([network, { at, left, untold }]) => {
      const used = mostTries - left - untold - ((now - at) / 60_000) * mostTries;
      return used > 0 ? [[network, used] as const] : [];
    });
  }

  #known(entries: readonly Entry[]): void {
    for (const [network, used] of entries) {
      const tries = this.#of(network);
      tries.left = Math.min(tries.left, mostTries - used - tries.untold);
    }
  }
}
