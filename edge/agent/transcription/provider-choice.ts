import type { Clock } from '#shared/clock.ts';
import type { TranscriptionProvider } from './provider.ts';

/** How long calls prefer another server after one has failed, ms. */
const avoidMs = 30_000;

/** Which provider calls use: the first of the list that has not failed lately, one list for all calls. */
export class ProviderChoice {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #providers: readonly [TranscriptionProvider, ...TranscriptionProvider[]];
  /** When a provider is tried again; absent: it works. */
  readonly #avoided = new Map<TranscriptionProvider, number>();

  constructor(
    providers: readonly [TranscriptionProvider, ...TranscriptionProvider[]],
    clock: Pick<Clock, 'elapsed'>,
  ) {
    this.#providers = providers;
    this.#clock = clock;
  }

  /** If all have failed, the one whose failure is oldest. */
  next(): TranscriptionProvider {
    const now = this.#clock.elapsed();
    const freeAt = (provider: TranscriptionProvider) => Math.max(now, this.#avoided.get(provider) ?? 0);
    const first = Math.min(...this.#providers.map(freeAt));
    return this.#providers.find((provider) => freeAt(provider) === first) ?? this.#providers[0];
  }

  /** Whether it has not failed lately. */
  isFree(provider: TranscriptionProvider): boolean {
    return (this.#avoided.get(provider) ?? 0) <= this.#clock.elapsed();
  }

  failed(provider: TranscriptionProvider): void {
    this.#avoided.set(provider, this.#clock.elapsed() + avoidMs);
  }

  works(provider: TranscriptionProvider): void {
    this.#avoided.delete(provider);
  }
}
