/** How a text is spoken: entries of pronunciation lists, and numbers digit by digit. Pure; the text itself stays. */
import type { Pronunciation } from '../pronunciation-entry.ts';

/** Characters of a spoken text; one that becomes longer is spoken as it is written. */
const longestSpoken = 20_000;

const marks = /[\\^$.*+?()[\]{}|/]/g;
const boundary = (inner: string) => `(?<![\\p{L}\\p{N}])(?:${inner})(?![\\p{L}\\p{N}])`;

/** A list in the form in which texts are searched. */
interface Compiled {
  /** null: an empty list */
  readonly any: string | null;
  readonly exact: ReadonlyMap<string, string>;
  readonly folded: ReadonlyMap<string, string>;
}

const compiledLists = new WeakMap<readonly Pronunciation[], Compiled>();

/** Earlier entries win over later ones with the same text, longer texts over shorter ones. */
function compiled(list: readonly Pronunciation[]): Compiled {
  const known = compiledLists.get(list);
  if (known) return known;
  const exact = new Map<string, string>();
  const folded = new Map<string, string>();
  const sorted = list.filter(({ text }) => text !== '').toSorted((a, b) => b.text.length - a.text.length);
  // Entries in a row share one pair of boundaries: each pair costs a third of a millisecond to compile.
  const runs: { readonly whole: boolean; readonly literals: string[] }[] = [];
  for (const { text, say, whole_words: whole = true, match_case = false } of sorted) {
    const map = match_case ? exact : folded;
    const key = match_case ? text : text.toLowerCase();
    if (!map.has(key)) map.set(key, say);
    const plain = text.replace(marks, '\\$&');
    // One that must match the case hides no shorter entry where it does not.
    const literal = match_case ? `(?-i:${plain})` : plain;
    const last = runs.at(-1);
    if (last?.whole === whole) last.literals.push(literal);
    else runs.push({ whole, literals: [literal] });
  }
  const patterns = runs.map(({ whole, literals }) => {
    const any = literals.join('|');
    return whole ? boundary(any) : any;
  });
  const made = { any: patterns.length === 0 ? null : patterns.join('|'), exact, folded };
  compiledLists.set(list, made);
  return made;
}

/** Numbers that are not read digit by digit: dates, times, amounts, shares and ordinals. */
const untouched = [
  // 2026-11-26, 26.11.2026, 11/26/26
  '\\d{4}-\\d{1,2}-\\d{1,2}',
  '\\d{1,2}[./]\\d{1,2}[./](?:\\d{4}|\\d{2})',
  // 10:30, 10:30:15
  '\\d{1,2}:\\d{2}(?::\\d{2})?',
  // $12, 1,200.50 €, 3.5
  '[$€£¥]\\s?\\d[\\d.,]*\\d|[$€£¥]\\s?\\d',
  '\\d{1,3}(?:,\\d{3})+(?:\\.\\d+)?|\\d+\\.\\d+',
  '\\d+\\s?(?:[$€£¥%]|(?:st|nd|rd|th|am|pm|dollars?|euros?|cents?|percent)(?![\\p{L}\\p{N}]))',
].join('|');
/** A month before or after it: November 26, 2026; 26 November. */
const months = '(?:january|february|march|april|may|june|july|august|september|october|november|december)';
const written = `${months}\\s+\\d{1,2}(?:,?\\s+\\d{4})?|\\d{1,2}\\s+${months}(?:\\s+\\d{4})?|${months}\\s+\\d{4}`;
/** Phone numbers and codes: digits with the marks that group them. */
const number = '\\+?\\(?\\d(?:[\\d]|[ ().-]{1,2}(?=\\(?\\d))*';
const protectedNumber = `(?<asWritten>${boundary(`${written}|${untouched}`)}|[$€£¥]\\s?\\d[\\d.,]*)`;
const digitsPattern = `${protectedNumber}|(?<digits>(?<!\\d)${number})`;

/** Reads a number digit by digit, with a pause between its groups. */
function digitByDigit(text: string): string {
  const groups = text.match(/\d+/g) ?? [];
  const plus = text.startsWith('+') ? '+' : '';
  return plus + groups.map((group) => [...group].join(' ')).join(', ');
}

/** Speaks the texts of one conversation. */
export class Pronouncer {
  readonly #lists: readonly (readonly Pronunciation[])[];
  readonly #patterns = new Map<string, RegExp | null>();

  /** @param lists those of the call; the ones of a text come before them */
  constructor(...lists: readonly (readonly Pronunciation[])[]) {
    this.#lists = lists;
  }

  /** @param own of the pathway @param digits whether numbers are read digit by digit */
  spoken(text: string, own: readonly Pronunciation[] = [], digits = false): string {
    const lists = [own, ...this.#lists].map(compiled);
    const pattern = this.#pattern(lists, digits);
    if (pattern === null) return text;
    const spoken = text.replace(pattern, (found: string, ...rest: unknown[]) => {
      const groups = digits ? rest.at(-1) : undefined;
      if (isGroups(groups) && groups.asWritten !== undefined) return found;
      if (isGroups(groups) && groups.digits !== undefined) {
        // Digits that touch a letter are part of a code.
        const at = Number(rest.at(-3));
        const before = /\p{L}/u.test(text[at - 1] ?? '') ? ' ' : '';
        const after = /\p{L}/u.test(text[at + found.length] ?? '') ? ' ' : '';
        return before + digitByDigit(found) + after;
      }
      for (const { exact, folded } of lists) {
        const say = exact.get(found) ?? folded.get(found.toLowerCase());
        if (say !== undefined) return say;
      }
      return found;
    });
    return spoken.length <= longestSpoken ? spoken : text;
  }

  #pattern(lists: readonly Compiled[], digits: boolean): RegExp | null {
    const parts = lists.flatMap(({ any }) => any ?? []);
    if (digits) parts.push(digitsPattern);
    const source = parts.join('|');
    const known = this.#patterns.get(source);
    if (known !== undefined) return known;
    const made = source === '' ? null : new RegExp(source, 'giu');
    // A call that goes through many pathways has a pattern for each.
    if (this.#patterns.size >= mostPatterns) this.#patterns.clear();
    this.#patterns.set(source, made);
    return made;
  }
}

const mostPatterns = 16;

function isGroups(value: unknown): value is { readonly asWritten?: string; readonly digits?: string } {
  return typeof value === 'object' && value !== null;
}
