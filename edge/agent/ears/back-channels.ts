/** Words with which a listener only shows that it listens: they do not take the turn. */
import { listeningWords, sounds } from './listening-words.ts';

interface Listening {
  readonly words: ReadonlySet<string>;
  /** By their words. */
  readonly phrases: readonly (readonly string[])[];
}

const known = new Map(
  Object.entries(listeningWords).map(([language, { words, phrases }]) => [
    language,
    { words: new Set(plainWords(`${sounds} ${words}`)), phrases: phrases.map(plainWords) },
  ]),
);
/** Of a language that is not in the table. */
const unknown: Listening = { words: new Set(plainWords(sounds)), phrases: [] };

/**
 * Whether the words leave the turn to the agent. Empty: no words yet.
 * @param language of the caller, such as `de-AT`
 */
export function isBackChannel(text: string, language: string): boolean {
  return !saysMore(text, language, false);
}

/**
 * Whether somebody is saying something, beyond showing that it listens. "I" alone says nothing yet: it may become "I see".
 * @param text so far; more may follow
 */
export function takesTurn(text: string, language: string): boolean {
  return saysMore(text, language, true);
}

/** @param unfinished whether the last words may be the beginning of a phrase */
function saysMore(text: string, language: string, unfinished: boolean): boolean {
  const { words, phrases } = known.get(language.toLowerCase().split(/[-_]/)[0] ?? '') ?? unknown;
  const said = plainWords(text);
  for (let at = 0; at < said.length; ) {
    const from = at;
    const whole = phrases.filter((phrase) => phrase.every((word, i) => said[from + i] === word));
    const longest = Math.max(0, ...whole.map((phrase) => phrase.length));
    if (longest > 0) at += longest;
    else if (unfinished && phrases.some((phrase) => endsWithin(said, from, phrase))) return false;
    else if (words.has(said[at] ?? '')) at++;
    else return true;
  }
  return false;
}

/** Whether the words from a place on are the beginning of a phrase. */
function endsWithin(said: readonly string[], from: number, phrase: readonly string[]): boolean {
  const left = said.length - from;
  return left < phrase.length && phrase.slice(0, left).every((word, i) => said[from + i] === word);
}

/** The words of a text, in lower case, without marks and accents. */
function plainWords(text: string): string[] {
  return text
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/\u2019/g, "'")
    .replace(/([\p{L}\p{N}])-(?=[\p{L}\p{N}])/gu, '$1')
    .split(/[^\p{L}\p{N}']+/u)
    .filter((word) => word !== '');
}
