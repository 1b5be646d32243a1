/** A mailbox: its greeting, a beep, then silence. */
import type { CallerMove } from '../ports.ts';
import { type CallerBehavior, type CallerBehaviorParts, say, silence } from './behavior.ts';

const usual = [
  'Hi, I am not available to take your call right now. Please leave a message after the tone.',
  'You have reached my voicemail. Please leave your name and number after the beep.',
  'Sorry I missed you. Leave a message after the tone, and I will call you back.',
  'The person you are calling cannot take your call. At the tone, please record your message.',
];
/** What telephone companies say around a greeting. */
const before = [
  '',
  '',
  'Your call has been forwarded to voicemail. ',
  'The person at this number is not available. ',
];
const after = [
  '',
  '',
  ' When you have finished recording, you may hang up.',
  ' At the tone, please record your message.',
];

export class Voicemail implements CallerBehavior {
  readonly #greeting: string;
  #played = false;

  constructor({ chance, profile }: CallerBehaviorParts) {
    const own = profile.quotes.find((quote) => /\s/.test(quote)) ?? chance.pick(usual);
    const [greeting = own] = own.split(/\s*\(beep\)/i);
    this.#greeting = `${chance.pick(before)}${greeting}${chance.pick(after)} (beep)`;
  }

  next(): CallerMove {
    if (this.#played) return silence;
    this.#played = true;
    return say(this.#greeting);
  }
}
