/** An agent's speech output: synthesizes texts, some ahead of time, plays them in order, and knows what was heard. */
import type { SpeechOptions, TextToSpeech } from '#shared/models/speech.ts';
import { Fader } from './ears/fader.ts';
import type { HeldSound } from './ears/interruption.ts';
import { heardPart, wordStart } from './ears/spoken-words.ts';
import { PlayQueue } from './play-queue.ts';

/** Volume while the caller may be speaking: -12 dB. */
const softer = 0.25;
/** Pause after which the word that was cut is said again from its start, ms. */
const forgottenMs = 1000;

/** A text whose speech was queued, and the sample of all that are played at which it starts. */
interface Said {
  readonly text: string;
  readonly samples: Int16Array;
  readonly from: number;
  /** Called once when it is cut off, with the words that were heard. */
  readonly cutOff: (heard: string) => void;
}

export class Speaking implements HeldSound {
  readonly #tts: TextToSpeech;
  readonly #options: SpeechOptions;
  readonly #queue: PlayQueue;
  readonly #fader: Fader;
  #held = false;
  /** Texts that are queued or sounding. */
  #said: Said[] = [];
  /** Texts whose synthesis has started and that were not spoken yet. */
  readonly #begun = new Map<string, Promise<Int16Array>>();

  /** @param maxSeconds maximum speech queued for playback */
  constructor(tts: TextToSpeech, options: SpeechOptions, maxSeconds: number) {
    this.#tts = tts;
    this.#options = options;
    this.#queue = new PlayQueue(options.sampleRate * maxSeconds);
    this.#fader = new Fader(options.sampleRate);
  }

  /** Whether audio is playing or queued. */
  get playing(): boolean {
    return this.#queue.playing;
  }

  /** ms of audio not yet played. */
  get leftMs(): number {
    return (1000 * this.#queue.queuedSamples) / this.#options.sampleRate;
  }

  read(frame: Int16Array): boolean {
    if (this.#held) return false;
    const sounds = this.#queue.read(frame);
    if (sounds) this.#fader.apply(frame);
    return sounds;
  }

  /** Starts a synthesis ahead of time. */
  begin(text: string): void {
    this.#of(text).catch(() => undefined);
  }

  /** Forgets what was begun and not taken: it belongs to a turn that was stopped. */
  forgetBegun(): void {
    this.#begun.clear();
  }

  /** The speech of a text, once; uses a synthesis already started. @throws what text-to-speech throws */
  async take(text: string): Promise<Int16Array> {
    try {
      return await this.#of(text);
    } finally {
      this.#begun.delete(text);
    }
  }

  /** Resolves when the speech of a text is ready to be taken. @throws what text-to-speech throws */
  async ready(text: string): Promise<void> {
    await this.#of(text);
  }

  /**
   * Appends speech. Returns how many samples did not fit.
   * @param cutOff called once if it is stopped before its end, with the words that were heard
   */
  push(text: string, samples: Int16Array, cutOff: (heard: string) => void): number {
    const { playedSamples, queuedSamples } = this.#queue;
    this.#said = this.#said.filter((said) => said.from + said.samples.length > playedSamples);
    this.#said.push({ text, samples, from: playedSamples + queuedSamples, cutOff });
    return this.#queue.push(samples);
  }

  /** Resolves when all speech has been played or cut off. */
  played(): Promise<void> {
    return this.#queue.playing ? new Promise((resolve) => this.#queue.mark(resolve)) : Promise.resolve();
  }

  /** Cuts off the current speech. */
  stop(): void {
    const { playedSamples } = this.#queue;
    const said = this.#said;
    this.#said = [];
    this.#held = false;
    this.#fader.to(1);
    this.#queue.clear();
    for (const { text, samples, from, cutOff } of said) {
      if (from + samples.length <= playedSamples) continue;
      cutOff(heardPart(text, samples, Math.max(0, playedSamples - from), this.#options.sampleRate));
    }
  }

  hold(): void {
    this.#held = true;
  }

  resume(heldMs: number): void {
    this.#held = false;
    if (heldMs >= forgottenMs) this.#repeatWord();
    this.#fader.from(0);
  }

  lower(): void {
    this.#fader.to(softer);
  }

  raise(): void {
    this.#fader.to(1);
  }

  /** Goes back to the start of the word that is being said. */
  #repeatWord(): void {
    const { playedSamples } = this.#queue;
    const now = this.#said.findLast(({ from }) => from <= playedSamples);
    if (!now) return;
    const at = playedSamples - now.from;
    if (at < now.samples.length)
      this.#queue.goBack(at - wordStart(now.text, now.samples, at, this.#options.sampleRate));
  }

  #of(text: string): Promise<Int16Array> {
    const begun = this.#begun.get(text);
    if (begun) return begun;
    const speech = this.#tts.synthesize(text, this.#options);
    this.#begun.set(text, speech);
    return speech;
  }
}
