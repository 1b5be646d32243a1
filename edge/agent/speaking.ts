/** An agent's speech output: synthesizes texts, some ahead of time, plays them in order, and knows what was heard. */
import type { SpokenText } from '#shared/agent/conversation.ts';
import { Pronouncer } from '#shared/agent/pronunciation.ts';
import { joinedPieces, piecesOf, type SpeechOptions, type TextToSpeech } from '#shared/models/speech.ts';
import { Fader } from './ears/fader.ts';
import type { HeldSound } from './ears/interruption.ts';
import { heardPart, wordStart } from './ears/spoken-words.ts';
import { PlayQueue } from './play-queue.ts';
import { Speech } from './voice/speech.ts';

/** Volume while the caller may be speaking: -12 dB. */
const softer = 0.25;
/** Pause after which the word that was cut is said again from its start, ms. */
const forgottenMs = 1000;

/** Length of the speech of one character, ms, for a text whose speech is not complete. */
const characterMs = 65;

/** A text whose speech was queued, and the sample of all that are played at which it starts. */
interface Said {
  readonly text: string;
  readonly pieces: Int16Array[];
  /** Samples of the pieces. */
  length: number;
  /** Whether more pieces are to come, or have failed. */
  growing: boolean;
  /** Samples of the pieces that did not fit. */
  dropped: number;
  readonly from: number;
  readonly cutOff: CutOff;
}

/**
 * Called when a text is cut off: by `stop`, or because not all of its speech is there, and then by `stop`, too, if that
 * comes before the rest was played. @param heard the words that are heard @param told see `stop`
 */
type CutOff = (heard: string, told: boolean) => void;

export class Speaking implements HeldSound {
  readonly #tts: TextToSpeech;
  readonly #options: SpeechOptions;
  readonly #pronouncer: Pronouncer;
  readonly #queue: PlayQueue;
  readonly #fader: Fader;
  #held = false;
  #closed = false;
  /** Texts that are queued or sounding. */
  #said: Said[] = [];
  /** Texts whose synthesis has started and that were not spoken yet. */
  readonly #begun = new Map<string, Speech>();
  /** The one whose pieces are being queued. */
  #current: Speech | null = null;

  /** @param maxSeconds maximum speech queued for playback */
  constructor(
    tts: TextToSpeech,
    options: SpeechOptions,
    maxSeconds: number,
    pronouncer: Pronouncer = new Pronouncer(),
  ) {
    this.#tts = tts;
    this.#pronouncer = pronouncer;
    this.#options = options;
    this.#queue = new PlayQueue(options.sampleRate * maxSeconds);
    this.#fader = new Fader(options.sampleRate);
  }

  /** Whether audio is playing, queued, or still to come of a text that is being said: a gap in it is not its end. */
  get playing(): boolean {
    return this.#queue.playing || this.#current !== null;
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
  begin(text: SpokenText): void {
    this.#of(this.#spoken(text));
  }

  /** Speaks texts that may be needed later. */
  premake(texts: readonly SpokenText[] = []): void {
    if (this.#closed) return;
    for (const text of texts) void this.#tts.premake?.(this.#spoken(text), this.#options);
  }

  /** Forgets what was begun and not said: it belongs to a turn that was stopped. */
  forgetBegun(): void {
    for (const speech of this.#begun.values()) speech.cancel();
    this.#begun.clear();
  }

  /** Resolves when the first sound of a text can be played. @throws what text-to-speech throws */
  async ready(text: SpokenText): Promise<void> {
    await this.#of(this.#spoken(text)).ready();
  }

  /**
   * Appends the speech of a text that is ready, piece by piece; resolves when its last piece is queued, or when it is
   * stopped. Returns how many samples did not fit.
   * @param cutOff called if it is not heard to its end
   * @throws what text-to-speech throws, after the sound before it
   */
  async say(text: SpokenText, cutOff: CutOff): Promise<number> {
    const spoken = this.#spoken(text);
    const speech = this.#of(spoken);
    this.#begun.delete(spoken);
    this.#current = speech;
    const { playedSamples, queuedSamples } = this.#queue;
    this.#said = this.#said.filter((said) => said.from + said.length > playedSamples);
    const said: Said = {
      text: text.text,
      pieces: [],
      length: 0,
      growing: true,
      dropped: 0,
      from: playedSamples + queuedSamples,
      cutOff,
    };
    this.#said.push(said);
    try {
      for await (const piece of speech.pieces()) {
        // Stopped: the rest is not wanted.
        if (this.#current !== speech) break;
        said.pieces.push(piece);
        said.length += piece.length;
        said.dropped += this.#queue.push(piece);
        // Its first sound is not delayed.
        if (said.pieces.length === 1) this.#queue.begin();
      }
      said.growing = false;
      if (said.dropped > 0 && this.#current === speech) this.#cutShort(said);
    } catch (error) {
      // Stopped: it fails because it was cancelled.
      if (this.#current !== speech) return said.dropped;
      this.#cutShort(said);
      throw error;
    } finally {
      if (this.#current === speech) {
        this.#current = null;
        this.#queue.complete();
      }
    }
    return said.dropped;
  }

  /** Its last words will never sound. */
  #cutShort(said: Said): void {
    said.cutOff(this.#heardOf(said, said.from + said.length - said.dropped), true);
  }

  /** The words of a text that have been heard when so many samples of all have been played. */
  #heardOf(said: Said, playedSamples: number): string {
    const played = Math.max(0, playedSamples - said.from);
    return heardPart(said.text, this.#samplesOf(said), played, this.#options.sampleRate);
  }

  /** Resolves when all speech has been played or cut off. */
  played(): Promise<void> {
    return this.#queue.playing ? new Promise((resolve) => this.#queue.mark(resolve)) : Promise.resolve();
  }

  /** Cuts off the current speech. @param told whether the transcript is told what was heard */
  stop(told = false): void {
    const { playedSamples } = this.#queue;
    const said = this.#said;
    const growing = this.#current && said.at(-1);
    this.#said = [];
    this.#held = false;
    this.#fader.to(1);
    this.#current?.cancel();
    this.#current = null;
    this.#queue.clear();
    for (const one of said) {
      const isPlayed = one.from + one.length - one.dropped <= playedSamples;
      if (!isPlayed || one === growing) one.cutOff(this.#heardOf(one, playedSamples), told);
    }
  }

  /** The call is over: nothing is made any more. */
  close(): void {
    this.#closed = true;
    this.stop();
    this.forgetBegun();
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
    const samples = this.#samplesOf(now);
    if (at >= samples.length) return;
    const start = wordStart(now.text, samples, at, this.#options.sampleRate);
    if (start < at) this.#queue.again(samples.slice(start, at));
  }

  /** What is not made yet counts as sound, of a length that is usual for the text. */
  #samplesOf({ text, pieces, length, growing }: Said): Int16Array {
    const usual = (text.length * characterMs * this.#options.sampleRate) / 1000;
    if (!growing || length >= usual) return joinedPieces(pieces);
    return joinedPieces([...pieces, new Int16Array(Math.round(usual - length)).fill(1000)]);
  }

  #spoken({ text, pronunciations, sayDigits }: SpokenText): string {
    return this.#pronouncer.spoken(text, pronunciations, sayDigits);
  }

  #of(text: string): Speech {
    const begun = this.#begun.get(text);
    if (begun) return begun;
    const speech = new Speech((signal) =>
      this.#closed ? nothing() : piecesOf(this.#tts, text, this.#options, signal),
    );
    this.#begun.set(text, speech);
    return speech;
  }
}

async function* nothing(): AsyncGenerator<Int16Array> {}
