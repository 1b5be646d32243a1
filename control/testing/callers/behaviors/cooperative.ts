/** Wants something, answers questions from what it knows, and leaves once it has it. */

import type { Chance } from '#shared/chance.ts';
import { plainText } from '../../judging/lexicon.ts';
import { type Fact, factsFor, plainWords } from '../facts.ts';
import type { Heard, MenuChoice } from '../hearing.ts';
import type { CallerMove } from '../ports.ts';
import type { CallerProfile } from '../profile.ts';
import { type CallerBehavior, type CallerBehaviorParts, leave, say } from './behavior.ts';

const unknown = ["I'm not sure.", "I don't know that.", "I couldn't tell you."];
const yes = ['Yes.', 'Yes, please.', 'Yes, that is right.'];
const fine = ['Okay.', 'Alright.', 'Okay, thank you.'];

export class Cooperative implements CallerBehavior {
  readonly #profile: CallerProfile;
  readonly #chance: Chance;
  #statedGoal = false;
  #patience: number;
  readonly #said = new Map<string, number>();

  constructor({ profile, chance }: CallerBehaviorParts) {
    this.#profile = profile;
    this.#chance = chance;
    this.#patience = profile.patience;
  }

  next(heard: Heard): CallerMove {
    if (this.#wearsOut(heard)) {
      return leave('This is not getting us anywhere. Goodbye.', 'The caller lost patience.');
    }
    if (heard.menu.length > 0) return { type: 'keys', keys: this.#chosen(heard.menu).keys };
    if (this.#statedGoal && heard.done) {
      return leave('No, that is all. Thank you, goodbye.', 'The caller has what it came for.');
    }
    if (this.#statedGoal && heard.goodbye) {
      return leave('Thank you, goodbye.', 'The agent said goodbye.');
    }
    return this.answer(heard);
  }

  /** The answer to a question, without leaving. */
  answer(heard: Heard): CallerMove {
    const { facts } = this.#profile;
    const offered = heard.questions.flatMap((question) => chosenOf(question, facts));
    const wanted = heard.questions.flatMap((question) => factsFor(question, facts));
    const asked = [...new Set(offered.length > 0 ? offered : wanted)];
    // "Is it about an order, or shall I connect you?" asks what the call is about, not for an order.
    const choice =
      heard.yesOrNo && offered.length === 0 && heard.questions.some((one) => /\bor\b/i.test(one));
    const unsaid = !this.#statedGoal && (asked.length === 0 || choice);
    const goalFirst = heard.opensFloor || heard.text === '' || unsaid;
    if (goalFirst) return this.#goal(asked);
    if (asked.length > 0) return say(this.#confirmed(heard, asked) ?? told(asked));
    if (heard.yesOrNo) return say(this.#chance.pick(yes));
    if (heard.questions.length > 0) {
      this.#patience--;
      return say(this.#chance.pick(unknown));
    }
    return say(this.#chance.pick(fine));
  }

  /** The goal has already been stated for it. */
  statedGoal(): void {
    this.#statedGoal = true;
  }

  /** Yes or no to "So that is for 3 nights, right?"; null: the question asks for the value itself. */
  #confirmed({ questions, yesOrNo }: Heard, asked: readonly Fact[]): string | null {
    const question = questions.join(' ');
    if (!yesOrNo || /\bor\b/i.test(question)) return null;
    if (asked.every((fact) => names(question, fact))) return this.#chance.pick(yes);
    const other = /(?:correct|right)\s*\?/i.test(question) && /\d/.test(question);
    return other && asked.every(({ value }) => /\d/.test(value)) ? `No. ${told(asked)}` : null;
  }

  #goal(asked: readonly Fact[]): CallerMove {
    const { goal, name } = this.#profile;
    const again = this.#statedGoal;
    this.#statedGoal = true;
    const asksName = name !== null && asked.some(({ key }) => /\bname$/.test(key));
    return say(asksName && !again ? `My name is ${name}. ${goal}` : goal);
  }

  /** Repetition of the same line exhausts a caller's patience. */
  #wearsOut({ text }: Heard): boolean {
    const plain = plainText(text);
    const times = (this.#said.get(plain) ?? 0) + 1;
    this.#said.set(plain, times);
    if (times > 1) this.#patience--;
    return this.#patience <= 0;
  }

  #chosen(menu: readonly MenuChoice[]): MenuChoice {
    const { goal, text } = this.#profile;
    const score = (words: readonly string[], label: string) =>
      plainWords(label).filter((word) => words.includes(word)).length;
    const [goalWords, allWords] = [plainWords(goal), plainWords(text)];
    const ranked = menu
      .map((choice) => ({
        choice,
        score: 10 * score(goalWords, choice.label) + score(allWords, choice.label),
      }))
      .sort((a, b) => b.score - a.score);
    const person = menu.find(({ label }) =>
      /\b(?:operator|representative|agent|person|other|else)\b/i.test(label),
    );
    const [best] = ranked;
    if (best && best.score > 0) return best.choice;
    return person ?? best?.choice ?? { keys: '0', label: '' };
  }
}

/** Whether a question contains the value of a fact. */
function names(question: string, { value }: Fact): boolean {
  const said = plainWords(question);
  const words = plainWords(value);
  return words.length > 0 && words.every((word) => said.includes(word));
}

/** "Monday or Tuesday?" asks for a day without the word. */
function chosenOf(question: string, facts: readonly Fact[]): Fact[] {
  return /\bor\b/i.test(question) ? facts.filter((fact) => names(question, fact)).slice(0, 1) : [];
}

/** A single value as is, except that a name is introduced; several with their labels. */
function told(facts: readonly Fact[]): string {
  const [only] = facts;
  if (only && facts.length === 1) {
    return /^(?:full |first )?name$/.test(only.key) ? `My name is ${only.value}.` : only.value;
  }
  return facts
    .slice(0, 3)
    .map(({ key, value }, index) => `${index === 0 ? 'My' : 'my'} ${key} is ${value}`)
    .join(' and ');
}
