/**
 * Brings what recordings wrote to the disk, so that also a loss of power takes little: a moment after a write, all files
 * that were written since, one after the other. So all recordings of a thread together use one place of the thread pool,
 * and on a slow disk the syncs become fewer instead of more.
 */
import type { Clock } from '#shared/clock.ts';

/** How long writes are gathered, ms. */
const gatherMs = 250;

export interface Unsynced {
  /** Never rejects. */
  sync(): Promise<void>;
}

export class DiskSync {
  readonly #clock: Clock;
  #waiting = new Set<Unsynced>();
  #underWay = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something was written that is not on the disk yet. */
  written(file: Unsynced): void {
    this.#waiting.add(file);
    if (this.#underWay) return;
    this.#underWay = true;
    this.#gather();
  }

  #gather(): void {
    this.#clock.after(gatherMs, () => void this.#sync());
  }

  async #sync(): Promise<void> {
    const files = this.#waiting;
    this.#waiting = new Set();
    for (const file of files) await file.sync();
    this.#underWay = this.#waiting.size > 0;
    if (this.#underWay) this.#gather();
  }
}
