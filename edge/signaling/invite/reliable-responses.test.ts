import { describe, expect, it } from 'vitest';
import { ReliableResponses } from './reliable-responses.ts';

const reliable = (rseq: string, tag = 'a') => ({ require: '100rel', rseq, to: `<sip:x@y>;tag=${tag}` });

describe('reliable provisional responses', () => {
  it('are taken once and in order', () => {
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

  it('of every fork count for themselves', () => {
    const responses = new ReliableResponses();
    expect(responses.take(reliable('5'))).toBe(true);
    expect(responses.take(reliable('1', 'b'))).toBe(true);
    expect(responses.take(reliable('6'))).toBe(true);
  });

  it('of more forks than a call has are left out, and those that came before go on', () => {
    const responses = new ReliableResponses();
    const taken = Array.from({ length: 100 }, (_, fork) => responses.take(reliable('1', `fork-${fork}`)));
    expect(taken.filter(Boolean)).toHaveLength(64);
    expect(responses.take(reliable('2', 'fork-0'))).toBe(true);
    expect(responses.take(reliable('2', 'fork-99'))).toBe(false);
  });

  it('without a number are no responses', () => {
    expect(new ReliableResponses().take(reliable('x'))).toBe(false);
  });

  it('do not hold up those that are not reliable', () => {
    const responses = new ReliableResponses();
    expect(responses.take(reliable('5'))).toBe(true);
    expect(responses.take({ to: '<sip:x@y>;tag=a' })).toBe(true);
    expect(responses.take({ to: '<sip:x@y>;tag=a' })).toBe(true);
  });
});
