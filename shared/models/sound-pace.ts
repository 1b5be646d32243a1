/** Whether the sound of a text comes fast enough: each piece of a server that drips is a sign of life, but no speech. */

/** Waiting for the sound of one text, ms, on top of what its pace allows: less than a call waits for its agent. */
const longestWaitMs = 8_000;
/** Waiting for each millisecond of sound, ms: a server that is slower is heard in scraps. */
const waitPerSound = 4;

export class SoundPace {
  #waitedMs = 0;
  #soundMs = 0;

  /** @returns whether it came in time. @param waitedMs since the piece before, without the time in which nobody asked */
  takes(waitedMs: number, soundMs: number): boolean {
    this.#waitedMs += waitedMs;
    this.#soundMs += soundMs;
    return this.#waitedMs <= longestWaitMs + waitPerSound * this.#soundMs;
  }
}
