/**
 * The first sound of a word, before it is a voice for Silero: "s", "ch" or "t" last for 100 to 200 ms, and only the vowel
 * after them is one. A cough begins in the same way. So such a sound only suggests that somebody speaks, on a line that is
 * silent otherwise, and the more Silero hears of a voice in it, the shorter and softer it may be, and the sooner in a call.
 *
 *     [ quiet ] --a sound, likely or possible--> [ expecting ] --a voice--> [ quiet ]     after a while without a voice
 *                                                     +--none in time--> [ mistaken ] ----------------------> [ quiet ]
 */
const frameMs = 20;
/** RMS of a sound, of one that is not likely to be a voice, and how far both are above the quietest of late. */
const soft = 120;
const loud = 200;
const aboveFloor = 8;
/** RMS of the quietest sound of a silent line: a telephone in a quiet room is below it. */
const silent = 60;
/** Frames of a sound, and of one that is not likely to be a voice: a click is shorter. */
const framesNeeded = 2;
const loudFramesNeeded = 3;
/**
 * Probability, by Silero, of a sound that may be the first of a word, of one that is likely to be, and of one that is
 * likely to be on a line that is not known yet. Clicks are mostly below the first, coughs below the second, music that
 * begins below the third.
 */
const possible = 0.03;
const likely = 0.1;
const surely = 0.7;
/** Probability of a piece that is a voice, and the time in which it follows, ms. */
const voice = 0.5;
const followsMs = 320;
/** Time after a voice in which a sound is the end of the word, ms. */
const endsMs = 300;
/** Time for which a line must have been heard until it is known, and at the least, ms. */
const learnsMs = 5000;
const beginsMs = 1000;
/** Time for which a line is not relied on after a mistake, ms: twice as long each time. */
const mistakenMs = 20_000;
const doublesToMs = 320_000;

export class FirstSound {
  #heardMs = 0;
  /** Of the sound that lasts: its frames, the loud ones at its end, the floor before it, and what Silero makes of it. */
  #frames = 0;
  #loudFrames = 0;
  #floor = 0;
  #probability: number | null = null;
  /** Whether a voice is expected after it, and whether it was told. */
  #counted = false;
  #told = false;
  /** Since a voice. */
  #sinceVoiceMs = endsMs;
  /** Since the sound that a voice should follow; null: there is none. */
  #expectingMs: number | null = null;
  #mistakenMs = 0;
  #nextMs = mistakenMs;

  /**
   * Takes the next frame.
   * @param hears whether the first stage takes it for a voice
   * @param floor RMS of the quietest sound of late, before this frame: a loud sound raises it
   * @returns whether somebody probably begins to speak with it
   */
  frame(level: number, hears: boolean, floor: number): boolean {
    this.#heardMs += frameMs;
    this.#sinceVoiceMs += frameMs;
    this.#mistakenMs = Math.max(0, this.#mistakenMs - frameMs);
    if (this.#expectingMs !== null) this.#expect(this.#expectingMs + frameMs);
    if (this.#frames === 0) this.#floor = floor;
    if (!hears || level < soft || level < this.#floor * aboveFloor) {
      this.#frames = 0;
      this.#loudFrames = 0;
      this.#probability = null;
      this.#counted = false;
      this.#told = false;
      return false;
    }
    this.#frames++;
    this.#loudFrames = level >= loud ? this.#loudFrames + 1 : 0;
    return this.#begins();
  }

  /** Silero has judged a piece of sound. @returns whether somebody probably begins to speak with it */
  judged(probability: number): boolean {
    if (this.#frames > 0) this.#probability = Math.max(this.#probability ?? 0, probability);
    const begins = this.#begins();
    if (probability < voice) return begins;
    this.#sinceVoiceMs = 0;
    if (this.#expectingMs !== null) this.#nextMs = mistakenMs;
    this.#expectingMs = null;
    return begins;
  }

  #begins(): boolean {
    if (this.#frames < framesNeeded || this.#told || this.#sinceVoiceMs < endsMs) return false;
    // Silero may be late: a loud sound counts without it.
    const probability = this.#probability ?? possible;
    if (!this.#counted) {
      const counts =
        probability >= likely || (probability >= possible && this.#loudFrames >= loudFramesNeeded);
      if (!counts || this.#expectingMs !== null) return false;
      this.#counted = true;
      this.#expectingMs = 0;
    }
    const isKnown = this.#heardMs >= learnsMs || (probability >= surely && this.#heardMs >= beginsMs);
    this.#told = isKnown && this.#floor <= silent && this.#mistakenMs === 0;
    return this.#told;
  }

  #expect(ms: number): void {
    this.#expectingMs = ms;
    if (ms < followsMs) return;
    this.#expectingMs = null;
    this.#mistakenMs = this.#nextMs;
    this.#nextMs = Math.min(doublesToMs, 2 * this.#nextMs);
  }
}
