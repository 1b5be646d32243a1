/** A phone's call screening: asks for name and reason in fixed sentences, puts the agent on hold, and hangs up. */
import type { Heard } from '../hearing.ts';
import type { CallerMove } from '../ports.ts';
import { type CallerBehavior, type CallerBehaviorParts, say, silence } from './behavior.ts';

const openings = [
  'Hi, the person you are calling is using a screening service. Please say your name and the reason for your call.',
  'Hello. This call is being screened. Who is calling, and what is the reason for your call?',
  'The person you are calling wants to know who is calling. Please state your name and why you are calling.',
];
const holds = [
  'Thank you. Please hold while I see if they are available.',
  'Thanks. Please stay on the line and wait.',
  'One moment, please hold.',
];
const asksName = ['Please say your name.', 'Who is calling, please?', 'And what is your name?'];
const asksReason = [
  'Please say the reason for your call.',
  'And why are you calling?',
  'What is the reason for your call?',
];
/** How long it looks for the person, in turns. */
const searches = [1, 2];

const givesName =
  /\b(?:this is|my name is|name's|i am|i'm|calling from|on behalf of|speaking for)\s+(?!calling|sorry|afraid|here)\S/i;
/** "It's Ben from Green Clinic." */
const saysWho = /\b\p{Lu}\p{Ll}+ (?:from|of|at|with|here|speaking)\b/u;
const givesReason =
  /\b(?:calling (?:about|to|because|regarding|for|with)|regarding|concerning|reason|about (?:your|the|an?)|to (?:confirm|schedule|book|remind|ask|talk|discuss|offer|speak)|would like to)\b/i;

interface ScreenerParts extends Pick<CallerBehaviorParts, 'chance'> {
  readonly profile: Pick<CallerBehaviorParts['profile'], 'quotes'>;
}

export class Screener implements CallerBehavior {
  readonly #opening: string;
  readonly #hold: string;
  readonly #searches: number;
  readonly #chance: CallerBehaviorParts['chance'];
  #asked = false;
  #isHolding = false;
  #searched = 0;
  #name = false;
  #reason = false;

  constructor({ chance, profile }: ScreenerParts) {
    this.#chance = chance;
    this.#searches = chance.pick(searches);
    const [first, ...others] = profile.quotes.filter((quote) => /\s/.test(quote));
    this.#opening = first ?? chance.pick(openings);
    this.#hold = others.find((quote) => /\bhold\b|\bwait\b/i.test(quote)) ?? chance.pick(holds);
  }

  next({ text }: Heard): CallerMove {
    // The agent's opening counts: a person would have heard it, too.
    this.#name ||= givesName.test(text) || saysWho.test(text);
    this.#reason ||= givesReason.test(text);
    if (!this.#asked) {
      this.#asked = true;
      return say(this.#opening);
    }
    if (this.#isHolding) {
      return this.#searched++ < this.#searches
        ? silence
        : { type: 'hangup', reason: 'The screening service ended the call: nobody was available.' };
    }
    if (this.#name && this.#reason) {
      this.#isHolding = true;
      return say(this.#hold);
    }
    return say(this.#chance.pick(this.#name ? asksReason : asksName));
  }
}
