/** Sliding-window rate limits (contract 1.6). Exact: the times of all requests in a window are kept. */
import type { Clock } from '#shared/clock.ts';

export interface Limit {
  /** Name in the error's `details.scope`. */
  readonly scope: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The state of a window after a request. */
export interface WindowState extends Limit {
  readonly remaining: number;
  /** Whole seconds until the oldest request leaves the window. */
  readonly resetSeconds: number;
  readonly refused: boolean;
  /** When the request was counted, in the clock's elapsed time; `giveBack` needs it. */
  readonly moment: number;
}

interface Window {
  /** Times of requests, oldest first. */
  readonly moments: number[];
  /** Index of the first that counts. Earlier ones are removed in batches, because removing moves all others. */
  begin: number;
  readonly windowMs: number;
}

/** Expired times are removed once there are this many, and they are half of all. */
const cutAt = 1000;

/** Empty windows are dropped once there are this many windows. */
const sweepAt = 10_000;

export class RateLimiter {
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();
  #nextSweep = sweepAt;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts one request of `subject` in every limit, or in none when one rejects it. Returns the state of the tightest
   * window: a rejecting one, else the one with the fewest left.
   */
  take(subject: string, limits: readonly Limit[]): WindowState {
    const now = this.#clock.elapsed();
    const windows = limits.map((limit) => this.#window(`${limit.scope} ${subject}`, limit, now));
    const full = limits.findIndex((limit, index) => size(windows[index]) >= limit.limit);
    if (full < 0) for (const window of windows) window.moments.push(now);
    const states = limits.map((limit, index) => state(limit, windows[index], now, index === full));
    const tightest = states.reduce((least, next) => (tighter(next, least) ? next : least));
    this.#sweep(now);
    return tightest;
  }

  /** Uncounts a request counted at `moment`, because it failed through no fault of its sender. */
  giveBack(subject: string, limits: readonly Limit[], moment: number): void {
    for (const { scope } of limits) {
      const { moments = [], begin = 0 } = this.#windows.get(`${scope} ${subject}`) ?? {};
      const index = moments.lastIndexOf(moment);
      if (index >= begin) moments.splice(index, 1);
    }
  }

  #window(key: string, limit: Limit, now: number): Window {
    const window = this.#windows.get(key) ?? { moments: [], begin: 0, windowMs: limit.windowSeconds * 1000 };
    this.#windows.set(key, window);
    expire(window, now);
    return window;
  }

  #sweep(now: number): void {
    if (this.#windows.size < this.#nextSweep) return;
    for (const [key, window] of this.#windows) {
      expire(window, now);
      if (size(window) === 0) this.#windows.delete(key);
    }
    this.#nextSweep = Math.max(sweepAt, this.#windows.size * 2);
  }
}

/** How many requests count. */
function size(window: Window | undefined): number {
  return window ? window.moments.length - window.begin : 0;
}

function expire(window: Window, now: number): void {
  const { moments, windowMs } = window;
  while (window.begin < moments.length && (moments[window.begin] ?? now) <= now - windowMs) window.begin++;
  if (window.begin < cutAt || window.begin * 2 < moments.length) return;
  moments.splice(0, window.begin);
  window.begin = 0;
}

function state(limit: Limit, window: Window | undefined, now: number, refused: boolean): WindowState {
  const oldest = window?.moments[window.begin] ?? now;
  const resetMs = Math.max(0, oldest + limit.windowSeconds * 1000 - now);
  const remaining = Math.max(0, limit.limit - size(window));
  return { ...limit, remaining, resetSeconds: Math.max(1, Math.ceil(resetMs / 1000)), refused, moment: now };
}

function tighter(next: WindowState, least: WindowState): boolean {
  if (next.refused !== least.refused) return next.refused;
  return next.remaining < least.remaining;
}
