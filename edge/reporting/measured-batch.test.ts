import { describe, expect, it } from 'vitest';
import type { MeasuredCall } from '#shared/edge-protocol/measured.ts';
import { MeasuredBatch } from './measured-batch.ts';

const mark = (call: string, turn = 0): MeasuredCall => ({
  call_id: call,
  quality: [],
  marks: [[turn, 'sound', 5]],
});

describe('what was measured on calls', () => {
  it('is reported at once for few calls, in one report', () => {
    const batch = new MeasuredBatch();
    expect(batch.isDue(0)).toBe(false);
    batch.add([mark('a')], 1000);
    batch.add([mark('b'), mark('a', 1)], 1100);
    expect(batch.isDue(1100)).toBe(true);
    expect(batch.take()).toEqual({
      type: 'measured',
      calls: [{ call_id: 'a', quality: [], marks: [...mark('a').marks, ...mark('a', 1).marks] }, mark('b')],
    });
    expect([batch.isDue(99_999), batch.take()]).toEqual([false, null]);
  });

  it('is gathered for 15 s for many calls, and reported sooner when a call ends or it is much', () => {
    const batch = new MeasuredBatch();
    const calls = Array.from({ length: 51 }, (_, index) => mark(`call ${index}`));
    batch.add(calls, 1000);
    expect([batch.isDue(15_999), batch.isDue(16_000)]).toEqual([false, true]);
    expect(batch.take('call 7')).toEqual({ type: 'measured', calls: [mark('call 7')] });
    expect(batch.take('call 7')).toBeNull();
    expect(batch.take()?.calls).toHaveLength(50);
    batch.add(calls, 20_000);
    batch.add(
      Array.from({ length: 10_000 }, () => mark('call 1')),
      20_001,
    );
    expect(batch.isDue(20_001)).toBe(true);
  });
});
