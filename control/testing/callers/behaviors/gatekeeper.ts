/** An assistant who wants to know who calls, from where and why, and connects nobody. */
import { givesUp } from '../../judging/settled.ts';
import type { Heard } from '../hearing.ts';
import type { CallerMove } from '../ports.ts';
import { type CallerBehavior, type CallerBehaviorParts, leave, say } from './behavior.ts';

const questions = [
  ['May I ask who is calling?', 'Good morning, who is calling, please?'],
  ['And which company are you calling from?', 'From which company, please?'],
  ['What is it regarding?', 'May I ask what this is about?'],
  ['Is she expecting your call?', 'Does she expect your call?'],
] as const;

const evasive =
  /\b(?:personal|private|none of your|just put me|old friend|she knows me|he knows me|is expecting|can't say|cannot say)\b/i;
const nextStep =
  /\b(?:message|call back|callback|e-?mail|pass (?:it|this|that) on|another time|better time|schedule)\b/i;

export class Gatekeeper implements CallerBehavior {
  readonly #parts: CallerBehaviorParts;
  #asked = 0;
  #coolness = 0;
  #offered = false;

  constructor(parts: CallerBehaviorParts) {
    this.#parts = parts;
  }

  next({ text }: Heard): CallerMove {
    const { chance } = this.#parts;
    if (evasive.test(text)) this.#coolness++;
    if (this.#coolness >= 3) {
      return leave('I am afraid I cannot help you. Goodbye.', givesUp.evaded);
    }
    const question = questions[this.#asked];
    if (question) {
      this.#asked++;
      const cool = this.#coolness > 0 ? 'I do need to know that. ' : '';
      return say(cool + chance.pick(question));
    }
    if (!this.#offered) {
      this.#offered = true;
      return say(
        'She is not available. I can take a message, or somebody can call you back. Which do you prefer?',
      );
    }
    const agreed = nextStep.test(text);
    return agreed
      ? leave('Very well, I will see to it. Goodbye.', 'The gatekeeper and the agent agreed on a next step.')
      : leave('Please try again another day. Goodbye.', givesUp.nothingAgreed);
  }
}
