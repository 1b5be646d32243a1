/**
 * An agent's input: turns key presses and words of the caller into one event at a time, and buffers input while the
 * agent is not listening: the words of several turns then are one event.
 *
 *     [ greeting ] --the peer has greeted, a key, or silence--> [ idle ] <--event-- [ listening ]
 *                                                                  +----- listen ----->+
 */
import type { Action, ConversationEvent } from '#shared/agent/conversation.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import type { SpeechToText } from '#shared/models/speech.ts';
import type { Log } from '../call/log.ts';
import { isBackChannel, takesTurn } from './ears/back-channels.ts';
import { type HeldSound, Interruption } from './ears/interruption.ts';
import type { VoiceDetectors } from './ears/voice-detector.ts';
import { Listening } from './listening.ts';
import { SpeechInput } from './speech-input.ts';
import { type HeardWords, joined, noWords, type Transcriber } from './transcription/transcription.ts';
import type { TurnTimes } from './turn-times.ts';

type Listen = Extract<Action, { type: 'listen' }>;

export interface HearingParts {
  readonly voices: VoiceDetectors;
  /** null: only keys are recognized */
  readonly stt: SpeechToText | null;
  /** Tells words while the caller speaks; absent: `stt` gets whole utterances. */
  readonly transcriber?: Transcriber | undefined;
  /** Names and words that the caller is likely to say. */
  readonly keyTerms: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly sampleRate: 8000 | 16000;
  readonly language: string;
  /** ms of caller speech that interrupt the agent, unless a node overrides it */
  readonly interruptionThreshold: number;
  readonly waitForGreeting: boolean;
  /** The agent's own speech. */
  readonly sound: HeldSound & { readonly leftMs: number };
  /** Told when the caller speaks, and when its words are known; absent: nobody wants to know. */
  readonly times?: TurnTimes | undefined;
  /** Whether the caller may interrupt now. */
  readonly interruptible: () => boolean;
  /** The caller interrupts. */
  readonly interrupt: (by: string) => void;
  /** Words from the caller that answer no question. */
  readonly greeting: (words: HeardWords) => void;
  /** The caller has paused after these words, which may be its whole turn. */
  readonly mayBeAll: (words: string) => void;
  /** They were not. */
  readonly goesOn: () => void;
  /** Words of the caller could not be transcribed: once until some can be again. */
  readonly deaf: () => void;
}

/** Keys buffered while the agent is not listening. */
const maxTypedAhead = 64;
/**
 * ms of voice for which the words decide, where they are known while the caller speaks: "okay, I see" lasts longer than
 * "stop". The agent is silent meanwhile, so that the caller hears nothing of the wait.
 */
const wordsDecideMs = 700;
/** ms of the agent's speech left from which "mhm" means that the caller listens; before its end it is an answer. */
const listenedToMs = 1000;

export class Hearing {
  /** Present only when the caller's voice is needed, so that nothing is decoded otherwise. */
  readonly write?: (frame: Int16Array) => void;
  readonly #parts: HearingParts;
  readonly #interruption: Interruption;
  #listening: Listening | null = null;
  #interruptionThreshold: number;
  /** Keys and words received while the agent was not listening. */
  #typed: string[] = [];
  #spoken: HeardWords = noWords;
  /** Set while the caller may speak first. */
  #greeted: (() => void) | null = null;
  /** Utterances of the greeting that are still being transcribed. */
  #greetings = 0;
  /** Turns whose words are still to come, and are not wanted any more. */
  #forgotten = 0;
  /** Whether the caller's turn began in the midst of the agent's speech; null: it has not begun. */
  #amidst: boolean | null = null;
  /** The same of turns that are being transcribed. */
  readonly #wereAmidst: boolean[] = [];
  #input: SpeechInput | null = null;
  /** Whether the words that come next are lost or incomplete, and whether it was told that all are lost. */
  #failed = false;
  #deaf = false;
  #timer: Timer | null = null;
  #closed = false;

  constructor(parts: HearingParts) {
    const { stt, waitForGreeting, sound, clock, interruptible, interrupt } = parts;
    this.#parts = parts;
    this.#interruptionThreshold = parts.interruptionThreshold;
    this.#interruption = new Interruption({
      sound,
      clock,
      allowed: () => !this.#closed && this.#greeted === null && interruptible(),
      cut: interrupt,
      partialWords: parts.transcriber !== undefined,
    });
    if (stt || waitForGreeting) {
      const input = new SpeechInput({ ...parts, recognizer: stt }, this.#speechEvents());
      this.write = (frame) => input.write(frame);
      this.#input = input;
    }
  }

  /** Rejects when voices cannot be detected. */
  async prepare(): Promise<void> {
    await this.#input?.prepare();
  }

  /** Takes what is sent to the caller; null: silence. */
  sent(frame: Int16Array | null): void {
    if (frame === null && this.#interruption.suspected && !this.#parts.sound.playing)
      this.#interruption.played();
    this.#input?.sent(frame);
  }

  key(digit: string): void {
    const greeting = this.#greeted !== null;
    this.#endGreeting();
    if (!greeting) this.#interruption.key();
    if (this.#listening && !this.#listening.done) this.#listening.key(digit);
    else if (this.#typed.length < maxTypedAhead) this.#typed.push(digit);
  }

  /** The caller's next event; null when the call is over. @param quiet resolves when the agent has finished speaking */
  listen(action: Listen, quiet: Promise<void>): Promise<ConversationEvent | null> {
    this.#interruptionThreshold = action.interruptionThreshold ?? this.#parts.interruptionThreshold;
    if (this.#input) this.#input.plan = action.turn;
    const listening = new Listening(action.keys, action.timeoutMs, this.#parts.clock);
    this.#listening = listening;
    if (this.#closed) listening.close();
    this.#tellSpoken();
    while (this.#typed.length > 0 && !listening.done) listening.key(this.#typed.shift() ?? '');
    quiet.then(() => listening.quiet());
    return listening.result;
  }

  /** The words of the last event, as the transcription told them; null: it was none of words. */
  get lastWords(): HeardWords | null {
    return this.#listening?.words ?? null;
  }

  /** From now on the caller is heard by a model: the turn so far ends. */
  handOver(): void {
    this.#input?.end();
  }

  /** Discards buffered keys, and words of turns that are over. */
  forget(): void {
    this.#typed = [];
    this.#spoken = noWords;
    this.#greetings = 0;
    this.#forgotten = this.#wereAmidst.length;
    this.#parts.times?.forget();
  }

  /** Lets the peer speak first: for `waitMs`, or until its greeting ends once it has begun. */
  async greet(waitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#greeted = resolve;
      this.#timer = this.#parts.clock.after(waitMs, () => {
        if (!this.#input?.speaking) this.#endGreeting();
      });
    });
  }

  close(): void {
    this.#closed = true;
    this.#interruption.played();
    this.#input?.close();
    this.#listening?.close();
    this.#endGreeting();
  }

  #speechEvents() {
    const { stt, sound, times } = this.#parts;
    return {
      firstSound: () => {
        if (stt) this.#interruption.firstSound();
      },
      begins: () => {
        times?.voice();
        this.#amidst ??= sound.playing && sound.leftMs >= listenedToMs;
        if (stt) this.#interruption.voice();
      },
      speaking: (ms: number) => {
        this.#listening?.busy();
        if (stt && ms >= this.#longVoiceMs) this.#interruption.longVoice();
      },
      paused: () => this.#interruption.pause(),
      wordsSoFar: (text: string) => {
        if (this.#amidst && takesTurn(text, this.#parts.language)) this.#interruption.word();
      },
      mayBeAll: (text: string) => {
        const answers = this.#listening?.done === false && this.#greeted === null && !sound.playing;
        if (answers) this.#parts.mayBeAll(text);
      },
      goesOn: () => this.#parts.goesOn(),
      failed: () => {
        this.#failed = true;
      },
      finished: (quietMs: number) => {
        times?.over(quietMs, this.#hasWords);
        if (this.#hasWords) this.#wereAmidst.push(this.#amidst === true);
        this.#amidst = null;
        if (this.#greeted && this.#hasWords) this.#greetings++;
        this.#endGreeting();
        if (!stt) this.#quiet();
      },
      words: (words: HeardWords) => {
        times?.words(words.text === '');
        this.#tellDeafness(words);
        const amidst = this.#wereAmidst.shift() === true;
        if (this.#closed) return;
        if (this.#forgotten > 0) this.#forgotten--;
        else this.#words(words, amidst);
        this.#tellSpoken();
      },
    };
  }

  #tellDeafness({ text }: HeardWords): void {
    const isLost = this.#failed && text === '';
    this.#failed = false;
    if (text !== '') this.#deaf = false;
    if (!isLost || this.#deaf || this.#closed) return;
    this.#deaf = true;
    this.#parts.deaf();
  }

  /** Whether the words of each turn follow its end. */
  get #hasWords(): boolean {
    return this.#parts.stt !== null || this.#parts.transcriber !== undefined;
  }

  /** ms of voice that interrupt, whatever the words are. 0: each voice does. */
  get #longVoiceMs(): number {
    const wait = this.#parts.transcriber && this.#interruptionThreshold > 0 ? wordsDecideMs : 0;
    return this.#interruptionThreshold + wait;
  }

  #words(words: HeardWords, amidstSpeech: boolean): void {
    const { text } = words;
    if (this.#greetings > 0) {
      this.#greetings--;
      if (text !== '') this.#parts.greeting(words);
      return;
    }
    const listens = amidstSpeech && this.#parts.sound.playing && isBackChannel(text, this.#parts.language);
    if (text === '' || listens) this.#quiet();
    else {
      if (amidstSpeech) this.#interruption.word();
      this.#parts.times?.asks(this.#spoken.text !== '');
      const all = joined(this.#spoken, words);
      this.#spoken = noWords;
      if (this.#listening && !this.#listening.done) this.#listening.heard(all);
      else this.#spoken = all;
    }
  }

  /** Words from before the agent listened; those of a caller who is still speaking are answered with what follows. */
  #tellSpoken(): void {
    const said = this.#spoken;
    const isGoingOn = this.#hasWords && (this.#input?.speaking || this.#wereAmidst.length > 0);
    if (said.text === '' || isGoingOn || !this.#listening || this.#listening.done) return;
    this.#spoken = noWords;
    this.#listening.heard(said);
  }

  /** Nobody speaks. While the agent does, it is `listen` that waits for the silence after it. */
  #quiet(): void {
    if (!this.#parts.sound.playing) this.#listening?.quiet();
  }

  #endGreeting(): void {
    const greeted = this.#greeted;
    this.#greeted = null;
    this.#timer?.cancel();
    greeted?.();
  }
}
