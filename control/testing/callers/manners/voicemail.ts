/** A mailbox: its greeting, a beep, then silence. */
import type { CallerMove } from '../ports.ts';
import { type Manner, type MannerParts, say, silence } from './manner.ts';

const usual = 'Hi, I am not available to take your call right now. Please leave a message after the tone.';

export class Voicemail implements Manner {
  readonly #greeting: string;
  #played = false;

  constructor({ profile }: MannerParts) {
    const greeting = profile.quotes.find((quote) => /\s/.test(quote)) ?? usual;
    this.#greeting = /\(beep\)/i.test(greeting) ? greeting : `${greeting} (beep)`;
  }

  next(): CallerMove {
    if (this.#played) return silence;
    this.#played = true;
    return say(this.#greeting);
  }
}
