/** Normalizes words for comparison: lower case, no punctuation, light stemming, no fillers. */

const fillers: ReadonlySet<string> = new Set(
  (
    'a an the and or but if of to in on at by for from with about into is are was were be been am do does did ' +
    'has have had will would can could should shall may might must i me my you your he she it we they them ' +
    'this that these those there here please just so then than as user caller customer person wants want ' +
    'would like asks ask says said say when who what which how its im id ill need needs get give let know'
  ).split(' '),
);

const digits: Readonly<Record<string, string>> = {
  zero: '0',
  one: '1',
  two: '2',
  three: '3',
  four: '4',
  five: '5',
  six: '6',
  seven: '7',
  eight: '8',
  nine: '9',
  ten: '10',
};

const yes: ReadonlySet<string> = new Set(
  'yes yeah yep yup sure correct right ok okay affirmative absolutely certainly definitely indeed agreed agree confirm'.split(
    ' ',
  ),
);
const no: ReadonlySet<string> = new Set(
  'no nope nah negative wrong incorrect never decline disagree'.split(' '),
);

/** Distinct stems of `text`, in order. */
export function stems(text: string): string[] {
  const found =
    text
      .toLowerCase()
      .replace(/['’]/g, '')
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const kept = found.filter((word) => !fillers.has(word));
  return [...new Set((kept.length > 0 ? kept : found).map(stem))];
}

/** Yes and no have one stem each; other words lose common English endings. */
export function stem(word: string): string {
  if (yes.has(word)) return 'yes';
  if (no.has(word)) return 'no';
  const digit = digits[word];
  if (digit !== undefined) return digit;
  if (word.length <= 3) return word;
  for (const [ending, replacement, rest] of endings) {
    if (word.endsWith(ending) && word.length - ending.length >= rest) {
      return undouble(word.slice(0, word.length - ending.length) + replacement);
    }
  }
  return undouble(word);
}

const endings: readonly (readonly [string, string, number])[] = [
  ['ations', '', 4],
  ['ation', '', 4],
  ['ments', '', 4],
  ['ment', '', 4],
  ['ings', '', 3],
  ['ing', '', 3],
  ['ies', 'y', 2],
  ['ied', 'y', 2],
  ['ers', '', 4],
  ['er', '', 4],
  ['ed', '', 3],
  ['ly', '', 3],
  ['es', '', 4],
  ['s', '', 3],
  ['e', '', 4],
];

/** Makes "cancelled" and "cancel" equal. */
function undouble(word: string): string {
  const last = word.at(-1);
  return word.length > 4 && last !== undefined && last === word.at(-2) ? word.slice(0, -1) : word;
}

/** Whether a sentence means yes or no; null: neither. */
export function yesOrNo(text: string): boolean | null {
  const found = stems(text);
  const says = { yes: found.includes('yes'), no: found.includes('no') || /\bnot\b|n't\b/i.test(text) };
  return says.yes === says.no ? null : says.yes;
}
