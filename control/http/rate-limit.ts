/**
 * Sliding-window rate limits (contract 1.6). Exact: the times of all requests in a window are kept. Several replicas
 * count together (control/replicas/shared-counts.ts): each knows the requests of all in its windows.
 */
import type { Clock } from '#shared/clock.ts';
import { alone, type Join, type Teller } from '../replicas/index.ts';

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
  /** Times of requests at all replicas, oldest first. */
  moments: number[];
  /** Index of the first that counts. Earlier ones are removed in batches, because removing moves all others. */
  begin: number;
  readonly windowMs: number;
  /** Of `moments`, those that the other replicas are not told of. */
  untold: number[];
  /** How many are on their way to the other replicas. */
  onWay: number;
  /** How many the others were told of that do not count after all. */
  returned: number;
}

/** A window's key, its length in ms, and requests by their age in ms; a negative count takes back. */
type Entry = readonly [string, number, readonly (readonly [number, number])[]];

/** Expired times are removed once there are this many, and they are half of all. */
const cutAt = 1000;

/** Empty windows are dropped once there are this many windows. */
const sweepAt = 10_000;

/** The most windows that are sent to a replica that starts. */
const mostTold = 10_000;
/** Parts of a window whose requests are sent with one age. */
const ages = 8;

export class RateLimiter {
  readonly #clock: Clock;
  readonly #teller: Teller;
  readonly #windows = new Map<string, Window>();
  /** Windows with something to tell. */
  readonly #changed = new Set<string>();
  #onWay: readonly Window[] = [];
  #nextSweep = sweepAt;

  constructor(clock: Clock, join: Join = alone) {
    this.#clock = clock;
    this.#teller = join<Entry>({
      collect: () => this.#collect(),
      told: (heard) => this.#told(heard),
      heard: (entries) => this.#heard(entries),
      all: () => this.#all(),
      known: (entries) => this.#known(entries),
      // What it has let through still counts.
      left: () => undefined,
    });
  }

  /**
   * Counts one request of `subject` in every limit, or in none when one rejects it. Returns the state of the tightest
   * window: a rejecting one, else the one with the fewest left.
   * @throws ApiError SERVICE_UNAVAILABLE when other replicas must hear of earlier requests first, and cannot be reached
   */
  async take(subject: string, limits: readonly Limit[]): Promise<WindowState> {
    for (;;) {
      const state = this.#take(subject, limits);
      if (state !== null) return state;
      await this.#teller.now();
    }
  }

  /** Uncounts a request counted at `moment`, because it failed through no fault of its sender. */
  giveBack(subject: string, limits: readonly Limit[], moment: number): void {
    for (const limit of limits) {
      const key = keyOf(limit, subject);
      const window = this.#windows.get(key);
      if (!window || !remove(window.moments, moment, window.begin) || this.#teller.isAlone) continue;
      if (remove(window.untold, moment)) continue;
      window.returned++;
      this.#changed.add(key);
      this.#teller.later();
    }
  }

  /** Null: the other replicas have to hear of earlier requests first. */
  #take(subject: string, limits: readonly Limit[]): WindowState | null {
    const now = this.#clock.elapsed();
    const windows = limits.map((limit) =>
      this.#window(keyOf(limit, subject), limit.windowSeconds * 1000, now),
    );
    const full = limits.findIndex((limit, index) => size(windows[index]) >= limit.limit);
    if (full < 0) {
      if (!this.#teller.isAlone && !this.#mayCount(subject, limits, windows)) return null;
      for (const window of windows) window.moments.push(now);
      if (!this.#teller.isAlone) this.#tellOf(subject, limits, windows, now);
    }
    const states = limits.map((limit, index) => state(limit, windows[index], now, index === full));
    const tightest = states.reduce((least, next) => (tighter(next, least) ? next : least));
    this.#sweep(now);
    return tightest;
  }

  #mayCount(subject: string, limits: readonly Limit[], windows: readonly Window[]): boolean {
    const tight = limits.filter((limit, index) => {
      const { onWay = 0, untold = [] } = windows[index] ?? {};
      return onWay + untold.length >= this.#teller.allowance(limit.limit);
    });
    for (const limit of tight) this.#changed.add(keyOf(limit, subject));
    return tight.length === 0;
  }

  #tellOf(subject: string, limits: readonly Limit[], windows: readonly Window[], now: number): void {
    for (const [index, limit] of limits.entries()) {
      const untold = windows[index]?.untold ?? [];
      untold.push(now);
      if (untold.length * 2 < this.#teller.allowance(limit.limit)) continue;
      this.#changed.add(keyOf(limit, subject));
      this.#teller.soon();
    }
  }

  #window(key: string, windowMs: number, now: number): Window {
    const window = this.#windows.get(key) ?? {
      moments: [],
      begin: 0,
      windowMs,
      untold: [],
      onWay: 0,
      returned: 0,
    };
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

  // ---------------------------------------------------------------- with other replicas

  #collect(): Entry[] {
    const now = this.#clock.elapsed();
    const entries: Entry[] = [];
    const onWay: Window[] = [];
    for (const key of this.#changed) {
      const window = this.#windows.get(key);
      if (!window) continue;
      expire(window, now);
      const { returned, untold, windowMs } = window;
      if (untold.length !== returned) entries.push([key, windowMs, [[0, untold.length - returned]]]);
      window.onWay = untold.length;
      window.untold = [];
      window.returned = 0;
      onWay.push(window);
    }
    this.#changed.clear();
    this.#onWay = onWay;
    return entries;
  }

  #told(heard: boolean): void {
    const now = this.#clock.elapsed();
    for (const window of this.#onWay) {
      // Told once more with what follows.
      if (!heard) window.untold.unshift(...Array.from({ length: window.onWay }, () => now));
      window.onWay = 0;
    }
  }

  #heard(entries: readonly Entry[]): void {
    const now = this.#clock.elapsed();
    for (const [key, windowMs, counts] of entries) {
      const window = this.#window(key, windowMs, now);
      for (const [, count] of counts) {
        if (count < 0) window.moments.splice(Math.max(window.begin, window.moments.length + count));
        for (let added = 0; added < count; added++) window.moments.push(now);
      }
    }
    this.#sweep(now);
  }

  #all(): Entry[] {
    const now = this.#clock.elapsed();
    const entries: Entry[] = [];
    for (const [key, window] of this.#windows) {
      expire(window, now);
      const counts = agesOf(window, now);
      if (counts.length > 0) entries.push([key, window.windowMs, counts]);
      if (entries.length === mostTold) break;
    }
    return entries;
  }

  #known(entries: readonly Entry[]): void {
    const now = this.#clock.elapsed();
    for (const [key, windowMs, counts] of entries) {
      const window = this.#window(key, windowMs, now);
      const total = counts.reduce((sum, [, count]) => sum + count, 0);
      // One that has heard less knows nothing more.
      if (total <= size(window) - window.untold.length) continue;
      const moments = counts.flatMap(([age, count]) => Array.from({ length: count }, () => now - age));
      window.moments = [...moments, ...window.untold].sort((one, other) => one - other);
      window.begin = 0;
    }
  }
}

function keyOf({ scope }: Limit, subject: string): string {
  return `${scope} ${subject}`;
}

/** Removes one of its times, from `begin` on. @returns whether it was there */
function remove(moments: number[], moment: number, begin = 0): boolean {
  const index = moments.lastIndexOf(moment);
  if (index < begin) return false;
  moments.splice(index, 1);
  return true;
}

/** Requests that the others know of, counted by age. The requests of one part of a window have its youngest age. */
function agesOf({ begin, moments, untold, windowMs }: Window, now: number): [number, number][] {
  const counts = new Map<number, number>();
  const own = [...untold];
  for (const moment of moments.slice(begin)) {
    if (moment === own[0]) own.shift();
    else {
      const age = Math.floor(((now - moment) / windowMs) * ages) * (windowMs / ages);
      counts.set(age, (counts.get(age) ?? 0) + 1);
    }
  }
  return [...counts];
}

/** How many requests count. */
function size(window: Window | undefined): number {
  return window ? window.moments.length - window.begin : 0;
}

function expire(window: Window, now: number): void {
  const { moments, untold, windowMs } = window;
  while (untold.length > 0 && (untold[0] ?? now) <= now - windowMs) untold.shift();
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
