import type { Clock, Timer } from '#shared/clock.ts';

/**
 * How long rejections are collected before they are reported, ms: short enough to block a scanner soon, without a
 * line for each.
 */
const gatherMs = 100;
/** Sources per report; further sources are reported the next time that they are rejected. */
const maxSources = 1_000;

/**
 * Counts, by source address, the requests that the engine rejected itself. The application does not see them
 * otherwise, and only it knows which sources are trunks.
 */
export class Refusals {
  readonly #clock: Clock;
  readonly #report: (sources: Record<string, number>) => void;
  readonly #sources = new Map<string, number>();
  #timer: Timer | null = null;

  constructor(clock: Clock, report: (sources: Record<string, number>) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  count(address: string): void {
    const known = this.#sources.get(address) ?? 0;
    if (known === 0 && this.#sources.size >= maxSources) return;
    this.#timer ??= this.#clock.after(gatherMs, () => this.#flush());
    this.#sources.set(address, known + 1);
  }

  /** Stops reporting. */
  close(): void {
    this.#timer?.cancel();
  }

  #flush(): void {
    this.#timer = null;
    const sources = Object.fromEntries(this.#sources);
    this.#sources.clear();
    this.#report(sources);
  }
}
