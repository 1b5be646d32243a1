/**
 * The time of the simulated world: a queue of events, processed one after the other. Everything that an event triggers in
 * this process (promises, ticks, immediates) completes before the next one fires, so the queue determines the order.
 */
import type { Clock, Timer } from '#shared/clock.ts';

interface Event {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
  cancelled: boolean;
}

/** Initial wall-clock time of the world. */
const epoch = Date.UTC(2030, 0, 1);
/** Turns of the event loop after which everything that an event triggered is complete. */
const turns = 6;

const immediate = globalThis.setImmediate;

export class SimTime {
  /** Milliseconds since the start of the world. */
  now = 0;
  /** Events that fired. */
  steps = 0;
  #order = 0;
  readonly #heap: Event[] = [];
  /** Work on real files, which takes real time: the world pauses until it is done. */
  readonly #real = new Set<Promise<unknown>>();

  at(ms: number, fire: () => void): Timer {
    const event: Event = { at: Math.max(ms, this.now), order: this.#order++, fire, cancelled: false };
    this.#push(event);
    return {
      cancel: () => {
        event.cancelled = true;
      },
    };
  }

  after(ms: number, fire: () => void): Timer {
    return this.at(this.now + Math.max(0, ms), fire);
  }

  /** Runs `work`, which does not depend on the world, without simulated time. */
  async still<T>(work: Promise<T>): Promise<T> {
    this.#real.add(work);
    try {
      return await work;
    } finally {
      this.#real.delete(work);
    }
  }

  /** Processes all events of the next `ms` milliseconds. @param each called after every completed event */
  async run(ms: number, each: () => void = () => {}): Promise<void> {
    const end = this.now + ms;
    await this.#rest();
    for (let first = this.#heap[0]; first && first.at <= end; first = this.#heap[0]) {
      this.#pop();
      if (first.cancelled) continue;
      this.now = first.at;
      this.steps++;
      // An error in a timer is an uncaught exception of that process and does not end the world.
      try {
        first.fire();
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
      await this.#rest();
      each();
    }
    this.now = end;
  }

  async #rest(): Promise<void> {
    do {
      await Promise.allSettled(this.#real);
      for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => immediate(resolve));
    } while (this.#real.size > 0);
  }

  #before(one: Event, other: Event): boolean {
    return one.at < other.at || (one.at === other.at && one.order < other.order);
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (!parent || !this.#before(event, parent)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const [one, other] = [heap[left], heap[left + 1]];
      if (!one) break;
      const [next, child] = other && this.#before(other, one) ? [left + 1, other] : [left, one];
      if (!this.#before(child, last)) break;
      heap[at] = child;
      at = next;
    }
    heap[at] = last;
  }
}

/** The clock of one machine of the world. Its wall clock may jump; its timers do not jump, and end with it. */
export class MachineClock implements Clock {
  readonly #time: SimTime;
  readonly #timers = new Set<Timer>();
  #offset = 0;
  #dead = false;

  constructor(time: SimTime, offset = 0) {
    this.#time = time;
    this.#offset = offset;
  }

  now(): number {
    return epoch + Math.floor(this.#time.now) + this.#offset;
  }

  elapsed(): number {
    return this.#time.now;
  }

  after(ms: number, fire: () => void): Timer {
    if (this.#dead) return { cancel: () => {} };
    const timer = this.#time.after(ms, () => {
      this.#timers.delete(timer);
      fire();
    });
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }

  /** Active timers, for a leak check. */
  get pending(): number {
    return this.#timers.size;
  }

  jump(ms: number): void {
    this.#offset += ms;
  }

  get offset(): number {
    return this.#offset;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** The machine, or its process, ends at once. */
  die(): void {
    this.#dead = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}

/** Makes the timers of libraries, and of code without a clock parameter, use the world's time. */
export function takeTimers(time: SimTime): void {
  const set =
    (repeat: boolean) =>
    (fire: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) => {
      let timer: Timer;
      const again = () => {
        if (repeat) timer = time.after(ms, again);
        fire(...args);
      };
      timer = time.after(ms, again);
      const handle = {
        cancel: () => timer.cancel(),
        ref: () => handle,
        unref: () => handle,
        hasRef: () => true,
        refresh: () => {
          timer.cancel();
          timer = time.after(ms, again);
          return handle;
        },
        close: () => timer.cancel(),
      };
      return handle;
    };
  const clear = (handle: unknown) => (handle as { cancel?: () => void } | undefined)?.cancel?.();
  // Assigned without their types, which have members for promises (node:util) that nothing here uses.
  Object.assign(globalThis, {
    setTimeout: set(false),
    setInterval: set(true),
    clearTimeout: clear,
    clearInterval: clear,
  });
  performance.now = () => time.now;
}
