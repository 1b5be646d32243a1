/** Lets the caller interrupt the agent, and takes it back when it was none (`barge-in.ts`). */
import type { Clock, Timer } from '#shared/clock.ts';
import { Stateful } from '#shared/state-machine.ts';
import { bargeIn } from './barge-in.ts';

/** The agent's sound, as an interruption needs it. */
export interface HeldSound {
  /** Whether speech sounds, is held, or is queued. */
  readonly playing: boolean;
  /** Stops after the current frame, and keeps the rest. */
  hold(): void;
  /** Goes on from where it was held. @param heldMs for how long that was */
  resume(heldMs: number): void;
  /** Softer, while the caller may be speaking. */
  lower(): void;
  raise(): void;
}

export interface InterruptionParts {
  readonly sound: HeldSound;
  readonly clock: Clock;
  /** Whether the agent may be interrupted now. */
  readonly allowed: () => boolean;
  /** The agent's speech is over for good. */
  readonly cut: (by: string) => void;
  /** Whether words of the caller are known while it speaks. */
  readonly partialWords: boolean;
}

/** Time in which a voice follows the first sound of a word, ms. */
const awaitVoiceMs = 240;
/** Time after the pause for words that are on their way, ms. */
const awaitWordsMs = 250;
/** Vain interruptions within this time after which the speech is only lowered, ms. */
const vainTogether = 2;
const vainWithinMs = 10_000;

export class Interruption {
  readonly #parts: InterruptionParts;
  readonly #state = new Stateful(bargeIn, 'open');
  #by = 'the caller';
  #heldAt = 0;
  /** When false interruptions ended. */
  #vain: number[] = [];
  #timer: Timer | null = null;

  constructor(parts: InterruptionParts) {
    this.#parts = parts;
  }

  /** Whether the speech is held or lowered, because the caller may be interrupting. */
  get suspected(): boolean {
    return !this.#state.is('open');
  }

  /** A sound with which a word may begin. */
  firstSound(): void {
    if (this.#concerned() && !this.#oftenInVain()) this.#state.take('sound', this.#perform);
  }

  /** A voice begins. */
  voice(): void {
    if (this.#concerned()) this.#state.take(this.#oftenInVain() ? 'voice_again' : 'voice', this.#perform);
  }

  /** The voice has lasted as long as an interruption does. */
  longVoice(): void {
    if (this.#possible()) this.#state.take('long_voice', this.#perform);
  }

  /** The voice has paused. */
  pause(): void {
    this.#state.take('pause', this.#perform);
  }

  /** The caller says more than "mhm". */
  word(): void {
    if (this.#possible()) this.#state.take('word', this.#perform);
  }

  key(): void {
    this.#by = 'a key press';
    if (this.#possible()) this.#state.take('key', this.#perform);
    this.#by = 'the caller';
  }

  /** The agent's speech is over, or the call. */
  played(): void {
    this.#state.take('played', this.#perform);
  }

  #concerned(): boolean {
    return this.suspected || (this.#parts.sound.playing && this.#parts.allowed());
  }

  #oftenInVain(): boolean {
    const since = this.#parts.clock.elapsed() - vainWithinMs;
    this.#vain = this.#vain.filter((at) => at > since);
    return this.#vain.length >= vainTogether;
  }

  /** Whether the agent can be interrupted. Its last words go on, even if they were held before it was known to end. */
  #possible(): boolean {
    const possible = this.#parts.allowed();
    if (!possible && this.suspected) this.played();
    return possible;
  }

  readonly #perform = {
    hold: () => {
      this.#heldAt = this.#parts.clock.elapsed();
      this.#parts.sound.hold();
    },
    resume: () => {
      this.#noteVain();
      this.#goOn();
    },
    go_on: () => this.#goOn(),
    lower: () => this.#parts.sound.lower(),
    raise: () => {
      this.#noteVain();
      this.#parts.sound.raise();
    },
    cut: () => {
      this.#vain = [];
      this.#parts.cut(this.#by);
    },
    await_voice: () => this.#doubtFor(awaitVoiceMs),
    await_words: () => {
      if (this.#parts.partialWords) this.#doubtFor(awaitWordsMs);
      else this.#state.take('doubt_over', this.#perform);
    },
    stop_awaiting: () => {
      this.#timer?.cancel();
      this.#timer = null;
    },
  };

  #doubtFor(ms: number): void {
    this.#timer = this.#parts.clock.after(ms, () => this.#state.take('doubt_over', this.#perform));
  }

  #goOn(): void {
    this.#parts.sound.resume(this.#parts.clock.elapsed() - this.#heldAt);
  }

  #noteVain(): void {
    this.#vain.push(this.#parts.clock.elapsed());
  }
}
