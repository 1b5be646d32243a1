/** What people mistake for each other on the phone, where consonants above 3.4 kHz are missing. */
import type { Chance } from '#shared/chance.ts';

/** Pairs that sound alike; each is mistaken for the other. */
const pairs: readonly (readonly [string, string])[] = [
  ['thirteen', 'thirty'],
  ['fourteen', 'forty'],
  ['fifteen', 'fifty'],
  ['sixteen', 'sixty'],
  ['seventeen', 'seventy'],
  ['eighteen', 'eighty'],
  ['nineteen', 'ninety'],
  ['13', '30'],
  ['14', '40'],
  ['15', '50'],
  ['16', '60'],
  ['17', '70'],
  ['18', '80'],
  ['19', '90'],
  ['five', 'nine'],
  ['5', '9'],
  ['two', 'three'],
  ['2', '3'],
  ['one', 'four'],
  ['tuesday', 'thursday'],
  ['sunday', 'monday'],
  ['june', 'july'],
  ['b', 'd'],
  ['p', 't'],
  ['m', 'n'],
  ['f', 's'],
];
const confused: ReadonlyMap<string, string> = new Map(
  pairs.flatMap(([one, other]) => [
    [one, other],
    [other, one],
  ]),
);

export interface Misheard {
  readonly word: string;
  readonly heardAs: string;
  /** The text with that word mistaken. */
  readonly text: string;
}

/** One mistake in a text; null: nothing in it is easily mistaken. */
export function misheard(text: string, chance: Chance): Misheard | null {
  const places = [...text.matchAll(/[\p{L}\p{N}]+/gu)].flatMap((match) => {
    const heardAs = mistaken(match[0]);
    return heardAs === null ? [] : [{ at: match.index, word: match[0], heardAs }];
  });
  if (places.length === 0) return null;
  const { at, word, heardAs } = chance.pick(places);
  return { word, heardAs, text: `${text.slice(0, at)}${heardAs}${text.slice(at + word.length)}` };
}

/** Single letters are words like "a"; only codes such as B12 are spelled. */
function mistaken(word: string): string | null {
  const other = confused.get(word.toLowerCase());
  if (other !== undefined && (word.length > 1 || /\d/.test(word))) return cased(other, word);
  // A code such as B12. Of long numbers people notice when a digit is wrong.
  if (!/\d/.test(word) || !/\p{L}/u.test(word)) return null;
  const at = [...word].findIndex((character) => confused.has(character.toLowerCase()));
  const character = word[at];
  if (character === undefined) return null;
  const swapped = cased(confused.get(character.toLowerCase()) ?? character, character);
  return `${word.slice(0, at)}${swapped}${word.slice(at + 1)}`;
}

function cased(word: string, like: string): string {
  return /^\p{Lu}/u.test(like) ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}
