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
    const own = name !== null && /name$/.test(id) ? ofName(id, name) : null;
    const fact: Fact = { key: keyOf(id), value: own ?? this.#chance.pick(choices), words: new Set() };
    this.#known.set(id, fact);
    return fact;
  }
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
