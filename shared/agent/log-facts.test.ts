import { describe, expect, it } from 'vitest';
import { everyFact } from '../../test/kit/log-facts.ts';
import { readLogFact } from './log-fact-kinds.ts';
import { sentenceOf } from './log-facts.ts';

describe('the facts of a conversation log', () => {
  it('have a sentence each', () => {
    for (const fact of everyFact) {
      const sentence = sentenceOf(fact);
      expect(sentence).not.toBe('');
      expect(sentence).not.toMatch(/undefined|null|NaN|\[object/);
    }
  });

  it('pass between programs unchanged', () => {
    for (const fact of everyFact) {
      expect(readLogFact(JSON.parse(JSON.stringify(fact)))).toEqual(fact);
    }
  });

  it('are ignored when this version does not know their kind or form', () => {
    expect([undefined, null, 'x', {}, { kind: 'newer' }, { kind: 'tool_unknown' }].map(readLogFact)).toEqual(
      Array(6).fill(null),
    );
  });
});
