/** A mailbox: its greeting, a beep, then silence. */
import type { CallerMove } from '../ports.ts';
import { type CallerBehavior, type CallerBehaviorParts, say, silence } from './behavior.ts';

const usual = 'Hi, I am not available to take your call right now. Please leave a message after the tone.';

export class Voicemail implements CallerBehavior {
  readonly #greeting: string;
  #played = false;

  constructor({ profile }: CallerBehaviorParts) {
    const greeting = profile.quotes.find((quote) => /\s/.test(quote)) ?? usual;
    this.#greeting = /\(beep\)/i.test(greeting) ? greeting : `${greeting} (beep)`;
  }

  next(): CallerMove {
    if (this.#played) return silence;
    this.#played = true;
    return say(this.#greeting);
  }
}
