/** Facts that a persona does not have and everybody knows about themselves: made up once, and kept for the call. */

import type { Chance } from '#shared/chance.ts';
import type { Fact } from './facts.ts';
import { slotOf } from './slots.ts';

const values: Readonly<Record<string, readonly string[]>> = {
  name: ['Alex Morgan', 'Chris Taylor', 'Robin Clark', 'Jamie Brooks'],
  'first name': ['Alex', 'Chris', 'Robin', 'Jamie'],
  'last name': ['Morgan', 'Taylor', 'Clark', 'Brooks'],
  birth: ['March 3, 1985', 'July 21, 1979', 'October 9, 1990'],
  phone: ['+1 415 555 0142', '+1 415 555 0177', '+1 415 555 0118'],
  email: ['alex@example.com', 'chris@example.com', 'robin@example.com'],
  address: ['12 Example Street', '7 Sample Road', '31 Test Avenue'],
  city: ['Austin', 'Denver', 'Portland'],
  postcode: ['78701', '80203', '97205'],
  time: ['ten in the morning', 'two in the afternoon', 'half past nine'],
  day: ['Tuesday', 'Thursday', 'Friday'],
  party: ['2', '4', '3'],
  nights: ['2', '3', '4'],
  rating: ['8', '7', '9'],
  contact: ['by phone', 'by email'],
  payment: ['by card', 'in cash'],
  feedback: ['Shorter waiting times would be nice.', 'More parking would help.'],
  referral: ['from a friend', 'on the internet'],
  since: ['since last week', 'for a few days'],
};

const lacks = /\b(?:don't|don’t|do not|doesn't|does not|cannot|can't) (?:know|have|remember|recall|find)\b/i;

/** Facts for one conversation. */
export class Invented {
  readonly #chance: Chance;
  readonly #known = new Map<string, Fact>();
  /** What the persona is told that it does not have. */
  readonly #lacks: string;

  constructor(chance: Chance, text: string) {
    this.#chance = chance;
    const lines = text.split(/(?<=[.!?])\s+|\n/).filter((line) => lacks.test(line));
    this.#lacks = lines.join(' ').slice(0, 2000);
  }

  /** Null: nobody would make that up, such as an order number, or the persona is told not to know it. */
  factFor(question: string, name: string | null): Fact | null {
    const id = slotOf(question);
    const choices = id === null ? undefined : values[id];
    if (id === null || choices === undefined) return null;
    if (this.#lacks !== '' && slotOf(this.#lacks) === id) return null;
    const known = this.#known.get(id);
    if (known) return known;
    const within = id === 'rating' ? scaleIn(question) : null;
    const own = name !== null && /name$/.test(id) ? ofName(id, name) : null;
    const value = own ?? this.#chance.pick(within ?? choices);
    const fact: Fact = { key: keyOf(id), value, words: new Set() };
    this.#known.set(id, fact);
    return fact;
  }
}

const figures = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const figure = `(\\d{1,3}|${figures.join('|')})`;
const scale = new RegExp(
  `\\b(?:from|between|scale of)\\s+${figure}\\s*(?:to|and|through|-|–)\\s*${figure}\\b|\\b${figure}\\s*(?:to|through|-|–)\\s*${figure}\\b`,
  'i',
);

/** The upper half of the scale that a question names; null: it names none. */
function scaleIn(question: string): string[] | null {
  const [, ...ends] = scale.exec(question) ?? [];
  const [one, other] = ends
    .filter((end) => end !== undefined)
    .map((end) => (/\d/.test(end) ? Number(end) : figures.indexOf(end.toLowerCase())));
  if (one === undefined || other === undefined || one === other) return null;
  const [low, high] = [Math.min(one, other), Math.max(one, other)];
  const from = Math.ceil((low + high) / 2);
  return Array.from({ length: Math.min(high - from + 1, 10) }, (_, at) => String(high - at));
}

function ofName(id: string, name: string): string | null {
  const parts = name.split(/\s+/);
  if (id === 'name') return name;
  if (parts.length < 2 && id === 'last name') return null;
  return (id === 'first name' ? parts[0] : parts.at(-1)) ?? null;
}

function keyOf(id: string): string {
  if (id === 'birth') return 'date of birth';
  return id === 'phone' ? 'phone number' : id;
}
