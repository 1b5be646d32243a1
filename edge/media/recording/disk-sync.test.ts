import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { DiskSync, type Unsynced } from './disk-sync.ts';

describe('syncs of recordings', () => {
  it('take all files of a moment, one after the other, and what is written meanwhile a moment later', async () => {
    const clock = new FakeClock();
    const syncs = new DiskSync(clock);
    const begun: string[] = [];
    const disk: PromiseWithResolvers<void>[] = [];
    const file = (name: string): Unsynced => ({
      sync: () => {
        begun.push(name);
        const answer = Promise.withResolvers<void>();
        disk.push(answer);
        return answer.promise;
      },
    });
    const [a, b] = [file('a'), file('b')];
    for (const one of [a, b, a]) syncs.written(one);
    expect(begun).toEqual([]);
    clock.advance(250);
    expect(begun).toEqual(['a']);
    syncs.written(a);
    clock.advance(1_000);
    expect(begun).toEqual(['a']);
    disk[0]?.resolve();
    await settled();
    expect(begun).toEqual(['a', 'b']);
    disk[1]?.resolve();
    await settled();
    clock.advance(250);
    expect(begun).toEqual(['a', 'b', 'a']);
    disk[2]?.resolve();
    await settled();
    clock.advance(10_000);
    expect(begun).toHaveLength(3);
    syncs.written(b);
    clock.advance(250);
    expect(begun.at(-1)).toBe('b');
  });
});

/** All promises that are resolved have had their effect. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
