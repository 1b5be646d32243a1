import { describe, expect, it } from 'vitest';
import { ReliableResponses } from './reliable-responses.ts';

const reliable = (rseq: string, tag = 'a') => ({ require: '100rel', rseq, to: `<sip:x@y>;tag=${tag}` });

describe('reliable provisional responses', () => {
  it('are accepted once and in order', () => {
    const responses = new ReliableResponses();
    expect(['5', '5', '7', '6', '6', '7', '4'].map((rseq) => responses.take(reliable(rseq)))).toEqual([
      true,
      false,
      false,
      true,
      false,
      true,
      false,
    ]);
  });

  it('are counted separately for every fork', () => {
    const responses = new ReliableResponses();
    expect(responses.take(reliable('5'))).toBe(true);
    expect(responses.take(reliable('1', 'b'))).toBe(true);
    expect(responses.take(reliable('6'))).toBe(true);
  });

  it('of too many forks are ignored, and earlier forks continue', () => {
    const responses = new ReliableResponses();
    const taken = Array.from({ length: 100 }, (_, fork) => responses.take(reliable('1', `fork-${fork}`)));
    expect(taken.filter(Boolean)).toHaveLength(64);
    expect(responses.take(reliable('2', 'fork-0'))).toBe(true);
    expect(responses.take(reliable('2', 'fork-99'))).toBe(false);
  });

  it('without RSeq are ignored', () => {
    for (const rseq of ['x', '', '0x5', '5e0', '-5', '99999999999'])
      expect([rseq, new ReliableResponses().take(reliable(rseq))]).toEqual([rseq, false]);
  });

  it('do not delay unreliable ones', () => {
    const responses = new ReliableResponses();
    expect(responses.take(reliable('5'))).toBe(true);
    expect(responses.take({ to: '<sip:x@y>;tag=a' })).toBe(true);
    expect(responses.take({ to: '<sip:x@y>;tag=a' })).toBe(true);
  });
});
