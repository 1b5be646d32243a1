/** Sliding windows over requests (contract 1.6). Exact: the moments of the requests of a window are kept. */
import type { Clock } from '#shared/clock.ts';

export interface Limit {
  /** Named in the refusal's `details.scope`. */
  readonly scope: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** How a window stands after a request. */
export interface WindowState extends Limit {
  readonly remaining: number;
  /** Whole seconds until the oldest request leaves the window. */
  readonly resetSeconds: number;
  readonly refused: boolean;
}

/** Moments of requests, oldest first; a ring would save little, as most windows hold few. */
interface Window {
  readonly moments: number[];
  readonly windowMs: number;
}

/** Windows that are empty are dropped when this many are kept. */
const sweepAt = 10_000;

export class RateLimiter {
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();
  #nextSweep = sweepAt;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts one request of `subject` against every limit, or none when one refuses: a refused request does not
   * count. Returns the state of the tightest window: a refusing one, else the one with the fewest left.
   */
  take(subject: string, limits: readonly Limit[]): WindowState {
    const now = this.#clock.now();
    const windows = limits.map((limit) => this.#window(`${limit.scope} ${subject}`, limit, now));
    const full = limits.findIndex((limit, index) => (windows[index]?.moments.length ?? 0) >= limit.limit);
    if (full < 0) for (const window of windows) window.moments.push(now);
    const states = limits.map((limit, index) =>
      state(limit, windows[index]?.moments ?? [], now, index === full),
    );
    const tightest = states.reduce((least, next) => (tighter(next, least) ? next : least));
    this.#sweep(now);
    return tightest;
  }

  /** Takes back a request that was counted at `moment`, because nothing came of it through no fault of its sender. */
  giveBack(subject: string, limits: readonly Limit[], moment: number): void {
    for (const { scope } of limits) {
      const moments = this.#windows.get(`${scope} ${subject}`)?.moments ?? [];
      const index = moments.lastIndexOf(moment);
      if (index >= 0) moments.splice(index, 1);
    }
  }

  #window(key: string, limit: Limit, now: number): Window {
    const window = this.#windows.get(key) ?? { moments: [], windowMs: limit.windowSeconds * 1000 };
    this.#windows.set(key, window);
    expire(window, now);
    return window;
  }

  #sweep(now: number): void {
    if (this.#windows.size < this.#nextSweep) return;
    for (const [key, window] of this.#windows) {
      expire(window, now);
      if (window.moments.length === 0) this.#windows.delete(key);
    }
    this.#nextSweep = Math.max(sweepAt, this.#windows.size * 2);
  }
}

function expire(window: Window, now: number): void {
  const { moments, windowMs } = window;
  let gone = 0;
  while (gone < moments.length && (moments[gone] ?? now) <= now - windowMs) gone++;
  if (gone > 0) moments.splice(0, gone);
}

function state(limit: Limit, moments: readonly number[], now: number, refused: boolean): WindowState {
  const oldest = moments[0] ?? now;
  const resetMs = Math.max(0, oldest + limit.windowSeconds * 1000 - now);
  const remaining = Math.max(0, limit.limit - moments.length);
  return { ...limit, remaining, resetSeconds: Math.max(1, Math.ceil(resetMs / 1000)), refused };
}

function tighter(next: WindowState, least: WindowState): boolean {
  if (next.refused !== least.refused) return next.refused;
  return next.remaining < least.remaining;
}
