/**
 * Tells of each 20 ms of the agent's sound whether its voice is in it: by the detector of the agents' ears, and at the
 * ends of a word by its loudness, which shows them to the frame.
 *
 *     written --> [ waiting ] --judged--> voice, or none, in the order of the sound
 *                  |  loud frames without a voice wait for what follows: a short stretch right before or after a voice
 *                  |  belongs to it, such as the "s" of "six", a long one is noise
 *                  +- moments of the caller between the frames wait with them
 */
import { Activity } from '../ears/activity.ts';
import { LineNoise, rms } from '../ears/line-noise.ts';
import type { Judged, VoiceDetector, VoiceDetectors } from '../ears/voice-detector.ts';

const frameMs = 20;
const sampleRate = 8000;
/** Least RMS of a frame in the midst of a voice, and of one at its ends; a codec's idle noise is far below both. */
const quietest = 30;
const loudFrom = 200;
/** From so many loud frames on a stretch before or after a voice is noise: a sound at the end of a word is shorter. */
const edgeFrames = 11;
/** Detectors judge within a second. Frames this old have none, because no sound follows them, ms. */
const overdueMs = 1500;

interface Frame {
  readonly number: number;
  /** its end, ms */
  readonly at: number;
  readonly audible: boolean;
  readonly loud: boolean;
  /** null: not judged yet */
  voice: boolean | null;
  /** What happened after it. */
  readonly moments: (() => void)[];
}

export class AgentVoice {
  readonly #voices: VoiceDetectors;
  readonly #told: (voice: boolean, at: number) => void;
  readonly #activity: Activity;
  readonly #noise = new LineNoise();
  #detector: VoiceDetector | null = null;
  #written = 0;
  readonly #waiting: Frame[] = [];
  /** Of the last frame that was told: a voice, and a loud stretch that is none. */
  #wasVoice = false;
  #wasNoise = false;
  #closed = false;

  /** @param told called for each frame, in order. @param at its end, ms */
  constructor(voices: VoiceDetectors, told: (voice: boolean, at: number) => void) {
    this.#voices = voices;
    this.#activity = new Activity(voices.limits);
    this.#told = told;
  }

  /** Loads the detector. Rejects when that fails. */
  async prepare(): Promise<void> {
    await this.#voices.load();
    if (this.#closed) return;
    this.#detector ??= this.#voices.create(sampleRate, (...judged) => this.#judged(...judged));
  }

  /** Takes 20 ms at 8 kHz that end at `at`. */
  write(frame: Int16Array, at: number): void {
    if (!this.#detector) return;
    const level = rms(frame);
    const loud = this.#noise.frame(level) && level >= loudFrom;
    const number = ++this.#written;
    this.#waiting.push({ number, at, audible: level >= quietest, loud, voice: null, moments: [] });
    this.#detector.write(frame);
    this.#tell();
  }

  /** Calls `happened` between the frames so far and those that follow. */
  moment(happened: () => void): void {
    const last = this.#waiting.at(-1);
    if (last) last.moments.push(happened);
    else happened();
  }

  /** The time up to which all is told. @param now ms */
  knownTo(now: number): number {
    while (this.#waiting[0] && now - this.#waiting[0].at >= overdueMs) this.#tellFirst(false);
    const [first] = this.#waiting;
    return first ? first.at - frameMs : now;
  }

  /** Tells what waits, judged or not. No frame is taken from then on. */
  close(): void {
    this.#closed = true;
    this.#detector?.close();
    this.#detector = null;
    for (const frame of this.#waiting) frame.voice ??= this.#speaks && frame.audible;
    this.#tell();
    while (this.#waiting.length > 0) this.#tellFirst(this.#wasVoice);
  }

  get #speaks(): boolean {
    return this.#activity.voice && this.#activity.quietMs === 0;
  }

  #judged(...[ms, probability, since, noisy]: Parameters<Judged>): void {
    const to = this.#written - since;
    this.#activity.take(ms, probability, noisy);
    const voice = this.#speaks;
    for (const frame of this.#waiting) {
      if (frame.number <= to) frame.voice ??= voice && frame.audible;
      // The gate may open late: the pieces before were taken for silence then.
      if (frame.number === to) frame.voice ||= voice && frame.audible;
    }
    this.#tell();
  }

  #tell(): void {
    for (let [first] = this.#waiting; first; [first] = this.#waiting) {
      if (first.voice === null) return;
      if (first.voice || !first.loud || this.#wasNoise) this.#tellFirst(first.voice);
      else if (!this.#tellLoud()) return;
    }
  }

  /** Tells the loud stretch without a voice that waits first. @returns whether it is known what it is */
  #tellLoud(): boolean {
    const end = this.#waiting.findIndex(({ loud, voice }) => voice !== false || !loud);
    const length = end < 0 ? this.#waiting.length : end;
    const follows = this.#waiting[length]?.voice ?? null;
    const isLong = length >= edgeFrames;
    if (follows === null && !isLong) return false;
    const belongs = !isLong && (follows === true || this.#wasVoice);
    for (let left = length; left > 0; left--) this.#tellFirst(belongs);
    this.#wasNoise = isLong;
    return true;
  }

  #tellFirst(voice: boolean): void {
    const frame = this.#waiting.shift();
    if (!frame) return;
    this.#wasVoice = voice;
    this.#wasNoise &&= frame.loud && !voice;
    this.#told(voice, frame.at);
    for (const happened of frame.moments) happened();
  }
}
