/** What a persona has said, as the model and as people are shown it; cut to what was heard when that is not all. */
import type { ToolCall } from './dialogue.ts';
import { type SaidText, WordsHeard } from './heard-words.ts';
import type { PersonaState } from './persona-state.ts';

export class PersonaWords {
  readonly #state: PersonaState;
  /** Of the agent's current turn: places in `turns`, and those of the same words in `messages`. */
  #spoken: { turn: number; message: number | null }[] = [];

  constructor(state: PersonaState) {
    this.#state = state;
  }

  /** It is the agent's turn. */
  begin(): void {
    this.#spoken = [];
  }

  /** @param written as the model knows it; `said` as the person knows it */
  commit(written: string, said: string, calls: readonly ToolCall[] = []): void {
    const { messages, turns } = this.#state;
    const isWritten = written !== '' || calls.length > 0;
    if (isWritten) messages.push({ role: 'assistant', text: written, calls });
    if (said === '') return;
    turns.push({ role: 'assistant', text: said });
    this.#spoken.push({ turn: turns.length - 1, message: isWritten ? messages.length - 1 : null });
  }

  /** Words that are not the model's. */
  add(said: string): void {
    this.commit('', said);
  }

  /** @param said what was heard of the words of this turn */
  cut(said: readonly SaidText[]): void {
    const { messages, turns } = this.#state;
    const heard = new WordsHeard(said);
    const parts = this.#spoken.map((place) => ({ ...place, text: heard.of(turns[place.turn]?.text ?? '') }));
    // From the last on, because what was not heard at all is taken out.
    for (const { turn, message, text } of parts.toReversed()) {
      if (text === turns[turn]?.text) continue;
      turns.splice(turn, 1, ...(text === '' ? [] : [{ role: 'assistant' as const, text }]));
      const written = message === null ? undefined : messages[message];
      if (message === null || written?.role !== 'assistant') continue;
      const keeps = text !== '' || written.calls.length > 0;
      messages.splice(message, 1, ...(keeps ? [{ ...written, text }] : []));
    }
    this.#spoken = parts.filter(({ text }) => text !== '');
  }
}
