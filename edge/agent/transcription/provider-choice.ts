import type { Clock } from '#shared/clock.ts';
import type { TranscriptionProvider } from './provider.ts';

/** How long calls prefer another server after one has failed, ms; doubled for each failure after such a pause. */
const avoidMs = 30_000;
const longestAvoidMs = 300_000;
/** How long the others wait for the call that tries a server again, ms. */
const trialMs = 30_000;

interface Avoided {
  readonly until: number;
  /** Failures one after the other, each after a pause. */
  readonly failures: number;
  /** Whether a call tries the server meanwhile. */
  readonly onTrial: boolean;
}

/**
 * Which provider calls use: the first of the list that has not failed lately, one list for all calls.
 *
 *     [ works ] --failed--> [ avoided ] --pause is over--> [ free ] --a call returns--> [ on trial ]
 *         ^                      ^---------------------------+------------failed------------+
 *         +--------------------------- words of a turn -------------------------------------+
 */
export class ProviderChoice<Provider = TranscriptionProvider> {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #providers: readonly [Provider, ...Provider[]];
  /** Those that have failed and have not told the words of a turn since. */
  readonly #avoided = new Map<Provider, Avoided>();

  constructor(providers: readonly [Provider, ...Provider[]], clock: Pick<Clock, 'elapsed'>) {
    this.#providers = providers;
    this.#clock = clock;
  }

  /** If all have failed, the one whose pause ends first. */
  next(): Provider {
    const now = this.#clock.elapsed();
    const freeAt = (provider: Provider) => Math.max(now, this.#avoided.get(provider)?.until ?? 0);
    const first = Math.min(...this.#providers.map(freeAt));
    return this.#providers.find((provider) => freeAt(provider) === first) ?? this.#providers[0];
  }

  /** Whether it has not failed lately. */
  isFree(provider: Provider): boolean {
    return (this.#avoided.get(provider)?.until ?? 0) <= this.#clock.elapsed();
  }

  /**
   * The provider that a call should return to from `current`, which works; null: it stays. One that has failed is tried
   * by one call first: all others follow when that has the words of a turn from it.
   */
  better(current: Provider): Provider | null {
    for (const provider of this.#providers) {
      if (provider === current) break;
      if (!this.isFree(provider)) continue;
      const avoided = this.#avoided.get(provider);
      if (avoided)
        this.#avoided.set(provider, { ...avoided, until: this.#clock.elapsed() + trialMs, onTrial: true });
      return provider;
    }
    return null;
  }

  /** Whether one call tries it, and it has not told the words of a turn yet. */
  isOnTrial(provider: Provider): boolean {
    return this.#avoided.get(provider)?.onTrial === true;
  }

  failed(provider: Provider): void {
    const { until = 0, failures = 0, onTrial = false } = this.#avoided.get(provider) ?? {};
    const now = this.#clock.elapsed();
    // What many calls notice at once is one failure.
    const isSame = until > now && !onTrial;
    const inARow = isSame ? failures : failures + 1;
    const pauseMs = Math.min(longestAvoidMs, avoidMs * 2 ** Math.min(inARow - 1, 16));
    this.#avoided.set(provider, { until: now + pauseMs, failures: inARow, onTrial: false });
  }

  works(provider: Provider): void {
    this.#avoided.delete(provider);
  }
}
