/**
 * Asks the model in the caller's pause, on a copy of the conversation, while it is not sure that the caller has finished.
 * The answer is taken when it has, and thrown away when it goes on.
 *
 *     pause --> [ asked ] --the same words are the caller's turn--> the copy goes on as the conversation
 *                   +--the caller goes on, or other words--> the copy is dropped, as if it had never been
 *
 * Whatever has an effect outside of the copy waits for `taken`: tools do not run for an answer that is thrown away.
 */
import type { ConversationEvent, Talk } from '#shared/agent/conversation.ts';

/** How often the model is asked ahead in one turn of the caller: each time costs a request. */
const mostAsked = 2;

/** A copy of a conversation; null: it cannot be copied now. @param taken resolves when the copy is the conversation */
export type CopyTalk = (talk: Talk, taken: Promise<void>) => Talk | null;

/** An answer that was asked for ahead. */
interface Asked<Actions> {
  readonly words: string;
  readonly talk: Talk;
  readonly actions: Actions;
  /** Stops it. */
  readonly turn: AbortController;
  readonly take: () => void;
}

export class AskingAhead<Actions> {
  readonly #copy: CopyTalk;
  readonly #begin: (talk: Talk, event: ConversationEvent, turn: AbortSignal) => Actions;
  #asked: Asked<Actions> | null = null;
  #count = 0;

  /** @param begin starts the conversation's actions for an event */
  constructor(copy: CopyTalk, begin: (talk: Talk, event: ConversationEvent, turn: AbortSignal) => Actions) {
    this.#copy = copy;
    this.#begin = begin;
  }

  /** The caller has paused after these words. */
  ask(talk: Talk, words: string): void {
    if (this.#asked !== null || this.#count >= mostAsked) return;
    const { promise: taken, resolve: take } = Promise.withResolvers<void>();
    const copy = this.#copy(talk, taken);
    if (!copy) return;
    this.#count++;
    const turn = new AbortController();
    const actions = this.#begin(copy, { type: 'heard', text: words }, turn.signal);
    this.#asked = { words, talk: copy, actions, turn, take };
  }

  /** The caller goes on. */
  drop(): void {
    this.#asked?.turn.abort(new Error('the caller goes on'));
    this.#asked = null;
  }

  /** The answer to what the caller has done, if it was asked for ahead. */
  take(event: ConversationEvent): Omit<Asked<Actions>, 'words' | 'take'> | null {
    const asked = this.#asked;
    this.#count = 0;
    if (asked && event.type === 'heard' && same(event.text, asked.words)) {
      this.#asked = null;
      asked.take();
      return asked;
    }
    this.drop();
    return null;
  }
}

/** Whether two texts have the same words: their marks and capitals change until the end. */
function same(one: string, other: string): boolean {
  const plain = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  return plain(one).join(' ') === plain(other).join(' ');
}
