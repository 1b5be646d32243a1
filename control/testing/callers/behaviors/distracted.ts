/** On the move: interrupts, falls silent, asks unrelated questions, changes its mind, mishears; then answers. */
import type { Heard } from '../hearing.ts';
import type { CallerMove } from '../ports.ts';
import { type CallerBehavior, type CallerBehaviorParts, say, silence } from './behavior.ts';
import { Cooperative } from './cooperative.ts';

const quirks: readonly (readonly CallerMove[])[] = [
  [
    say('Hold on, before you go on, I need something else first.'),
    say('Wait, stop there. One moment, different question.'),
  ],
  [silence],
  [say('Do you know whether it rains tomorrow?'), say('Who won the game last night?')],
  [say('Actually no, I changed my mind.'), say('Never mind what I said before.')],
  [say('Why do you need to know that?'), say('What do other people say to that?')],
  [say('Sorry, I did not catch that, what did you say?'), say('Pardon? The line is bad.')],
];

export class Distracted implements CallerBehavior {
  readonly #calm: Cooperative;
  readonly #left: CallerMove[];
  #moves = 0;

  constructor(parts: CallerBehaviorParts) {
    const { chance } = parts;
    this.#calm = new Cooperative(parts);
    this.#left = chance.shuffled(quirks).map((ways) => chance.pick(ways));
  }

  next(heard: Heard): CallerMove {
    this.#moves++;
    const quirk = this.#moves % 2 === 0 && !heard.done && !heard.goodbye ? this.#left.shift() : undefined;
    return quirk ?? this.#calm.next(heard);
  }
}
