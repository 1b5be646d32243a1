/** The caller's words: several ways to say each thing, chosen by the seed, and not the same way twice in a call. */

import type { Chance } from '#shared/chance.ts';
import type { Fact } from './facts.ts';
import type { Manner } from './manner.ts';
import { misheard } from './mishearing.ts';

const ways = {
  yes: ['Yes.', 'Yes, please.', 'Yes, that is right.', 'Yes, exactly.', 'Yep.', 'Yes, that works.'],
  right: ['Yes.', 'Yes, that is right.', "That's right.", 'Correct.', 'Yes, exactly.', 'Yes, correct.'],
  fine: ['Okay.', 'Alright.', 'Okay, thank you.', 'All right.', 'Okay, good.', 'Fine.'],
  unknown: ["I'm not sure.", "I don't know that.", "I couldn't tell you.", "I don't have that with me."],
  here: ["Yes, I'm here.", 'Yes, I can hear you.', "Yes, I'm still here."],
  hold: ["Sure, I'll hold.", 'Okay, no problem.', "Of course, I'll wait.", 'Sure, take your time.'],
  goOn: ['Yes, go ahead.', 'Sure, go ahead.', "Yes, that's fine.", 'Yes, now is good.'],
  notBad: ["No, it's fine, go ahead.", 'No, now is fine.', 'No, not at all, go ahead.'],
  silence: ['Hello? Are you there?', 'Hello?', 'Is anybody there?'],
  done: [
    'No, that is all. Thank you, goodbye.',
    "No, that's everything. Thanks, goodbye.",
    "That's it, thank you. Goodbye.",
    'No, nothing else. Thank you, bye.',
  ],
  farewell: ['Thank you, goodbye.', 'Thanks, bye.', 'Great, thank you. Goodbye.'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Way = keyof typeof ways;

const fillers = ['Um, ', 'Uh, ', 'Er, ', 'Hm, '];
const greetings = ['', '', 'Hi, ', 'Hello, ', 'Hi there, ', 'Good day, '];
/** Things that people own: "my order number". */
const owned = /\b(?:name|number|birth|birthday|e-?mail|address|code|postcode|pin|phone|insurance|budget)\b/;
/** Things that people choose. */
const chosen = /\b(?:day|date|time|colou?r|size|doctor|plan|room|language|payment|method)\b/;

export class Wording {
  readonly #chance: Chance;
  readonly #manner: Manner;
  readonly #said = new Set<string>();

  constructor(chance: Chance, manner: Manner) {
    this.#chance = chance;
    this.#manner = manner;
  }

  way(what: Way): string {
    return this.fresh(ways[what]);
  }

  /** One that was not said yet, while there is one. */
  fresh(options: readonly string[]): string {
    const left = options.filter((one) => !this.#said.has(one));
    const one = this.#chance.pick(left.length > 0 ? left : options);
    this.#said.add(one);
    return one;
  }

  goal(goal: string): string {
    const text = this.fresh(goalForms(goal));
    return `${this.#chance.pick(greetings)}${text}`.replace(/^(\p{Ll})/u, (first) => first.toUpperCase());
  }

  /** The goal in other words, for an agent that did not get it. */
  goalAgain(goal: string): string {
    const [, want, what] = wish.exec(goal) ?? [];
    const forms =
      want === undefined || what === undefined
        ? [`As I said: ${goal}`, goal, `Let me say it again. ${goal}`]
        : what.startsWith('to ')
          ? [`As I said, I want ${what}.`, `I just want ${what}.`, `What I want is ${what}.`]
          : [`As I said, I ${want} ${what}.`, `It is about ${what}.`, `All I need is ${what}.`];
    return this.fresh(forms);
  }

  /** An answer to a question for facts. @param wanted in the order of the question */
  told(wanted: readonly Fact[]): string {
    const partly = wanted.length > 1 && this.#happens('partial');
    const facts = partly ? wanted.slice(0, 1) : this.#chance.shuffled(wanted.slice(0, 3));
    const [only, ...others] = facts;
    if (only === undefined) return this.way('unknown');
    if (others.length === 0) return this.#begun(this.#value(only));
    return facts.map(({ key, value }, at) => `${at === 0 ? 'My' : 'my'} ${key} is ${value}`).join(' and ');
  }

  /** A value that was not heard, or not believed. */
  insisted({ value }: Fact): string {
    return this.fresh([`I said ${value}.`, `It's ${value}.`, `${value}.`, `As I said, ${value}.`]);
  }

  denied(facts: readonly Fact[]): string {
    const [only] = facts;
    if (only === undefined || facts.length > 1) return `No. ${this.told(facts)}`;
    return this.fresh([`No. It's ${only.value}.`, `No, ${only.value}.`, `No, it's ${only.value}.`]);
  }

  #value({ key, value }: Fact): string {
    const slip = this.#happens('corrections') ? misheard(value, this.#chance) : null;
    if (slip) {
      return this.fresh([
        `It's ${slip.text}, no, sorry, ${value}.`,
        `${slip.text}, no wait, ${value}.`,
        `It's ${slip.text}. Sorry, I mean ${value}.`,
      ]);
    }
    if (/^(?:[a-z]+ )?name$/.test(key) && !/company|business/.test(key)) {
      const first = /^(?:first|last) /.test(key);
      return this.fresh(
        first
          ? [value, `It's ${value}.`, `My ${key} is ${value}.`]
          : [`My name is ${value}.`, `It's ${value}.`, `This is ${value}.`, `I'm ${value}.`],
      );
    }
    const forms = [value, `It's ${value}.`, `That would be ${value}.`];
    if (owned.test(key)) forms.push(`My ${key} is ${value}.`, `Sure, it's ${value}.`);
    if (chosen.test(key)) forms.push(`${value}, please.`, `I'd say ${value}.`);
    return this.fresh(forms);
  }

  #begun(text: string): string {
    if (!this.#happens('fillers') || !/^(?:It's|That would|My|I)\b/.test(text)) return text;
    const first = /^I\b/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
    return `${this.#chance.pick(fillers)}${first}`;
  }

  #happens(what: keyof Manner): boolean {
    return this.#chance.next() < this.#manner[what];
  }
}

const wish = /^I (would like|want|need) (.+?)\.?$/;
const about = /^I am calling (about|because of|because) (.+?)\.?$/;

/** Ways to state a goal with the same content words, by which agents without a model understand it. */
function goalForms(goal: string): readonly string[] {
  const [, want, what] = wish.exec(goal) ?? [];
  if (what !== undefined && want !== undefined) {
    const forms = [
      goal,
      `I'd like ${what}.`,
      `I would like ${what}, please.`,
      `I want ${what}.`,
      `I'd like ${what}, if that's possible.`,
    ];
    if (what.startsWith('to ')) {
      forms.push(`I'm calling ${what}.`, `I was hoping ${what}.`, `I'm trying ${what}.`);
    } else forms.push(`I'm looking for ${what}.`, `I need ${what}.`);
    return want === 'need' ? [goal, `I need ${what}, please.`, `I really need ${what}.`] : forms;
  }
  const [, link, topic] = about.exec(goal) ?? [];
  if (link === undefined || topic === undefined) return [goal];
  return [goal, `I'm calling ${link} ${topic}.`, `It's about ${topic}.`].slice(0, link === 'about' ? 3 : 2);
}
