/** Numbers and names in speech, in a form in which what was said and what was heard can be compared. English. Pure. */

const ones = 'zero one two three four five six seven eight nine'.split(' ');
const teens = 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ');
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const values = new Map<string, number>([
  ...ones.map((word, value) => [word, value] as const),
  ['oh', 0] as const,
  ...teens.map((word, place) => [word, 10 + place] as const),
  ...tens.map((word, place) => [word, 20 + 10 * place] as const),
]);

/** Lower-case words; numbers as digits, joined where they follow each other: "four seven 11" is `4711`. */
export function spokenTokens(text: string): string[] {
  const words =
    text
      .toLowerCase()
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .replaceAll(/(?<=\d)[,.](?=\d{3}\b)/g, '')
      .replaceAll(/(?<=\p{L})['’](?=\p{L})/gu, '')
      .match(/\p{L}+|\d+/gu) ?? [];
  const tokens: string[] = [];
  let digits = '';
  const close = () => {
    if (digits !== '') tokens.push(digits);
    digits = '';
  };
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const value = values.get(word);
    const next = values.get(words[at + 1] ?? '');
    if (/^\d/.test(word)) digits += word;
    else if (value !== undefined && value >= 20 && next !== undefined && next > 0 && next < 10) {
      digits += String(value + next);
      at++;
    } else if (value !== undefined && (word !== 'oh' || digits !== '')) digits += String(value);
    else if (word === 'hundred' && digits !== '') digits = String(Number(digits) * 100);
    else if (word === 'thousand' && digits !== '') digits = String(Number(digits) * 1000);
    else if (word === 'double' && next !== undefined) {
      digits += String(next).repeat(2);
      at++;
    } else {
      close();
      tokens.push(word);
    }
  }
  close();
  return tokens;
}

/** Whether a number or name was said: its words in a row. */
export function holdsValue(tokens: readonly string[], value: string): boolean {
  const wanted = spokenTokens(value);
  if (wanted.length === 0) return false;
  return tokens.some((_, at) => wanted.every((word, place) => tokens[at + place] === word));
}

/** The numbers and names of a text: digits, number words, and capitalized words within a sentence. */
export function valuesIn(text: string): string[] {
  const numbers = spokenTokens(text).filter((token) => /^\d/.test(token));
  const names = [...text.matchAll(/(?<=[\p{L}\d,;:] )(?!I\b)\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)*/gu)].map(
    ([name]) => name,
  );
  const spelled = names.filter((name) => !spokenTokens(name).some((token) => /^\d/.test(token)));
  return [...new Set([...numbers, ...spelled])];
}
