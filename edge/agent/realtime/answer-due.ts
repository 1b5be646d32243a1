/**
 * What the model is to answer: its first words, what happened on the call, what the caller said last. A session is asked
 * for all of it at once: two answers that are asked for together end one another, or are refused.
 */
import type { Timer } from '#shared/clock.ts';
import type { Timers } from '#shared/timers.ts';
import type { ModelSession } from './model-session.ts';

/** Texts that wait for a session; of more the last ones. */
const mostTexts = 16;

const callerWaits =
  'The connection to you was lost just after the caller had spoken. Answer what they said last. ' +
  'If you do not have it, ask them to say it again.';

export interface FirstWords {
  /** null: as the model's instructions say */
  readonly sentence: string | null;
}

interface AnswerDueDeps {
  readonly timers: Timers;
  /** time for the first sound of an answer, ms */
  readonly withinMs: number;
  /** A session that was asked for the first words has said nothing in that time. */
  silent(session: ModelSession): void;
  /** The caller has got no answer in that time. */
  unanswered(): void;
}

export class AnswerDue {
  readonly #deps: AnswerDueDeps;
  /** Sessions are asked for answers once the call has begun. */
  #started = false;
  #session: ModelSession | null = null;
  /** null: the model has begun, or the caller does */
  #first: FirstWords | null = null;
  #texts: string[] = [];
  /** The wait for the answer to the caller's last turn; null: it has come, or none will */
  #wait: Timer | null = null;
  /** Sessions that were asked for the first words and said nothing. */
  silences = 0;

  constructor(deps: AnswerDueDeps) {
    this.#deps = deps;
  }

  /** The call begins. @param first what the model begins with; null: nothing */
  start(first: FirstWords | null): void {
    this.#started = true;
    this.#first = first;
    this.#ask();
  }

  /** There is another session, which is asked for what nothing has come of, or none. */
  live(session: ModelSession | null): void {
    this.#session = session;
    this.#ask();
  }

  /** Tells the model what happened on the call: at once, or in the next session. */
  tell(text: string): void {
    this.#texts = [...this.#texts, text].slice(-mostTexts);
    if (this.#started && this.#session) this.#tellAll(this.#session);
  }

  /** The caller speaks: the model need not begin. */
  callerSpeaks(): void {
    this.#first = null;
  }

  /** The caller has spoken. A server that does not answer in its time does not mean to, or cannot. */
  callerWaits(): void {
    const session = this.#session;
    this.#wait?.cancel();
    this.#wait = this.#deps.timers.after(this.#deps.withinMs, () => {
      // Another session has been asked for it.
      if (this.#session !== session) return;
      this.#wait = null;
      this.#deps.unanswered();
    });
  }

  /** An answer begins. */
  answered(): void {
    this.#first = null;
    this.#wait?.cancel();
    this.#wait = null;
  }

  #ask(): void {
    const session = this.#session;
    if (!this.#started || !session) return;
    if (this.#first) {
      this.#askForFirst(session, this.#first);
      return;
    }
    if (this.#wait) this.#texts.push(callerWaits);
    this.#tellAll(session);
  }

  #askForFirst(session: ModelSession, first: FirstWords): void {
    session.begin(first.sentence, this.#taken());
    this.#deps.timers.after(this.#deps.withinMs, () => {
      if (this.#session !== session || this.#first !== first) return;
      this.silences++;
      this.#deps.silent(session);
    });
  }

  /** One answer of the model is for all of it. */
  #tellAll(session: ModelSession): void {
    const told = this.#taken();
    if (told !== null) session.tell(told);
  }

  #taken(): string | null {
    const texts = this.#texts;
    this.#texts = [];
    return texts.length === 0 ? null : texts.join('\n');
  }
}
