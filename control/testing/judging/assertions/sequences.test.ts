import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonLength, editDistance, firstUnmet } from './sequences.ts';

describe('sequences', () => {
  const steps = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 });

  /** The definition, without caching. */
  function distance(a: readonly string[], b: readonly string[]): number {
    const [first, ...restA] = a;
    const [other, ...restB] = b;
    if (first === undefined || other === undefined) return Math.max(a.length, b.length);
    if (first === other) return distance(restA, restB);
    return 1 + Math.min(distance(restA, b), distance(a, restB), distance(restA, restB));
  }

  it('have the edit distance of its definition', () => {
    fc.assert(
      fc.property(steps, steps, (a, b) => {
        fc.pre(a.length + b.length <= 11);
        expect(editDistance(a, b)).toBe(distance(a, b));
      }),
    );
  });

  it('are a subsequence exactly when the common length is their own', () => {
    fc.assert(
      fc.property(steps, steps, (a, b) => {
        expect(firstUnmet(a, b) === -1).toBe(commonLength(a, b) === a.length);
        expect(commonLength(a, b)).toBe(commonLength(b, a));
      }),
    );
  });
});
