/**
 * How much is read of a server that a customer has named. What it sends costs the thread that reads it time, which
 * belongs to the calls of everybody. Beyond the budget nothing is read for a while: TCP holds the server back, and
 * nothing is lost.
 */
import type { Clock, Timer } from '#shared/clock.ts';

/**
 * Octets at once, and in each second after that. Speech at 24 kHz as base64 is 64,000 in a second, and models make an
 * answer several times faster than it is played: what says that the caller interrupts must not wait behind it.
 */
const burstOctets = 1_048_576;
const octetsPerSecond = 1_048_576;
/** The same of messages. Some servers cut half a minute of speech into messages of 20 ms and send them at once. */
const burstMessages = 2000;
const messagesPerSecond = 500;
/** What a message costs that is received and not looked into, as a part of another's: measured, a tenth. */
const unreadCosts = 0.1;

interface Source {
  pause(): void;
  resume(): void;
}

export class ReadingBudget {
  readonly #clock: Clock;
  readonly #source: Source;
  readonly #held: () => void;
  #octets = burstOctets;
  #messages = burstMessages;
  #countedAt: number;
  #readAt: number;
  #pause: Timer | null = null;
  #over = false;
  #isLooking = false;
  #heldUntil = Number.NEGATIVE_INFINITY;

  /** @param held called each time the server begins to be held back */
  constructor(clock: Clock, source: Source, held: () => void) {
    this.#clock = clock;
    this.#source = source;
    this.#held = held;
    this.#countedAt = clock.elapsed();
    this.#readAt = this.#countedAt;
  }

  /** Whether the server was held back since `at`, on the clock's elapsed time: what it says may be late. */
  heldSince(at: number): boolean {
    return this.#pause !== null || this.#heldUntil >= at;
  }

  /** Whether the server is known to be alive since `at`, on the clock's elapsed time, or may be and is not read. */
  aliveSince(at: number): boolean {
    return this.#pause !== null || this.#readAt > at;
  }

  /** Octets were read. */
  octets(count: number): void {
    this.#readAt = this.#clock.elapsed();
    this.#take(count, 0);
  }

  /** A message was read, or a ping or a pong. */
  message(): void {
    this.#take(0, 1);
  }

  /** The message that came last is not looked into. @param octets its size */
  leftUnread(octets: number): void {
    this.#take(octets * (unreadCosts - 1), unreadCosts - 1);
  }

  /** The connection is closed. */
  end(): void {
    this.#over = true;
    this.#pause?.cancel();
    this.#pause = null;
  }

  #take(octets: number, messages: number): void {
    this.#count(octets, messages);
    this.#look();
  }

  #count(octets: number, messages: number): void {
    const now = this.#clock.elapsed();
    const seconds = (now - this.#countedAt) / 1000;
    this.#countedAt = now;
    this.#octets = Math.min(burstOctets, this.#octets + seconds * octetsPerSecond) - octets;
    this.#messages = Math.min(burstMessages, this.#messages + seconds * messagesPerSecond) - messages;
  }

  /** When all that was received together has been counted: what is left unread of it is known then. */
  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    queueMicrotask(() => {
      this.#isLooking = false;
      this.#holdIfSpent();
    });
  }

  #holdIfSpent(): void {
    if (this.#pause !== null || this.#over || (this.#octets >= 0 && this.#messages >= 0)) return;
    // What had been read already may take more than there was.
    const dueS = Math.max(-this.#octets / octetsPerSecond, -this.#messages / messagesPerSecond);
    this.#source.pause();
    this.#pause = this.#clock.after(Math.ceil(dueS * 1000), () => {
      this.#pause = null;
      this.#heldUntil = this.#clock.elapsed();
      this.#count(0, 0);
      this.#holdIfSpent();
      if (this.#pause === null) this.#source.resume();
    });
    this.#held();
  }
}
