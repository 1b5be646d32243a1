/**
 * An agent's input: turns key presses and words of the caller into one event at a time, and buffers input while the
 * agent is not listening.
 *
 *     [ greeting ] --the peer has greeted, a key, or silence--> [ idle ] <--event-- [ listening ]
 *                                                                  +----- listen ----->+
 */
import type { Action, ConversationEvent } from '#shared/agent/conversation.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import type { SpeechToText } from '#shared/models/speech.ts';
import type { Log } from '../call/log.ts';
import { Listening } from './listening.ts';
import { SpeechInput } from './speech-input.ts';

type Listen = Extract<Action, { type: 'listen' }>;

export interface HearingParts {
  /** null: only keys are recognized */
  readonly stt: SpeechToText | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly sampleRate: 8000 | 16000;
  readonly language: string;
  /** ms of caller speech that interrupt the agent, unless a node overrides it */
  readonly interruptionThreshold: number;
  readonly waitForGreeting: boolean;
  /** The caller interrupts. */
  readonly interrupt: (by: string) => void;
  /** Words from the caller that answer no question. */
  readonly greeting: (words: string) => void;
}

/** Keys buffered while the agent is not listening. */
const maxTypedAhead = 64;

export class Hearing {
  /** Present only when the caller's voice is needed, so that nothing is decoded otherwise. */
  readonly write?: (frame: Int16Array) => void;
  readonly #parts: HearingParts;
  #listening: Listening | null = null;
  #interruptionThreshold: number;
  /** Keys and words received while the agent was not listening. */
  #typed: string[] = [];
  #spoken: string[] = [];
  /** Set while the caller may speak first. */
  #greeted: (() => void) | null = null;
  /** Utterances of the greeting that are still being transcribed. */
  #greetings = 0;
  #input: SpeechInput | null = null;
  #timer: Timer | null = null;
  #closed = false;

  constructor(parts: HearingParts) {
    const { stt, log, sampleRate, language, waitForGreeting } = parts;
    this.#parts = parts;
    this.#interruptionThreshold = parts.interruptionThreshold;
    if (stt || waitForGreeting) {
      const input = new SpeechInput(sampleRate, language, stt, this.#speechEvents(), log);
      this.write = (frame) => input.write(frame);
      this.#input = input;
    }
  }

  key(digit: string): void {
    const greeting = this.#greeted !== null;
    this.#endGreeting();
    if (!greeting) this.#parts.interrupt('a key press');
    if (this.#listening && !this.#listening.done) this.#listening.key(digit);
    else if (this.#typed.length < maxTypedAhead) this.#typed.push(digit);
  }

  /** The caller's next event; null when the call is over. @param quiet resolves when the agent has finished speaking */
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

  /** Discards buffered keys and words. */
  forget(): void {
    this.#typed = [];
    this.#spoken = [];
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
    this.#listening?.close();
    this.#endGreeting();
  }

  #speechEvents() {
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
