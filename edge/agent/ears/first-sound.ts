/**
 * The first sound of a word, before it has a voice: "s", "ch" or "t" last for 100 to 200 ms, and only the vowel after them
 * is a voice for Silero. A cough begins in the same way. So such a sound only suggests that somebody speaks, and only on
 * a line where it can be relied on: one that is silent otherwise, and on which these sounds were followed by a voice.
 *
 *     [ quiet ] --two loud frames--> [ expecting ] --a voice--> [ quiet ]     after a while without a voice
 *                                         +--none in time--> [ mistaken ] --------------------------> [ quiet ]
 */
const frameMs = 20;
/** RMS of a first sound, and how far it is above the quietest of late. */
const loud = 300;
const aboveFloor = 8;
/** RMS of the quietest sound of a silent line: a telephone in a quiet room is below it. */
const silent = 60;
const framesNeeded = 2;
/** Probability of a piece that is a voice, and the time in which it follows, ms. */
const voice = 0.5;
const followsMs = 320;
/** Time after a voice in which a sound is the end of the word, ms. */
const endsMs = 300;
/** Time for which a line must have been heard, and for which one is not relied on after a mistake, ms: twice as long each time. */
const learnsMs = 5000;
const mistakenMs = 20_000;
const doublesToMs = 320_000;

export class FirstSound {
  #heardMs = 0;
  #frames = 0;
  /** Since a voice. */
  #sinceVoiceMs = endsMs;
  /** Since the sound that a voice should follow; null: there is none. */
  #expectingMs: number | null = null;
  #mistakenMs = 0;
  #nextMs = mistakenMs;

  /**
   * Takes the next frame.
   * @param hears whether the first stage takes it for a voice
   * @param floor RMS of the quietest sound of late
   * @returns whether somebody probably begins to speak with it
   */
  frame(level: number, hears: boolean, floor: number): boolean {
    this.#heardMs += frameMs;
    this.#sinceVoiceMs += frameMs;
    this.#mistakenMs = Math.max(0, this.#mistakenMs - frameMs);
    if (this.#expectingMs !== null) this.#expect(this.#expectingMs + frameMs);
    const counts = hears && level >= loud && level >= floor * aboveFloor;
    this.#frames = counts ? this.#frames + 1 : 0;
    if (this.#frames !== framesNeeded || this.#sinceVoiceMs < endsMs || this.#expectingMs !== null)
      return false;
    this.#expectingMs = 0;
    return floor <= silent && this.#heardMs >= learnsMs && this.#mistakenMs === 0;
  }

  /** Silero has judged a piece of sound. */
  judged(probability: number): void {
    if (probability < voice) return;
    this.#sinceVoiceMs = 0;
    if (this.#expectingMs !== null) this.#nextMs = mistakenMs;
    this.#expectingMs = null;
  }

  #expect(ms: number): void {
    this.#expectingMs = ms;
    if (ms < followsMs) return;
    this.#expectingMs = null;
    this.#mistakenMs = this.#nextMs;
    this.#nextMs = Math.min(doublesToMs, 2 * this.#nextMs);
  }
}
