import type { ConversationEvent } from '#shared/agent/conversation.ts';
import { KeyCollector, type KeyPlan } from '#shared/agent/keys.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import type { HeardWords } from './transcription/transcription.ts';

/**
 * One wait for input: ends with a complete key entry, with words, with silence, or with null when the call is over. The
 * silence timer starts at `quiet` and stops while the caller speaks or presses keys.
 */
export class Listening {
  readonly result: Promise<ConversationEvent | null>;
  /** What ended it, as the transcription told it; null: no words did. */
  words: HeardWords | null = null;
  readonly #collector: KeyCollector;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  #timer: Timer | null = null;
  #resolve: (event: ConversationEvent | null) => void = () => undefined;
  #done = false;

  constructor(plan: KeyPlan, timeoutMs: number, clock: Clock) {
    this.#collector = new KeyCollector(plan);
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get done(): boolean {
    return this.#done;
  }

  key(digit: string): void {
    if (this.#done) return;
    const keys = this.#collector.press(digit);
    if (keys !== null) {
      this.#end({ type: 'keys', keys });
      return;
    }
    this.#wait(this.#collector.plan.interDigitMs, () => {
      const entry = this.#collector.timeout();
      if (entry !== null) this.#end({ type: 'keys', keys: entry });
    });
  }

  heard(words: HeardWords): void {
    if (!this.#done) this.words = words;
    this.#end({ type: 'heard', text: words.text });
  }

  /** Nobody is speaking: the silence timer runs. Keys already entered have their own timer. */
  quiet(): void {
    if (this.#done || this.#collector.pending) return;
    this.#wait(this.#timeoutMs, () => this.#end({ type: 'silence' }));
  }

  /** The caller speaks: the silence timer stops. */
  busy(): void {
    if (!this.#collector.pending) this.#timer?.cancel();
  }

  close(): void {
    this.#end(null);
  }

  #wait(ms: number, fire: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(ms, fire);
  }

  #end(event: ConversationEvent | null): void {
    if (this.#done) return;
    this.#done = true;
    this.#timer?.cancel();
    this.#resolve(event);
  }
}
