import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Sentences, spoken } from './sentences.ts';

/** The sentences of a text that arrives in these pieces. */
function cut(...pieces: string[]): string[] {
  const sentences = new Sentences();
  const found = pieces.flatMap((piece) => sentences.push(piece));
  const rest = sentences.flush();
  return rest === null ? found : [...found, rest];
}

it('yields a sentence as soon as the next one starts', () => {
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
  ['other periods', '你好。再见。', ['你好。', '再见。']],
  ['several marks', 'What?! Really... Yes', ['What?!', 'Really...', 'Yes']],
])('handles %s', (_name, text, expected) => {
  expect(cut(text)).toEqual(expected);
});

it('splits a text without sentence ends at a word', () => {
  const found = cut('word '.repeat(100));
  expect(found.length).toBeGreaterThan(1);
  for (const part of found) expect(part.length).toBeLessThanOrEqual(300);
});

it('loses no word and yields no empty sentence, however the text is split', () => {
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

it('removes marks that cannot be spoken', () => {
  expect(spoken('## **Hello** `you`, see [here](https://example.com/x)')).toBe('Hello you, see here');
  expect(spoken('- 2 * 3 is 6')).toBe('2 * 3 is 6');
  expect(spoken('1. First')).toBe('First');
});
