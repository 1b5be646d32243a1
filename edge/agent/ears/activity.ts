/**
 * When a caller speaks, from judgements of short pieces of sound. Pure: pieces in, moments out.
 *
 *     [ quiet ] --enough of the last pieces are voice--> [ voice ] --a long gap--> [ quiet ]
 *
 * What is said in one turn may be several stretches of voice; whoever ends the turn calls `forget`.
 */
export interface ActivityLimits {
  /** pieces looked at for the start of a voice, and how many of them must be voice */
  readonly window: number;
  readonly needed: number;
  /** probability of a voice that starts it, and that keeps it going */
  readonly starts: number;
  readonly stays: number;
  /** probability at which a single piece starts a voice */
  readonly sure: number;
  /** The same where much else sounds. */
  readonly noisy: { readonly starts: number; readonly sure: number };
  /** longest gap within a stretch of voice, ms */
  readonly gapMs: number;
}

/** For pieces of 20 ms with a plain yes or no. */
export const frameLimits: ActivityLimits = {
  window: 4,
  needed: 3,
  starts: 0.5,
  stays: 0.35,
  // A plain yes is never that sure.
  sure: 2,
  noisy: { starts: 0.5, sure: 2 },
  gapMs: 240,
};

/** For chunks of 32 ms with a probability. */
export const chunkLimits: ActivityLimits = {
  window: 3,
  needed: 2,
  starts: 0.4,
  stays: 0.35,
  // Recorded words are noticed 20 to 60 ms sooner than by two chunks of 0.5.
  sure: 0.5,
  // Music may sound like a voice for a chunk or two.
  noisy: { starts: 0.7, sure: 0.95 },
  gapMs: 240,
};

export class Activity {
  readonly #limits: ActivityLimits;
  /** The last pieces, newest in the lowest bit. */
  #recent = 0;
  #voice = false;
  #spoken = false;
  #voicedMs = 0;
  #quietMs = 0;

  constructor(limits: ActivityLimits) {
    this.#limits = limits;
  }

  /** Whether a voice sounds, short gaps included. */
  get voice(): boolean {
    return this.#voice;
  }

  /** Whether there was a voice since `forget`. */
  get spoken(): boolean {
    return this.#spoken;
  }

  /** ms of voice in the current or last stretch, without its gaps. */
  get voicedMs(): number {
    return this.#voicedMs;
  }

  /** ms since the last voice; 0 while it sounds and when there was none. */
  get quietMs(): number {
    return this.#quietMs;
  }

  /**
   * Takes the judgement of the next piece.
   * @param noisy whether much else sounds
   * @returns whether a stretch of voice begins with it
   */
  take(ms: number, probability: number, noisy = false): boolean {
    const { window, needed, stays, gapMs } = this.#limits;
    const { starts, sure } = noisy ? this.#limits.noisy : this.#limits;
    if (this.#voice) {
      if (probability >= stays) {
        this.#voicedMs += ms;
        this.#quietMs = 0;
      } else {
        this.#quietMs += ms;
        this.#voice = this.#quietMs <= gapMs;
      }
      return false;
    }
    this.#recent = ((this.#recent << 1) | (probability >= starts ? 1 : 0)) & (2 ** window - 1);
    const voiced = ones(this.#recent);
    if (voiced < needed && probability < sure) {
      if (this.#spoken) this.#quietMs += ms;
      return false;
    }
    this.#recent = 0;
    this.#voice = true;
    this.#spoken = true;
    this.#voicedMs = voiced * ms;
    this.#quietMs = 0;
    return true;
  }

  /** The turn is over. */
  forget(): void {
    this.#voice = false;
    this.#spoken = false;
    this.#recent = 0;
    this.#voicedMs = 0;
    this.#quietMs = 0;
  }
}

function ones(bits: number): number {
  let count = 0;
  for (let rest = bits; rest > 0; rest >>= 1) count += rest & 1;
  return count;
}
