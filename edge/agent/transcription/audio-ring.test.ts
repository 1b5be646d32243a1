import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AudioRing } from './audio-ring.ts';

it('keeps the newest samples that were not dropped, at their positions', () => {
  const max = 1000;
  const step = fc.oneof(
    fc.record({ append: fc.integer({ min: 0, max: 400 }) }),
    fc.record({ drop: fc.integer({ min: -50, max: 20_000 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const ring = new AudioRing(max);
      const all: number[] = [];
      let oldest = 0;
      for (const one of steps) {
        if ('append' in one) {
          const frame = Int16Array.from({ length: one.append }, (_, i) => (all.length + i) % 30_000);
          all.push(...frame);
          const lost = Math.max(0, all.length - oldest - max);
          expect(ring.append(frame)).toBe(lost);
          oldest += lost;
        } else {
          ring.drop(one.drop);
          oldest = Math.max(oldest, Math.min(all.length, one.drop));
        }
        expect([ring.oldest, ring.end]).toEqual([oldest, all.length]);
        expect([...ring.read(oldest, all.length - oldest)]).toEqual(all.slice(oldest));
      }
    }),
  );
});
