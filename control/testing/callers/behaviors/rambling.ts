/** Friendly and absent-minded: answers every second question, thinks aloud, forgets the question. */
import type { Heard } from '../hearing.ts';
import type { CallerMove } from '../ports.ts';
import { type CallerBehavior, type CallerBehaviorParts, say } from './behavior.ts';
import { Cooperative } from './cooperative.ts';

const digressions = [
  'That reminds me, my neighbour got a new dog, a very small one.',
  'By the way, the tomatoes in my garden are doing so well this year.',
  'Speaking of that, have you seen the weather today? Rain again.',
];
const forgotten = ['Sorry, what was the question?', 'Where was I? What was the question again?'];
const asides = [
  'Well, let me think.',
  'Oh, hold on, it is on the tip of my tongue.',
  'It was something else, no wait, now I know.',
];

export class Rambling implements CallerBehavior {
  readonly #parts: CallerBehaviorParts;
  readonly #calm: Cooperative;
  #moves = 0;
  #asides = 0;
  #digressions: readonly string[];

  constructor(parts: CallerBehaviorParts) {
    this.#parts = parts;
    this.#calm = new Cooperative(parts);
    this.#digressions = parts.chance.shuffled([...digressions, parts.chance.pick(forgotten)]);
  }

  next(heard: Heard): CallerMove {
    this.#moves++;
    // It misses every second question, until it has told all its stories.
    const [story, ...left] = this.#digressions;
    if (this.#moves % 2 === 0 && story !== undefined && heard.questions.length > 0 && !heard.done) {
      this.#digressions = left;
      return say(story);
    }
    const answer = this.#calm.next(heard);
    if (answer.type !== 'say' || answer.leaves !== undefined || this.#moves === 1) return answer;
    if (this.#asides >= 2) return answer;
    this.#asides++;
    return say(`${this.#parts.chance.pick(asides)} ${sentence(answer.text)}`);
  }
}

/** Nobody adds a bare value to a sentence. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) || /\s(?:is|was)\s/.test(text) ? text : `It's ${text}.`;
}
