import { describe, expect, it } from 'vitest';
import { objectsIn } from './json-answer.ts';

describe('the JSON object of an answer', () => {
  it.each([
    ['{"a":1}'],
    ['```json\n{"a":1}\n```'],
    ['Sure! Here it is:\n{"a":1}\nAnything else?'],
    ['<think>First I thought {"a":2}, but no.</think>\n{"a":1}'],
    ['<THINKING>\n{"a":2}\n</THINKING>{"a":1}'],
    ['I thought {"a":2}.</think>{"a":1}'],
    ['The set {x} holds. {"a":1}'],
    ['<answer>{"a":1}</answer>'],
  ])('is found in %j', (answer) => {
    expect(objectsIn(answer)).toEqual([{ a: 1 }]);
  });

  it('is each of several, and has braces and quotation marks in its texts', () => {
    expect(objectsIn('{"a":{"b":"}\\"{"}} and {"c":[]}')).toEqual([{ a: { b: '}"{' } }, { c: [] }]);
  });

  it.each([['no'], ['{'], ['{"a":1'], ['{a:1}'], ['[1]'], ['<think>{"a":1}</think>'], ['{'.repeat(10_000)]])(
    'is not in %j',
    (answer) => {
      expect(objectsIn(answer)).toEqual([]);
    },
  );
});
