/** Handshakes that wait for the next message of their peers. */
import { type Clock, systemClock, type Timer } from '#shared/clock.ts';

/**
 * Peers that have waited for something together go on together, and the second half of a handshake takes up to half a
 * millisecond: so many are one turn of the event loop of some 30 ms at most.
 */
const mostBegun = 64;
/** A handshake takes most peers one round trip. One that takes longer counts no more, so that silent peers hold nobody up. */
const countedMs = 250;

/** Says how many more may begin. */
export class BegunHandshakes {
  readonly #clock: Clock;
  readonly #onRoom: () => void;
  /** When each began, on the clock's elapsed time, in this order; without those that count no more. */
  readonly #begun = new Map<string, number>();
  #timer: Timer | null = null;

  /** @param onRoom called when there is room after there was none */
  constructor(onRoom: () => void, clock: Clock = systemClock) {
    this.#onRoom = onRoom;
    this.#clock = clock;
  }

  get room(): number {
    if (this.#begun.size === 0) return mostBegun;
    const now = this.#clock.elapsed();
    for (const [name, began] of this.#begun) {
      if (now - began < countedMs) break;
      this.#begun.delete(name);
    }
    const room = mostBegun - this.#begun.size;
    if (room > 0) return room;
    const [oldest] = this.#begun.values();
    if (oldest !== undefined)
      this.#timer ??= this.#clock.after(Math.ceil(oldest + countedMs - now), () => this.#tell());
    return room;
  }

  /** @param name of its connection, while it lasts */
  began(name: string): void {
    this.#begun.set(name, this.#clock.elapsed());
  }

  /** It is complete, or its connection has closed. */
  ended(name: string): void {
    if (this.#begun.delete(name) && this.#timer) this.#tell();
  }

  /** The listener closes. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#begun.clear();
  }

  #tell(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#onRoom();
  }
}
