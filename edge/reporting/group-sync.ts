import type { Clock, Timer } from '#shared/clock.ts';
import type { Outbox } from './outbox.ts';

/**
 * How long reports are gathered before they are synced, ms: a sync costs the processor about as much as the reports of
 * a call, so there are at most fifty of them in a second.
 */
const gatherMs = 20;

/** Syncs the outbox a moment after a report, for all reports of that moment together. */
export class GroupSync {
  readonly #clock: Clock;
  readonly #outbox: Outbox;
  readonly #done: () => void;
  #timer: Timer | null = null;

  /** @param done called after each sync */
  constructor(clock: Clock, outbox: Outbox, done: () => void) {
    this.#clock = clock;
    this.#outbox = outbox;
    this.#done = done;
  }

  /** Something was appended. */
  appended(): void {
    this.#timer ??= this.#clock.after(gatherMs, () => {
      this.#timer = null;
      void this.now();
    });
  }

  async now(): Promise<void> {
    await this.#outbox.sync();
    this.#done();
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }
}
