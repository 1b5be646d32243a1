/**
 * Detects when the caller speaks and, with speech recognition, what. A pause ends a turn: how long it has to be depends
 * on the words so far. A live transcription tells them; a recognizer of whole utterances is asked in the pause already.
 */
import { pauseFor, pauses } from '#shared/agent/end-of-turn.ts';
import { anyTurn, type TurnPlan } from '#shared/agent/turn-plan.ts';
import type { SpeechToText } from '#shared/models/speech.ts';
import type { Log } from '../call/log.ts';
import { Ear } from './ears/ear.ts';
import type { VoiceDetectors } from './ears/voice-detector.ts';
import {
  type HeardWords,
  noWords,
  type Transcriber,
  type Transcription,
} from './transcription/transcription.ts';
import { Utterance } from './utterance.ts';

/** Pause after which the words so far are asked for, ms: most gaps between words are shorter. */
const aheadMs = 240;
/** Pause that is expected to end the turn up to which the words may be all, ms: after longer ones more is to come. */
const likelyMs = pauses.words;
/** How often that is done in one turn: each time costs a transcription. */
const mostAhead = 3;

export interface SpeechInputEvents {
  /** A sound with which a word may begin. */
  firstSound(): void;
  /** A stretch of the caller's voice begins. */
  begins(): void;
  /** The caller's voice has sounded for `ms`, without long gaps. */
  speaking(ms: number): void;
  /** The stretch is over. */
  paused(): void;
  /** The words of the turn so far; the last ones may still change. */
  wordsSoFar(text: string): void;
  /** In a pause: these words may be the whole turn. */
  mayBeAll(text: string): void;
  /** They were not: the voice goes on. */
  goesOn(): void;
  /** The turn has ended; with speech recognition, its words follow. @param quietMs since the caller's voice */
  finished(quietMs: number): void;
  /** The words of the turn, in spoken order; empty when none were recognized. */
  words(words: HeardWords): void;
  /** The words of a turn are lost or incomplete, because they could not be transcribed; `words` follows. */
  failed(): void;
}

export interface SpeechInputParts {
  readonly voices: VoiceDetectors;
  readonly sampleRate: 8000 | 16000;
  readonly language: string;
  /** null: only when the caller speaks is of interest */
  readonly recognizer: SpeechToText | null;
  /** Tells words while the caller speaks; absent: the recognizer gets whole utterances. */
  readonly transcriber?: Transcriber | undefined;
  /** Names and words that the caller is likely to say. */
  readonly keyTerms: readonly string[];
  readonly log: Log;
}

/** A transcription that was begun in a pause. */
interface Ahead {
  readonly words: Promise<string>;
  /** null: not known yet */
  known: string | null;
}

export class SpeechInput {
  readonly #parts: SpeechInputParts;
  readonly #events: SpeechInputEvents;
  readonly #ear: Ear;
  readonly #utterance: Utterance;
  /** null: there is none */
  readonly #live: Transcription | null;
  /** Words of the turn so far from the live transcription. */
  #soFar: string | null = null;
  /** What the caller is asked for now. */
  plan: TurnPlan = anyTurn;
  /** Of the current pause; null: the voice goes on, or has gone on since. */
  #ahead: Ahead | null = null;
  #asked = 0;
  /** Words of this pause that may be the whole turn, as told; null: none. */
  #told: string | null = null;
  #tail: Promise<void> = Promise.resolve();

  constructor(parts: SpeechInputParts, events: SpeechInputEvents) {
    this.#parts = parts;
    this.#events = events;
    this.#live = this.#transcription();
    this.#utterance = new Utterance(parts.sampleRate, parts.recognizer !== null && this.#live === null);
    this.#ear = new Ear(parts.voices, parts.sampleRate, {
      firstSound: () => events.firstSound(),
      begins: (lateMs) => {
        this.#utterance.begin(lateMs);
        this.#live?.begin(lateMs);
        events.begins();
      },
      voiced: (ms) => {
        this.#ahead = null;
        if (this.#told !== null) events.goesOn();
        this.#told = null;
        events.speaking(ms);
      },
      paused: () => events.paused(),
    });
  }

  /** Rejects when voices cannot be detected. */
  prepare(): Promise<void> {
    return this.#ear.prepare();
  }

  /** Whether the caller's turn has begun and not ended. */
  get speaking(): boolean {
    return this.#ear.spoken;
  }

  write(frame: Int16Array): void {
    const begun = this.#ear.spoken;
    this.#utterance.append(frame);
    this.#live?.write(frame);
    this.#ear.write(frame);
    if (!begun) return;
    const { quietMs } = this.#ear;
    const words = this.#soFar ?? this.#ahead?.known ?? null;
    const pauseMs = pauseFor(words, this.plan);
    if (quietMs >= pauseMs || this.#utterance.full(frame.length)) this.#finish();
    else if (quietMs >= aheadMs) {
      this.#askAhead();
      if (words && words !== this.#told && pauseMs <= likelyMs) this.#mayBeAll(words);
    }
  }

  /** Takes what is sent to the caller; null: silence. */
  sent(frame: Int16Array | null): void {
    this.#ear.sent(frame);
  }

  /** Ends the turn of a caller who is still speaking. */
  end(): void {
    if (this.#ear.spoken) this.#finish();
  }

  close(): void {
    this.#ear.close();
    this.#live?.close();
  }

  #transcription(): Transcription | null {
    const { sampleRate, language, keyTerms, transcriber } = this.#parts;
    const opened = transcriber?.open(
      { sampleRate, language, keyTerms },
      {
        partial: ({ text }) => {
          this.#soFar = text;
          this.#events.wordsSoFar(text);
        },
        final: (words) => this.#events.words(words),
        turn: (signal) => {
          if (signal === 'ended' && this.#isOver()) this.#finish();
        },
        failed: (error) => this.#failed(error),
      },
    );
    return opened ?? null;
  }

  /** Whether the provider's opinion that the turn has ended is followed. */
  #isOver(): boolean {
    if (this.#soFar === null) return false;
    // Words that the ear has missed; digits and pauses that the author has set are ours to judge.
    if (!this.#ear.spoken) return true;
    return this.#ear.quietMs > 0 && this.plan.expects !== 'digits' && this.plan.pauseMs === null;
  }

  #mayBeAll(words: string): void {
    if (this.#told !== null) this.#events.goesOn();
    this.#told = words;
    this.#events.mayBeAll(words);
  }

  #askAhead(): void {
    const { recognizer } = this.#parts;
    if (this.#ahead || this.#live || !recognizer || this.#asked >= mostAhead) return;
    this.#asked++;
    const ahead: Ahead = { words: this.#transcribe(recognizer, this.#utterance.soFar()), known: null };
    this.#ahead = ahead;
    ahead.words.then(
      (words) => {
        ahead.known = words;
        if (this.#ahead === ahead && words !== '') this.#events.wordsSoFar(words);
      },
      // Reported when the turn has ended.
      () => undefined,
    );
  }

  #finish(): void {
    const { recognizer } = this.#parts;
    const samples = this.#utterance.take();
    const { quietMs } = this.#ear;
    const ahead = this.#ahead;
    this.#ahead = null;
    this.#asked = 0;
    this.#soFar = null;
    this.#told = null;
    this.#ear.forget();
    this.#events.finished(quietMs);
    this.#live?.end();
    if (this.#live || !recognizer) return;
    const asked = ahead?.words ?? this.#transcribe(recognizer, samples);
    this.#tail = Promise.allSettled([asked, this.#tail]).then(([words]) => {
      if (words.status === 'rejected') this.#failed(words.reason);
      this.#events.words({ ...noWords, text: words.status === 'fulfilled' ? words.value : '' });
    });
  }

  #failed(error: unknown): void {
    this.#parts.log.warn({ err: error }, 'what the caller said could not be transcribed');
    this.#events.failed();
  }

  #transcribe(recognizer: SpeechToText, samples: Int16Array): Promise<string> {
    const { sampleRate, language, keyTerms } = this.#parts;
    return recognizer.transcribe(samples, { sampleRate, language, keyTerms });
  }
}
