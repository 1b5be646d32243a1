/**
 * How much of what we send comes back on a line, whether it is known for an echo or not: a line that has been quiet while
 * we spoke has no echo to expect, and a caller who begins softly is noticed on it at once.
 *
 * An echo is there whenever we speak; a caller, less than half of that time. So the median counts.
 */
const frames = 13;
const laterFrames = 20;
/** Energy of a sent frame, for each sample, from which its return is of interest. */
const loud = 100 ** 2;
const stepDb = 3;
const steps = 21;
/** What is sent is compared at its loudest, so that at times an echo seems to be this much weaker than it is, dB. */
const seemsWeakerDb = 6;
/** Weight that a frame keeps when the next one comes: half of it is gone after 7 s of our speech. */
const keep = 0.998;
/** Frames of our speech from which the result counts. */
const enough = 50;
/** A line is never taken for quieter than this: what comes back may be louder for a moment. */
const leastDb = -30;
/** Below this, little comes back, dB; and by how much a sound exceeds what comes back, if it is not a part of it. */
const littleDb = -24;
const exceedsDb = 6;

export class ReturnLevel {
  readonly #samples: number;
  readonly #sent = new Float64Array(frames + laterFrames);
  readonly #received = new Float64Array(frames);
  /** Of frames, by how far what was received is below the loudest that was sent: from 0 dB on. */
  readonly #weights = new Float64Array(steps);
  #total = 0;

  /** @param samples of a frame */
  constructor(samples: number) {
    this.#samples = samples;
  }

  /** @param energy of a frame that was sent */
  sent(energy: number): void {
    this.#sent.copyWithin(0, 1);
    this.#sent[frames + laterFrames - 1] = energy;
  }

  /** @param energy of the frame that was received at the same time */
  received(energy: number): void {
    this.#received.copyWithin(0, 1);
    this.#received[frames - 1] = energy;
    const loudest = this.#loudest();
    if (loudest < loud * frames * this.#samples) return;
    const all = this.#received.reduce((sum, one) => sum + one, 0);
    const belowDb = -10 * Math.log10((all + 1) / loudest);
    const step = Math.max(0, Math.min(steps - 1, Math.floor(belowDb / stepDb)));
    for (let i = 0; i < steps; i++) this.#weights[i] = (this.#weights[i] ?? 0) * keep;
    this.#weights[step] = (this.#weights[step] ?? 0) + 1;
    this.#total = this.#total * keep + 1;
  }

  /** dB of what comes back, relative to what was sent; 0: not known yet. */
  get mostDb(): number {
    return Math.max(leastDb, this.#usualDb());
  }

  /** Whether little comes back on this line, and what was received just now is louder than all of it. */
  get isExceeded(): boolean {
    const usualDb = this.#usualDb();
    if (usualDb > littleDb) return false;
    let most = 0;
    for (let i = 1; i < frames + laterFrames; i++)
      most = Math.max(most, (this.#sent[i] ?? 0) + (this.#sent[i - 1] ?? 0));
    const now = (this.#received[frames - 1] ?? 0) + (this.#received[frames - 2] ?? 0);
    return now > most * 10 ** ((usualDb + exceedsDb) / 10);
  }

  #usualDb(): number {
    if (this.#total < enough) return 0;
    let rest = this.#total / 2;
    for (let i = 0; i < steps; i++) {
      rest -= this.#weights[i] ?? 0;
      if (rest < 0) return seemsWeakerDb - i * stepDb;
    }
    return seemsWeakerDb - steps * stepDb;
  }

  /** The largest energy of a window that can come back now. */
  #loudest(): number {
    let sum = 0;
    let most = 0;
    for (let i = 0; i < frames + laterFrames; i++) {
      sum += (this.#sent[i] ?? 0) - (i >= frames ? (this.#sent[i - frames] ?? 0) : 0);
      if (i >= frames - 1) most = Math.max(most, sum);
    }
    return most;
  }
}
