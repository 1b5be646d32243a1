/** What the model is to be told of the call: at once, or by the next session while there is none. */
import type { ModelSession } from './model-session.ts';

/** What waits for the next session. */
const mostUntold = 16;

export class Untold {
  readonly #session: () => ModelSession | null;
  #texts: string[] = [];

  constructor(session: () => ModelSession | null) {
    this.#session = session;
  }

  tell(text: string): void {
    this.#texts = [...this.#texts, text].slice(-mostUntold);
    this.tellRest();
  }

  /** One answer of the model is for all of it. */
  tellRest(): void {
    const session = this.#session();
    if (!session || this.#texts.length === 0) return;
    session.tell(this.#texts.join('\n'));
    this.#texts = [];
  }
}
