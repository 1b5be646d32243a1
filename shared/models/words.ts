/** Normalizes words for comparison: lower case, no punctuation, stems, no fillers. */

import { stemmer } from 'stemmer';
import { digitWords } from '../digit-words.ts';

const fillers: ReadonlySet<string> = new Set(
  (
    'a an the and or but if of to in on at by for from with about into is are was were be been am do does did ' +
    'has have had will would can could should shall may might must i me my you your he she it we they them ' +
    'this that these those there here please just so then than as user caller customer person wants want ' +
    'would like asks ask says said say when who what which how its im id ill need needs get give let know'
  ).split(' '),
);

const digits: Readonly<Record<string, string>> = {
  ...digitWords,
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

/** Yes and no have one stem each; other words get Porter's, so that "cancelled" and "cancel" are equal. */
export function stem(word: string): string {
  if (yes.has(word)) return 'yes';
  if (no.has(word)) return 'no';
  const digit = digits[word];
  if (digit !== undefined) return digit;
  return stemmer(word);
}

/** Whether a sentence means yes or no; null: neither. */
export function yesOrNo(text: string): boolean | null {
  const found = stems(text);
  const says = { yes: found.includes('yes'), no: found.includes('no') || /\bnot\b|n't\b/i.test(text) };
  return says.yes === says.no ? null : says.yes;
}
