/** Compares what the agent says with the caller's facts. Pure. */
import { type Fact, plainWords } from './facts.ts';

/** Whether a question contains the value of a fact. */
export function names(question: string, { value }: Fact): boolean {
  // The ends of a scale are nobody's answer.
  const said = plainWords(question.replaceAll(/\b(?:from )?\d{1,2} (?:to|and) \d{1,2}\b/gi, ' '));
  const words = plainWords(value);
  return words.length > 0 && words.every((word) => said.includes(word));
}

/** "Monday or Tuesday?" asks for a day without the word. */
export function offered(question: string, facts: readonly Fact[]): Fact[] {
  return /\bor\b/i.test(question) ? facts.filter((fact) => names(question, fact)).slice(0, 1) : [];
}

/** Words of which a sentence has one: another one of the list contradicts it. */
const kinds: readonly RegExp[] = [
  /\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b/i,
  /\b(?:january|february|march|april|june|july|august|september|october|november|december)\b/i,
];

/** The fact that a closed question gets wrong: "Is Monday all right?" for a caller who wants Tuesday; null: none. */
export function contradicts(question: string, facts: readonly Fact[]): Fact | null {
  for (const kind of kinds) {
    const said = kind.exec(question)?.[0].toLowerCase();
    if (said === undefined) continue;
    const own = facts.filter(({ value }) => kind.test(value));
    const wished = own.filter(({ key }) => /\bday\b|\bdate\b|appointment/.test(key));
    const counted = wished.length > 0 ? wished : own;
    const [first] = counted;
    if (first && !counted.some(({ value }) => value.toLowerCase().includes(said))) return first;
  }
  return otherNumber(question, facts) ?? otherCount(question, facts);
}

/** The fact of which a question has a number of the same form, and no fact has that one: SP4420 for SP4402. */
function otherNumber(question: string, facts: readonly Fact[]): Fact | null {
  const own = facts.map(({ value }) => squeezed(value));
  for (const [said] of question.matchAll(/\b(?=[\p{L}-]{0,40}\d)[\p{L}\d-]{4,40}(?![\p{L}\d])/gu)) {
    const number = squeezed(said);
    if (own.some((value) => value.includes(number))) return null;
    const at = own.findIndex((value) => formOf(value) === formOf(number));
    if (at >= 0) return facts[at] ?? null;
  }
  return null;
}

const squeezed = (text: string) => text.toLowerCase().replaceAll(/[\s-]/g, '');
const formOf = (text: string) => text.replaceAll(/\d/g, '0').replaceAll(/\p{L}/gu, 'a');

const words = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const counting = new RegExp(
  `(?<!\\b(?:least|most|than|to|over|under|or|minimum of|maximum of) )\\b(\\d{1,3}|${words.join('|')}) (\\p{L}{4,30})\\b`,
  'giu',
);

/** "Is it for two people?" for a caller whose number of people is 5. */
function otherCount(question: string, facts: readonly Fact[]): Fact | null {
  for (const [, count = '', what = ''] of question.matchAll(counting)) {
    const said = /\d/.test(count) ? Number(count) : words.indexOf(count.toLowerCase()) + 1;
    const own = facts.filter(
      ({ key, value }) => /^\d{1,3}$/.test(value) && key.split(/\s+/).includes(what.toLowerCase()),
    );
    const [first] = own;
    if (first && !own.some(({ value }) => Number(value) === said)) return first;
  }
  return null;
}
