/**
 * The facts of a tester persona, extracted from its prompt, so that questions can be answered without a language model.
 */

import { stem } from '#shared/models/words.ts';
import { english } from '../judging/english.ts';

export interface Fact {
  /** In the author's words, such as "date of birth". */
  readonly key: string;
  readonly value: string;
  /** Word stems of questions for it. */
  readonly words: ReadonlySet<string>;
}

const entry = /^\s*[-*•]?\s*([A-Za-z][\w /'’-]{1,40}?)\s*[:=]\s*(\S.{0,199})$/;
/** `Your account number is 12345`; a full stop inside a value, such as in an address, is not followed by a space. */
const statement =
  /\b(?:your|my|the caller's)\s+([a-z][\w -]{1,40}?)\s+(?:is|are)\s+(.{1,200}?)(?=[.!](?:\s|$)|[;\n]|,? and (?:your|my)\b|$)/gi;
/** Entries that are instructions, not facts. An order number, a first name and a start date are facts. */
const instruction =
  /^(?:you|say|says|then|when|if|begin|ask|important|note|instructions?)\b|\b(?:say|says|first|then|when|if|begin|start|ask|goal|mood|patience|role|task|job|aim|line|lines|greeting|answers?|persona|instructions?|important|note|facts|turns?|order|example)$/i;
const email = /(?<![^\s@<>"'(),;:])[^\s@<>"'(),;:]+@[^\s@<>"'(),;:]+\.[a-z]{2,}/i;
const months = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?';
const day = '\\d{1,2}(?:st|nd|rd|th)?';
const written = new RegExp(
  `\\b(?:\\d{4}-\\d{2}-\\d{2}|\\d{1,2}/\\d{1,2}/\\d{4}|${months} ${day}(?:,? \\d{4})?|${day} (?:of )?${months}(?:,? \\d{4})?)\\b`,
  'i',
);
const weekday = /\b(?:next |this )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b/;
const phone = /\+?\d[\d ().-]{6,}\d/;

/** Other words that ask for the same. */
const synonyms: readonly (readonly [RegExp, string])[] = [
  [/\bname\b/, 'name who speaking'],
  [/\b(?:date|day)\b/, 'date day when'],
  [/\btime\b/, 'time hour when'],
  [/\bphone|telephone|mobile|callback\b/, 'phone number reach callback telephone mobile'],
  [/\be-?mail\b/, 'email mail'],
  [/\baddress|street\b/, 'address street live'],
  [/\bcity|town\b/, 'city town where'],
  [/\b(?:people|guests|party|persons)\b/, 'people guests party many persons'],
  [/\bbirth/, 'birth born birthday birthdate'],
  [/\bcompany\b/, 'company business organization'],
];

/**
 * @param text the persona's prompt and further instructions
 * @param given facts by name, which override those of the text
 */
export function factsIn(text: string, given: Readonly<Record<string, unknown>> = {}): Fact[] {
  const found = new Map<string, string>();
  const add = (key: string, value: string) => {
    const name = key
      .trim()
      .replaceAll(/[_\s]+/g, ' ')
      .toLowerCase();
    const whole = value.trim().replace(/^["“”]|["“”]$|(?<![.,;])[.,;]+$/g, '');
    // "Your name is Ann Lee, and you live in Rome": a name has no clause after it.
    const plain = /\bname$/.test(name) ? (whole.split(/,\s|\s(?:and|but)\s/)[0] ?? whole) : whole;
    if (plain !== '' && !found.has(name)) found.set(name, plain);
  };
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === 'string' || typeof value === 'number') add(key, String(value));
  }
  for (const line of text.split('\n')) {
    const [, key, value] = entry.exec(line) ?? [];
    if (key !== undefined && value !== undefined && !instruction.test(key.trim())) add(key, value);
  }
  for (const [, key, value] of text.matchAll(statement)) {
    if (key !== undefined && value !== undefined && !instruction.test(key)) add(key, value);
  }
  addEntities(text, found, add);
  return [...found].map(([key, value]) => ({ key, value, words: wordsOf(key) }));
}

/** Start of a text in which dates and places are looked for by grammar, which reads some 50 characters in a millisecond. */
const mostCharacters = 4000;

/** Facts mentioned in passing. */
function addEntities(
  text: string,
  found: ReadonlyMap<string, string>,
  add: (key: string, value: string) => void,
): void {
  const has = (form: RegExp) => [...found.keys()].some((key) => form.test(key));
  const mail = email.exec(text)?.[0];
  if (mail !== undefined && !has(/mail/)) add('email', mail);
  const number = phone.exec(text.replaceAll(/\d{4}-\d{2}-\d{2}/g, ''))?.[0];
  if (number !== undefined && !has(/phone|number/)) add('phone number', number);
  const document = english(text.slice(0, mostCharacters));
  const spoken = () => String(document.match('#Date+').first().text('text')).trim();
  const date = written.exec(text)?.[0] ?? weekday.exec(text)?.[0] ?? spoken();
  if (/\d|\b(?:next|this|tomorrow|today)\b|[a-z]{3}day\b/i.test(date) && !has(/date|day/)) add('date', date);
  const place = String(document.places().first().text('text')).trim();
  if (place !== '' && !has(/city|town|address/)) add('city', place);
}

function wordsOf(key: string): ReadonlySet<string> {
  const more = synonyms.filter(([form]) => form.test(key)).map(([, words]) => words);
  return new Set(plainWords([key, ...more].join(' ')));
}

/** Stems of all words except short ones. */
export function plainWords(text: string): string[] {
  const words =
    text
      .toLowerCase()
      .replaceAll(/['’]/g, '')
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !small.has(word)).map(stem);
}

const small: ReadonlySet<string> = new Set(
  'a an and or the of to in on at for by is are was be do does did can could may might will would your you my me i we us our it its this that please tell give say have has with what which how'.split(
    ' ',
  ),
);

/** The facts that a question asks for, best first; of those that share the same words only the best. */
export function factsFor(question: string, facts: readonly Fact[]): Fact[] {
  const asked = new Set(plainWords(question));
  const scored = facts
    .map((fact) => ({ fact, hits: [...asked].filter((word) => fact.words.has(word)) }))
    .filter(({ hits }) => hits.length > 0)
    .sort((a, b) => b.hits.length - a.hits.length);
  const taken = new Set<string>();
  return scored.flatMap(({ fact, hits }) => {
    const fresh = hits.filter((word) => !taken.has(word));
    for (const word of hits) taken.add(word);
    return fresh.length > 0 ? [fact] : [];
  });
}
