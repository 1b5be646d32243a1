import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clean, PieceMask } from './masking.ts';

describe('a message', () => {
  it.each([
    ['plain', ['word'], 'plain', false],
    ['a Word, words', ['word'], 'a ****, words', true],
    ['wordword word', ['word'], 'wordword ****', true],
    ['two words here', ['two words'], '********* here', true],
    ['Straße, ÄRGER', ['ärger'], 'Straße, *****', true],
    ['c++ and c', ['c++'], '*** and c', true],
    ['😀bad😀', ['bad'], '😀***😀', true],
    ['😀 x', ['😀'], '* x', true],
    ['anything', ['', '  '], 'anything', false],
    ['ring\u0007 \u009b1m\ttab\nline\r', [], 'ring 1m\ttab\nline', true],
  ])('%j with the blocked words %j is stored as %j', (text, blocked, content, altered) => {
    expect(clean(text, blocked)).toEqual({ content, original: altered ? text : null });
  });

  it('is masked in time that does not grow with the product of lengths', () => {
    const blocked = Array.from({ length: 200 }, (_, index) => `${'!'.repeat(2000)}${index}`);
    const before = process.cpuUsage();
    clean('!'.repeat(4000), blocked);
    const { user } = process.cpuUsage(before);
    expect(user / 1000).toBeLessThan(2000);
  });
});

describe('an answer in pieces', () => {
  it('never shows a part of what the whole masks', () => {
    const word = fc.constantFrom('bad', 'very bad', 'ba', 'x', ' ', '.', 'good', '😀', '\u0007', 'badly');
    const blocked = fc.subarray(['bad', 'very bad', 'ba', '😀']);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), blocked, (pieces, words) => {
        const mask = new PieceMask(words);
        const shown = pieces.map((piece) => mask.add(piece)).join('');
        const whole = clean(pieces.join(''), words).content;
        expect(whole.startsWith(shown)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('is shown at once when no word is blocked', () => {
    const mask = new PieceMask([]);
    expect([mask.add('one '), mask.add('two')]).toEqual(['one ', 'two']);
  });
});
