import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Sentences, spoken } from './sentences.ts';

/** The sentences of a text that comes in these pieces. */
function cut(...pieces: string[]): string[] {
  const sentences = new Sentences();
  const found = pieces.flatMap((piece) => sentences.push(piece));
  const rest = sentences.flush();
  return rest === null ? found : [...found, rest];
}

it('gives a sentence as soon as the next one begins', () => {
  const sentences = new Sentences();
  expect(sentences.push('Good day. How')).toEqual(['Good day.']);
  expect(sentences.push(' are you')).toEqual([]);
  expect(sentences.push('?')).toEqual([]);
  expect(sentences.flush()).toBe('How are you?');
  expect(sentences.flush()).toBeNull();
});

it.each([
  ['abbreviations', 'Dr. Smith is here. Ask Mr. J. Doe.', ['Dr. Smith is here.', 'Ask Mr. J. Doe.']],
  ['numbers', 'It costs 3.50 now. Yes.', ['It costs 3.50 now.', 'Yes.']],
  ['quotes', 'He said "no." Then he left!', ['He said "no."', 'Then he left!']],
  ['lines', 'One\nTwo\n\nThree', ['One', 'Two', 'Three']],
  ['other full stops', '你好。再见。', ['你好。', '再见。']],
  ['several marks', 'What?! Really... Yes', ['What?!', 'Really...', 'Yes']],
])('knows %s', (_name, text, expected) => {
  expect(cut(text)).toEqual(expected);
});

it('cuts a text without an end at a word', () => {
  const found = cut('word '.repeat(100));
  expect(found.length).toBeGreaterThan(1);
  for (const part of found) expect(part.length).toBeLessThanOrEqual(300);
});

it('loses no word and gives no empty sentence, however the text comes in pieces', () => {
  const words = (text: string) => text.split(/\s+/).filter((word) => word !== '');
  const piece = fc.oneof(
    fc.constantFrom('. ', '? ', '\n', 'Dr. ', 'yes ', ' no', '3.5', '。'),
    fc.string({ maxLength: 12 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const found = cut(...pieces);
      expect(found.every((sentence) => sentence.trim() === sentence && sentence !== '')).toBe(true);
      expect(found.join('').replace(/\s/g, '')).toBe(words(pieces.join('')).join(''));
    }),
  );
});

it('takes out marks that no voice can say', () => {
  expect(spoken('## **Hello** `you`, see [here](https://example.com/x)')).toBe('Hello you, see here');
  expect(spoken('- 2 * 3 is 6')).toBe('2 * 3 is 6');
  expect(spoken('1. First')).toBe('First');
});
