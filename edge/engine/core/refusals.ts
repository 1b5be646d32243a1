import type { Clock, Timer } from '#shared/clock.ts';

/** How long refusals are gathered before they are told, ms: soon enough to silence a scanner, and no line for each. */
const gatherMs = 100;
/** Sources told at a time; those beyond are counted the next time that they are refused. */
const maxSources = 1_000;

/**
 * Requests that the engine refused by itself, by source address: the application hears of them nowhere else, and it
 * alone knows which sources are trunks.
 */
export class Refusals {
  readonly #clock: Clock;
  readonly #tell: (sources: Record<string, number>) => void;
  readonly #sources = new Map<string, number>();
  #timer: Timer | null = null;

  constructor(clock: Clock, tell: (sources: Record<string, number>) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  count(address: string): void {
    const known = this.#sources.get(address) ?? 0;
    if (known === 0 && this.#sources.size >= maxSources) return;
    this.#timer ??= this.#clock.after(gatherMs, () => this.#flush());
    this.#sources.set(address, known + 1);
  }

  /** Tells no more. */
  close(): void {
    this.#timer?.cancel();
  }

  #flush(): void {
    this.#timer = null;
    const sources = Object.fromEntries(this.#sources);
    this.#sources.clear();
    this.#tell(sources);
  }
}
