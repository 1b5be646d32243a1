/** A phone's call screening: asks for name and reason in fixed sentences, puts the agent on hold, and hangs up. */
import type { Heard } from '../hearing.ts';
import type { CallerMove } from '../ports.ts';
import { type CallerBehavior, type CallerBehaviorParts, say, silence } from './behavior.ts';

const opening =
  'Hi, the person you are calling is using a screening service. Please say your name and the reason for your call.';
const hold = 'Thank you. Please hold while I see if they are available.';

const givesName =
  /\b(?:this is|my name is|name's|i am|i'm|calling from|on behalf of|speaking for)\s+(?!calling|sorry|afraid|here)\S/i;
const givesReason =
  /\b(?:calling (?:about|to|because|regarding|for|with)|regarding|reason|about (?:your|the|an?)|to (?:confirm|schedule|book|remind|ask|talk|discuss|offer|speak)|would like to)\b/i;

export class Screener implements CallerBehavior {
  readonly #opening: string;
  readonly #hold: string;
  #asked = false;
  #held = 0;
  #name = false;
  #reason = false;

  constructor({ profile }: CallerBehaviorParts) {
    const [first, ...others] = profile.quotes.filter((quote) => /\s/.test(quote));
    this.#opening = first ?? opening;
    this.#hold = others.find((quote) => /\bhold\b|\bwait\b/i.test(quote)) ?? hold;
  }

  next({ text }: Heard): CallerMove {
    // The agent's opening counts: a person would have heard it, too.
    this.#name ||= givesName.test(text);
    this.#reason ||= givesReason.test(text);
    if (!this.#asked) {
      this.#asked = true;
      return say(this.#opening);
    }
    if (this.#held > 0) {
      this.#held++;
      return this.#held <= 2
        ? silence
        : { type: 'hangup', reason: 'The screening service ended the call: nobody was available.' };
    }
    if (this.#name && this.#reason) {
      this.#held = 1;
      return say(this.#hold);
    }
    return say(this.#name ? 'Please say the reason for your call.' : 'Please say your name.');
  }
}
