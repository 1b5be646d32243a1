import { describe, expect, test, vi } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { type PacedLeg, Playout } from './playout.ts';

const start = 1_000_000;

/** A leg that records the times of its turns, in ms after the start. */
function recorder(clock: FakeClock, onTick: () => void = () => {}) {
  const turns: number[] = [];
  const skips: number[] = [];
  const errors: Error[] = [];
  const leg: PacedLeg = {
    tick() {
      turns.push(clock.now() - start);
      onTick();
    },
    skip: (count) => skips.push(count),
    failed: (error) => errors.push(error),
  };
  return { leg, turns, skips, errors };
}

describe('the playout clock', () => {
  test('gives a leg one turn every 20 ms', () => {
    const clock = new FakeClock(start);
    const playout = new Playout({ clock });
    const { leg, turns } = recorder(clock);
    playout.add(leg);
    clock.advance(100);
    expect(turns).toEqual([20, 40, 60, 80, 100]);
  });

  test('gives the turns that are due at one time together', () => {
    const clock = new FakeClock(start);
    const seen: string[] = [];
    const together = (turns: () => void) => {
      seen.push('begin');
      turns();
      seen.push('end');
    };
    const playout = new Playout({ clock, slots: 1, together });
    for (const name of ['a', 'b']) playout.add(recorder(clock, () => seen.push(name)).leg);
    clock.advance(20);
    expect(seen).toEqual(['begin', 'a', 'b', 'end']);
  });

  test('says how far away the next turn is, which depends on the legs that are left', () => {
    const clock = new FakeClock(start);
    const until: number[] = [];
    const playout = new Playout({ clock, together: (turns) => until.push(Math.round(turns())) });
    const leaves = Array.from({ length: 4 }, () => playout.add(recorder(clock).leg));
    const inTurns = () => {
      // A timer that was set for a leg that has left still fires.
      clock.advance(20);
      until.length = 0;
      clock.advance(20);
      return until;
    };
    expect(inTurns()).toEqual([5, 5, 5, 5]);
    leaves[1]?.();
    expect(inTurns()).toEqual([5, 5, 10]);
    for (const leave of leaves.slice(2)) leave();
    expect(inTurns()).toEqual([20]);
  });

  test('spreads legs over the interval', () => {
    const clock = new FakeClock(start);
    const playout = new Playout({ clock });
    const legs = Array.from({ length: 5 }, () => recorder(clock));
    for (const { leg } of legs) playout.add(leg);
    clock.advance(20);
    expect(legs.map(({ turns }) => turns)).toEqual([[20], [5], [10], [15], [20]]);
  });

  test('fills the slot with the fewest legs', () => {
    const clock = new FakeClock(start);
    const playout = new Playout({ clock, slots: 2 });
    const leaves = [recorder(clock), recorder(clock), recorder(clock)].map(({ leg }) => playout.add(leg));
    leaves[1]?.();
    const late = recorder(clock);
    playout.add(late.leg);
    clock.advance(20);
    expect(late.turns).toEqual([10]);
  });

  test('catches up after a short stall and keeps its grid', () => {
    let stall = 0;
    const inner = new FakeClock(start);
    const clock = {
      now: () => inner.now() + stall,
      elapsed: () => inner.elapsed() + stall,
      after: inner.after.bind(inner),
    };
    const playout = new Playout({ clock });
    const { leg, turns, skips } = recorder(inner);
    playout.add(leg);
    inner.advance(20);
    stall = 50;
    inner.advance(20); // now 90: the turns of 40, 60 and 80 are due
    expect(turns).toEqual([20, 40, 40, 40]);
    inner.advance(10);
    expect(turns).toEqual([20, 40, 40, 40, 50]);
    expect(skips).toEqual([]);
  });

  test('skips the turns that a long stall made too late', () => {
    let stall = 0;
    const inner = new FakeClock(start);
    const clock = {
      now: () => inner.now() + stall,
      elapsed: () => inner.elapsed() + stall,
      after: inner.after.bind(inner),
    };
    const playout = new Playout({ clock, maxCatchUp: 2 });
    const { leg, turns, skips } = recorder(inner);
    playout.add(leg);
    inner.advance(20);
    stall = 200;
    inner.advance(20); // now 240: 40 to 240 are eleven turns, of which the last three run
    expect(skips).toEqual([8]);
    expect(turns).toEqual([20, 40, 40, 40]);
    expect(playout.skipped).toBe(8);
  });

  test('leaves no timer running when the last leg is gone, and says so', () => {
    const clock = new FakeClock(start);
    const rest = vi.fn();
    const playout = new Playout({ clock, rest });
    const leaves = [playout.add(recorder(clock).leg), playout.add(recorder(clock).leg)];
    expect(clock.pending).toBe(1);
    leaves[0]?.();
    expect(rest).not.toHaveBeenCalled();
    leaves[1]?.();
    expect(rest).toHaveBeenCalled();
    expect(clock.pending).toBe(0);
    expect(playout.legs).toBe(0);
  });

  test('lets a leg leave during its own turn, after which there is none', () => {
    const clock = new FakeClock(start);
    const happened: string[] = [];
    const playout = new Playout({
      clock,
      together: (run) => {
        run();
        happened.push('turn');
      },
      rest: () => happened.push('rest'),
    });
    let leave = () => {};
    const { leg, turns } = recorder(clock, () => leave());
    leave = playout.add(leg);
    clock.advance(100);
    expect(turns).toEqual([20]);
    expect(clock.pending).toBe(0);
    expect(happened.at(-1)).toBe('rest');
  });

  test('drops a leg whose turn throws and continues with the others', () => {
    const clock = new FakeClock(start);
    const playout = new Playout({ clock, slots: 1 });
    const bad = recorder(clock, () => {
      throw new Error('broken endpoint');
    });
    const good = recorder(clock);
    playout.add(bad.leg);
    playout.add(good.leg);
    clock.advance(60);
    expect(bad.turns).toEqual([20]);
    expect(bad.errors.map((error) => error.message)).toEqual(['broken endpoint']);
    expect(good.turns).toEqual([20, 40, 60]);
  });
});
