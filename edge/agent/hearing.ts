/**
 * An agent's ear and keyboard: turns what the caller presses and says into one event at a time, and keeps what comes
 * while nobody listens.
 *
 *     [ greeting ] --the other side has greeted, a key, or nobody speaks--> [ idle ] <--event-- [ listening ]
 *                                                                             +----- listen ----->+
 */
import type { Action, ConversationEvent } from '#shared/agent/conversation.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import type { SpeechToText } from '#shared/models/speech.ts';
import type { Log } from '../call/log.ts';
import { Ear } from './ear.ts';
import { Listening } from './listening.ts';

type Listen = Extract<Action, { type: 'listen' }>;

export interface HearingParts {
  /** null: only keys are understood */
  readonly stt: SpeechToText | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly sampleRate: 8000 | 16000;
  readonly language: string;
  /** ms of the caller's speech that interrupt, where a node says nothing else */
  readonly interruptionThreshold: number;
  readonly waitForGreeting: boolean;
  /** The caller wants to be heard. */
  readonly interrupt: (by: string) => void;
  /** Words of the caller that answer nothing that was asked. */
  readonly greeting: (words: string) => void;
}

/** Keys that are kept while nobody listens. */
const maxTypedAhead = 64;

export class Hearing {
  /** Present only when the caller's voice matters, so that nothing is decoded otherwise. */
  readonly write?: (frame: Int16Array) => void;
  readonly #parts: HearingParts;
  #listening: Listening | null = null;
  #interruptionThreshold: number;
  /** Keys pressed and words said while nobody listened. */
  #typed: string[] = [];
  #spoken: string[] = [];
  /** Set while the caller may greet first. */
  #greeted: (() => void) | null = null;
  /** Utterances of the greeting whose words are still to come. */
  #greetings = 0;
  #ear: Ear | null = null;
  #timer: Timer | null = null;
  #closed = false;

  constructor(parts: HearingParts) {
    const { stt, log, sampleRate, language, waitForGreeting } = parts;
    this.#parts = parts;
    this.#interruptionThreshold = parts.interruptionThreshold;
    if (stt || waitForGreeting) {
      const ear = new Ear(sampleRate, language, stt, this.#earEvents(), log);
      this.write = (frame) => ear.write(frame);
      this.#ear = ear;
    }
  }

  key(digit: string): void {
    const greeting = this.#greeted !== null;
    this.#endGreeting();
    if (!greeting) this.#parts.interrupt('a key press');
    if (this.#listening && !this.#listening.done) this.#listening.key(digit);
    else if (this.#typed.length < maxTypedAhead) this.#typed.push(digit);
  }

  /** The next thing that the caller does; null when the call is over. @param quiet resolves when the agent has spoken */
  listen(action: Listen, quiet: Promise<void>): Promise<ConversationEvent | null> {
    this.#interruptionThreshold = action.interruptionThreshold ?? this.#parts.interruptionThreshold;
    const listening = new Listening(action.keys, action.timeoutMs, this.#parts.clock);
    this.#listening = listening;
    if (this.#closed) listening.close();
    const said = this.#spoken.shift();
    if (said !== undefined) listening.heard(said);
    while (this.#typed.length > 0 && !listening.done) listening.key(this.#typed.shift() ?? '');
    quiet.then(() => listening.quiet());
    return listening.result;
  }

  /** What was pressed or said meanwhile was meant for nobody. */
  forget(): void {
    this.#typed = [];
    this.#spoken = [];
  }

  /** Lets the other side say a greeting first: for `waitMs`, or to its end once it has begun. */
  async greet(waitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#greeted = resolve;
      this.#timer = this.#parts.clock.after(waitMs, () => {
        if (!this.#ear?.speaking) this.#endGreeting();
      });
    });
  }

  close(): void {
    this.#closed = true;
    this.#listening?.close();
    this.#endGreeting();
  }

  #earEvents() {
    const { stt, interrupt, greeting } = this.#parts;
    return {
      speaking: (ms: number) => {
        this.#listening?.busy();
        if (ms >= this.#interruptionThreshold && !this.#greeted && stt) interrupt('the caller');
      },
      finished: () => {
        if (this.#greeted) this.#greetings++;
        this.#endGreeting();
        if (!stt) this.#listening?.quiet();
      },
      words: (text: string) => {
        if (this.#closed) return;
        if (this.#greetings > 0) {
          this.#greetings--;
          if (text !== '') greeting(text);
        } else if (text === '') this.#listening?.quiet();
        else if (this.#listening && !this.#listening.done) this.#listening.heard(text);
        else this.#spoken.push(text);
      },
    };
  }

  #endGreeting(): void {
    const greeted = this.#greeted;
    this.#greeted = null;
    this.#timer?.cancel();
    greeted?.();
  }
}
