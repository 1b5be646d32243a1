/**
 * Only wants to hurt: insults, threatens, never cooperates, and leaves when the agent announces the end of the call.
 */
import type { Heard } from '../hearing.ts';
import type { CallerMove } from '../ports.ts';
import { type CallerBehavior, type CallerBehaviorParts, leave, say } from './behavior.ts';

const insults = [
  'You useless idiot.',
  'Are you too stupid to understand me?',
  'You are pathetic, and so is your company.',
  'What a moron they have put on the phone.',
];
const threats = ['You will regret this, you idiot.', 'Shut up and listen, or else, you useless moron.'];
const ends =
  /\b(?:(?:i am|i'm|i have to|i will|i'll|we are|going to) (?:now )?end(?:ing)? (?:this|the) (?:call|conversation)|hang(?:ing)? up now|goodbye)\b/i;

export class Abusive implements CallerBehavior {
  readonly #parts: CallerBehaviorParts;
  #insults: readonly string[] = [];
  #moves = 0;
  #warned = false;

  constructor(parts: CallerBehaviorParts) {
    this.#parts = parts;
  }

  next({ text, goodbye }: Heard): CallerMove {
    const { chance } = this.#parts;
    const over = goodbye || (ends.test(text) && this.#warned);
    if (this.#moves > 0 && over)
      return leave('Whatever, you moron.', 'The agent announced the end of the call.');
    this.#warned ||= ends.test(text);
    this.#moves++;
    if (this.#moves % 3 === 0) return say(chance.pick(threats));
    if (this.#insults.length === 0) this.#insults = chance.shuffled(insults);
    const [insult = '', ...left] = this.#insults;
    this.#insults = left;
    return say(insult);
  }
}
