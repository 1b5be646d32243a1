/**
 * What sounds on a line besides voices: noise or music that the first stage takes for a voice, and Silero does not. Where
 * there is much of it, a voice must be surer; and while Silero does not answer, a voice must be louder than it.
 */

/** The least RMS of a voice, and the factor by which it exceeds the quietest sound of late. */
const quietest = 30;
const aboveFloor = 2.5;
/** Before the first frames, and the share by which the floor rises in a frame: speech must not raise it. */
const firstFloor = 200;
const floorRise = 0.005;
/** The factor by which a voice exceeds the loudest noise of late. */
const abovePeak = 2;
/** Time in which the loudest noise is half forgotten, ms. */
const peakHalfMs = 6000;
/** Time over which noise is counted, and how much of it is much, ms. Speech alone has less: its soft ends. */
const countedMs = 3000;
const muchMs = 400;
/** Time until a line is known, ms: before, it is taken for a noisy one, whose noise may have begun a moment ago. */
const learnsMs = 5000;
/** Probability of a voice below which a sound is none. */
const noVoice = 0.35;

export class LineNoise {
  #floor = firstFloor;
  #peak = 0;
  #noiseMs = 0;
  #knownMs = 0;

  /** RMS of the quietest sound of late. */
  get floor(): number {
    return this.#floor;
  }

  /** A frame of this RMS was received. @returns whether it stands out from the quietest ones of late */
  frame(level: number): boolean {
    const standsOut = level > Math.max(quietest, this.#floor * aboveFloor);
    this.#floor = level < this.#floor ? level : this.#floor + (level - this.#floor) * floorRise;
    return standsOut;
  }

  /**
   * Silero has judged a piece of sound.
   * @param heard whether the first stage takes it for a voice
   */
  judged(ms: number, level: number, heard: boolean, probability: number): void {
    this.#knownMs += ms;
    const isNoise = heard && probability < noVoice;
    this.#noiseMs = this.#noiseMs * Math.exp(-ms / countedMs) + (isNoise ? ms : 0);
    this.#peak *= 0.5 ** (ms / peakHalfMs);
    if (isNoise) this.#peak = Math.max(this.#peak, level);
  }

  /** Whether there is much noise, or may be. */
  get much(): boolean {
    return this.#noiseMs >= muchMs || this.#knownMs < learnsMs;
  }

  /** Whether a sound is louder than all noise of late. */
  isExceeded(level: number): boolean {
    return level > this.#peak * abovePeak;
  }
}

export function rms(frame: Int16Array): number {
  let sum = 0;
  for (let i = 0; i < frame.length; i++) sum += (frame[i] ?? 0) ** 2;
  return Math.sqrt(sum / Math.max(1, frame.length));
}
