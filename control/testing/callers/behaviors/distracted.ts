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

/** How many of its moves, where one may be. */
const interrupts = 0.7;

export class Distracted implements CallerBehavior {
  readonly #calm: Cooperative;
  readonly #left: CallerMove[];
  readonly #chance: CallerBehaviorParts['chance'];
  #moves = 0;
  #wasQuirk = false;

  constructor(parts: CallerBehaviorParts) {
    const { chance } = parts;
    this.#chance = chance;
    this.#calm = new Cooperative(parts);
    this.#left = chance.shuffled(quirks).map((ways) => chance.pick(ways));
  }

  next(heard: Heard): CallerMove {
    this.#moves++;
    // Never two in a row: it does answer what it is asked.
    const may = this.#moves > 1 && !this.#wasQuirk && !heard.done && !heard.goodbye;
    const quirk = may && this.#chance.next() < interrupts ? this.#left.shift() : undefined;
    this.#wasQuirk = quirk !== undefined;
    return quirk ?? this.#calm.next(heard);
  }
}
