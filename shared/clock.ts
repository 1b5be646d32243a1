/**
 * Time as a parameter. Code that waits or takes timestamps uses a Clock, so tests advance time explicitly
 * (`FakeClock.advance`) instead of sleeping.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds from an arbitrary start, for durations: unaffected when the wall clock is set. */
  elapsed(): number;
  /** Calls `fire` once after `ms` milliseconds, unless the timer is canceled before. */
  after(ms: number, fire: () => void): Timer;
}

export interface Timer {
  /** Stops the timer; no effect once it has fired. */
  cancel(): void;
}

/** Node treats a longer delay as 1 ms. */
const longestDelayMs = 2 ** 31 - 1;

class SystemTimer implements Timer {
  #handle: NodeJS.Timeout;
  constructor(ms: number, fire: () => void) {
    this.#handle = this.#arm(ms, fire);
  }
  #arm(ms: number, fire: () => void): NodeJS.Timeout {
    if (!(ms > longestDelayMs)) return setTimeout(fire, ms);
    return setTimeout(() => {
      this.#handle = this.#arm(ms - longestDelayMs, fire);
    }, longestDelayMs);
  }
  cancel(): void {
    clearTimeout(this.#handle);
  }
}

/** The start of something, both as a timestamp and for measuring its duration. */
export interface Beginning {
  /** Wall-clock time, ms since the Unix epoch. */
  readonly startedAt: number;
  /** On the clock's elapsed time. */
  readonly began: number;
}

export const beginning = (clock: Clock): Beginning => ({ startedAt: clock.now(), began: clock.elapsed() });

/** Whole milliseconds since then, even if the wall clock was set in the meantime. */
export const lengthMs = (clock: Clock, { began }: Pick<Beginning, 'began'>): number =>
  Math.round(clock.elapsed() - began);

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (ms, fire) => new SystemTimer(ms, fire),
};

interface Scheduled {
  at: number;
  readonly order: number;
  readonly fire: () => void;
}

/** A clock that moves only on request. Timers due at the same time fire in the order in which they were set. */
export class FakeClock implements Clock {
  #now: number;
  #offset = 0;
  #order = 0;
  readonly #startMs: number;
  readonly #scheduled = new Set<Scheduled>();

  constructor(startMs = Date.UTC(2030, 0, 1)) {
    this.#startMs = startMs;
    this.#now = startMs;
  }

  now(): number {
    return this.#now + this.#offset;
  }

  elapsed(): number {
    return this.#now - this.#startMs;
  }

  /** Sets the wall clock forward or back; timers are unaffected. */
  jump(ms: number): void {
    this.#offset += ms;
  }

  after(ms: number, fire: () => void): Timer {
    const scheduled: Scheduled = { at: this.#now + Math.max(0, ms), order: this.#order++, fire };
    this.#scheduled.add(scheduled);
    return { cancel: () => void this.#scheduled.delete(scheduled) };
  }

  /** Time in which no timer falls due: each keeps what remained of its delay. */
  pass(ms: number): void {
    this.#now += ms;
    for (const scheduled of this.#scheduled) scheduled.at += ms;
  }

  /** Number of pending timers: a leak check for tests. */
  get pending(): number {
    return this.#scheduled.size;
  }

  /** Advances time by `ms` and fires every timer that falls due, including those set by other timers. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#nextDue(end); next; next = this.#nextDue(end)) {
      this.#scheduled.delete(next);
      this.#now = next.at;
      next.fire();
    }
    this.#now = end;
  }

  #nextDue(end: number): Scheduled | undefined {
    let first: Scheduled | undefined;
    for (const candidate of this.#scheduled) {
      if (candidate.at > end) continue;
      if (!first || candidate.at < first.at || (candidate.at === first.at && candidate.order < first.order)) {
        first = candidate;
      }
    }
    return first;
  }
}
