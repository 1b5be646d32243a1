/**
 * Tells the call what happens in each turn of a conversation, and when: the caller speaks and stops, its words are known, the
 * agent knows what to do, its speech begins and ends. `docs/call-quality.md` has each.
 *
 *     caller   voice ---- pause .. turn                    voice (of the next turn)
 *     agent                          words .. decided .. sound ----- held .. resumed ---- end
 *                                        .. token ..
 */

import type { Clock } from '#shared/clock.ts';
import type { TurnEvent } from '#shared/edge-protocol/turn-events.ts';
import type { AgentHost } from '../call/ports/agents.ts';
import { Allowance } from './allowance.ts';
import type { HeldSound } from './ears/interruption.ts';

/** What the conversation goes on from. */
export type TurnInput = 'words' | 'keys' | 'silence';

/** Marks per second: a conversation has one or two, and a model server may say anything. */
const mostPerSecond = 20;

/** An answer that was asked for; one that was asked ahead may be thrown away. */
interface Answer {
  readonly askedAt: number;
  tokenAt: number | null;
  decidedAt: number | null;
}

export class TurnTimes {
  readonly #host: Pick<AgentHost, 'mark'>;
  readonly #clock: Pick<Clock, 'elapsed'>;
  #last = 0;
  /** The turn in which the caller speaks; null: it does not. */
  #speaks: number | null = null;
  /** Turns of the caller whose words are on their way, the last one whose words are known, and those to be answered. */
  readonly #spoken: number[] = [];
  #known: number | null = null;
  #asking: number[] = [];
  /** The turn that the agent answers. */
  #answered = 0;
  readonly #answers = new WeakMap<AbortSignal, Answer>();
  #answer: Answer | null = null;
  /** Of the model's last reply. */
  #tokenAt: number | null = null;
  #sounded = false;
  #sounds = false;
  #soundEndedAt: number | null = null;
  readonly #allowance: Allowance;

  constructor(host: Pick<AgentHost, 'mark'>, clock: Pick<Clock, 'elapsed'>) {
    this.#host = host;
    this.#clock = clock;
    this.#allowance = new Allowance(clock, mostPerSecond);
  }

  // ---------------------------------------------------------------- the caller

  /** The caller's voice begins, or goes on after a pause. */
  voice(): void {
    if (this.#speaks !== null) return;
    this.#speaks = ++this.#last;
    this.#mark(this.#speaks, 'voice');
  }

  /** The caller's turn is over. @param quietMs since its voice @param wordsFollow whether `words` will tell of it */
  over(quietMs: number, wordsFollow = true): void {
    const turn = this.#speaks ?? ++this.#last;
    const now = this.#clock.elapsed();
    this.#speaks = null;
    this.#mark(turn, 'pause', now - quietMs);
    this.#mark(turn, 'turn', now);
    if (wordsFollow) this.#spoken.push(turn);
  }

  /** The words of the oldest turn whose words were on their way. @param none whether none were recognized */
  words(none: boolean): void {
    const waiting = this.#spoken.shift();
    if (none) return;
    // Some servers tell the words alone.
    const turn = waiting ?? this.#speaks ?? ++this.#last;
    if (turn === this.#speaks) this.#speaks = null;
    this.#known = turn;
    this.#mark(turn, 'words');
  }

  /**
   * The last words that were told are for the agent to answer: no greeting, no "mhm".
   * @param more whether they are answered together with those before, as the turn of the last ones
   */
  asks(more = false): void {
    if (more && this.#known !== null) this.#asking.pop();
    if (this.#known !== null) this.#asking.push(this.#known);
    this.#known = null;
  }

  /** What the caller has said and was not answered is not answered any more. */
  forget(): void {
    this.#asking = [];
  }

  // ---------------------------------------------------------------- the agent

  /** The conversation goes on from what the caller did. */
  goesOn(input: TurnInput): void {
    this.end();
    const asking = input === 'words' ? this.#asking.shift() : undefined;
    this.#answered = asking ?? ++this.#last;
    if (asking === undefined) this.#mark(this.#answered, input);
    this.#sounded = false;
  }

  /** A model that hears the caller itself answers its last turn, whose words may not be known yet. */
  answers(): void {
    if (this.#answered === this.#last) return;
    this.end();
    this.#answered = this.#last;
    this.#sounded = false;
  }

  /** The conversation is asked. @param turn identifies the answer */
  asked(turn: AbortSignal): void {
    this.#answers.set(turn, { askedAt: this.#clock.elapsed(), tokenAt: null, decidedAt: null });
  }

  /** The first part of a model's reply. */
  token(): void {
    this.#tokenAt = this.#clock.elapsed();
  }

  /** The conversation has decided on its first step. */
  decided(turn: AbortSignal): void {
    const answer = this.#answers.get(turn);
    if (!answer || answer.decidedAt !== null) return;
    answer.decidedAt = this.#clock.elapsed();
    if (this.#tokenAt !== null && this.#tokenAt >= answer.askedAt) answer.tokenAt = this.#tokenAt;
    if (answer === this.#answer) this.#tell(answer);
  }

  /** This answer is the one that the caller gets. */
  taken(turn: AbortSignal): void {
    this.#answer = this.#answers.get(turn) ?? null;
    if (this.#answer && this.#answer.decidedAt !== null) this.#tell(this.#answer);
  }

  /** Whether a frame of speech was sent; called for each. */
  frame(sounds: boolean): void {
    if (sounds === this.#sounds) return;
    this.#sounds = sounds;
    if (!sounds) this.#soundEndedAt = this.#clock.elapsed();
    else if (!this.#sounded) {
      this.#sounded = true;
      this.#mark(this.#answered, 'sound');
    }
  }

  /** The agent says no more in this turn. */
  end(): void {
    if (!this.#sounded) return;
    const at = this.#sounds ? this.#clock.elapsed() : this.#soundEndedAt;
    this.#sounded = false;
    this.#mark(this.#answered, 'end', at ?? this.#clock.elapsed());
  }

  /** The caller has interrupted the agent. */
  cut(): void {
    this.#mark(this.#answered, 'cut');
  }

  /** The sound, whose interruptions are told. */
  watched<Sound extends HeldSound & { readonly leftMs: number }>(
    sound: Sound,
  ): HeldSound & { readonly leftMs: number } {
    const held = (event: 'held' | 'resumed') => this.#mark(this.#answered, event);
    return {
      get playing() {
        return sound.playing;
      },
      get leftMs() {
        return sound.leftMs;
      },
      hold() {
        held('held');
        sound.hold();
      },
      resume(heldMs) {
        held('resumed');
        sound.resume(heldMs);
      },
      lower() {
        held('held');
        sound.lower();
      },
      raise() {
        held('resumed');
        sound.raise();
      },
    };
  }

  #tell({ tokenAt, decidedAt }: Answer): void {
    if (tokenAt !== null) this.#mark(this.#answered, 'token', tokenAt);
    if (decidedAt !== null) this.#mark(this.#answered, 'decided', decidedAt);
  }

  #mark(turn: number, what: TurnEvent, at = this.#clock.elapsed()): void {
    if (this.#allowance.take()) this.#host.mark?.({ turn, what, at });
  }
}
