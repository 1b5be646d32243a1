/**
 * Whether it is quieter after words than it was with them: parts of music sound like a voice, but what follows them is as
 * loud. Takes 20 ms frames.
 */

/** Least level of what follows, as a share of that of the words: noise 5 dB below them has about 0.5, music about 1. */
const asLoud = 0.75;
/** Time after a word in which it ends softly, ms. */
const endsMs = 200;

export class AfterWords {
  #words = { power: 0, frames: 0 };
  #after = { power: 0, frames: 0 };

  /** Whether the sound goes on as loud as the words were. */
  get goesOn(): boolean {
    const { frames } = this.#after;
    return frames > 0 && levelOf(this.#after) >= asLoud * levelOf(this.#words);
  }

  /**
   * @param level RMS of the frame
   * @param voiceMs of voice so far; 0: no words
   * @param quietMs since the last voice
   */
  write(level: number, voiceMs: number, quietMs: number): void {
    if (voiceMs === 0) this.#words = { power: 0, frames: 0 };
    else if (quietMs === 0) add(this.#words, level);
    if (quietMs === 0) this.#after = { power: 0, frames: 0 };
    else if (quietMs >= endsMs) add(this.#after, level);
  }
}

interface Sum {
  power: number;
  frames: number;
}

function add(sum: Sum, level: number): void {
  sum.power += level * level;
  sum.frames++;
}

function levelOf({ power, frames }: Sum): number {
  return Math.sqrt(power / Math.max(1, frames));
}
