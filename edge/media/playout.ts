/**
 * The clock that paces the audio of all legs: each gets its turn every 20 ms.
 *
 * Legs are spread over slots inside the interval, so that 200 legs cause several short bursts instead of one
 * long one. Due times are computed from the start and never from the last turn, so lateness does not accumulate.
 * After a stall, up to `maxCatchUp` missed turns are caught up; the others are skipped and the leg is notified,
 * because a peer's jitter buffer would only discard them.
 *
 *     |slot 0   |slot 1   |slot 2   |slot 3   |slot 0 ...
 *     0         5         10        15        20 ms
 */
import type { Clock, Timer } from '#shared/clock.ts';

export interface PacedLeg {
  /** One turn: 20 ms of audio each way. @param lateMs after it was due */
  tick(lateMs: number): void;
  /** `count` turns were skipped after a stall. */
  skip(count: number): void;
  /** A turn threw; the leg gets no more turns. */
  failed(error: Error): void;
}

export interface PlayoutOptions {
  /** Its time must never go back. */
  readonly clock: Clock;
  readonly intervalMs?: number;
  readonly slots?: number;
  /** Maximum turns caught up after a stall. */
  readonly maxCatchUp?: number;
  /**
   * Calls `turns`, those of all legs that are due now: what they send can be written at once. It returns the milliseconds
   * until the next ones.
   */
  readonly together?: (turns: () => number) => void;
  /** No leg is left: there are no more turns until one is added. */
  readonly rest?: () => void;
}

/** Node's timers have millisecond resolution and may fire a fraction early. */
const earlyMs = 0.999;

interface Slot {
  due: number;
  readonly legs: Set<PacedLeg>;
}

export class Playout {
  readonly #clock: Clock;
  readonly #interval: number;
  readonly #maxCatchUp: number;
  readonly #together: (turns: () => number) => void;
  readonly #rest: () => void;
  readonly #slots: Slot[];
  #timer: Timer | null = null;
  #skipped = 0;

  constructor(options: PlayoutOptions) {
    this.#clock = options.clock;
    this.#interval = options.intervalMs ?? 20;
    this.#maxCatchUp = options.maxCatchUp ?? 5;
    this.#together = options.together ?? ((turns) => turns());
    this.#rest = options.rest ?? (() => {});
    this.#slots = Array.from({ length: options.slots ?? 4 }, () => ({ due: 0, legs: new Set() }));
  }

  /** Number of paced legs. */
  get legs(): number {
    return this.#slots.reduce((sum, slot) => sum + slot.legs.size, 0);
  }

  /** Turns skipped because of stalls since the start, over all legs. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Gives `leg` turns from now on, until the returned function is called. */
  add(leg: PacedLeg): () => void {
    let index = 0;
    for (let i = 1; i < this.#slots.length; i++) {
      if (this.#size(i) < this.#size(index)) index = i;
    }
    const slot = this.#slots[index];
    if (!slot) throw new Error('playout without slots');
    if (slot.legs.size === 0) slot.due = this.#nextDue(index);
    slot.legs.add(leg);
    this.#arm();
    return () => {
      slot.legs.delete(leg);
      if (this.legs === 0) this.#arm();
    };
  }

  #size(index: number): number {
    return this.#slots[index]?.legs.size ?? 0;
  }

  /** The slot's next time on the shared grid. */
  #nextDue(index: number): number {
    const offset = (index * this.#interval) / this.#slots.length;
    const turns = Math.floor((this.#clock.now() - offset) / this.#interval) + 1;
    return turns * this.#interval + offset;
  }

  #arm(): void {
    this.#disarm();
    const due = this.#due();
    if (due === Number.POSITIVE_INFINITY) this.#rest();
    else this.#timer = this.#clock.after(Math.max(0, due - this.#clock.now()), () => this.#fire());
  }

  /** Time of the next turn; infinite: there is none. */
  #due(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const slot of this.#slots) if (slot.legs.size > 0 && slot.due < due) due = slot.due;
    return due;
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #fire(): void {
    this.#timer = null;
    this.#together(() => this.#turns());
    this.#arm();
  }

  #turns(): number {
    const now = this.#clock.now() + earlyMs;
    for (const slot of this.#slots) {
      if (slot.legs.size === 0 || slot.due > now) continue;
      const behind = Math.floor((now - slot.due) / this.#interval);
      if (behind > this.#maxCatchUp) this.#skip(slot, behind - this.#maxCatchUp);
      for (; slot.due <= now && slot.legs.size > 0; slot.due += this.#interval)
        this.#turn(slot, Math.max(0, now - earlyMs - slot.due));
    }
    return this.#due() - now + earlyMs;
  }

  #turn(slot: Slot, lateMs: number): void {
    for (const leg of slot.legs) {
      try {
        leg.tick(lateMs);
      } catch (error) {
        slot.legs.delete(leg);
        leg.failed(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  #skip(slot: Slot, count: number): void {
    slot.due += count * this.#interval;
    this.#skipped += count * slot.legs.size;
    for (const leg of slot.legs) leg.skip(count);
  }
}
