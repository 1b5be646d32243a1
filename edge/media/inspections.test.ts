import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Inspections } from './inspections.ts';

/** A leg whose worker answers when the test says so. */
function stuckLeg() {
  const answers: PromiseWithResolvers<void>[] = [];
  return {
    answers,
    inspect: () => {
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      return answer.promise;
    },
  };
}

describe('inspections of media legs', () => {
  test('ask a worker that does not answer once, and again after its answer or its error', async () => {
    const clock = new FakeClock();
    const leg = stuckLeg();
    const failures: unknown[] = [];
    const inspections = new Inspections(clock, new Set([leg]), (error) => failures.push(error));
    inspections.begin();
    clock.advance(5000);
    expect(leg.answers).toHaveLength(1);
    leg.answers[0]?.resolve();
    await turn();
    clock.advance(500);
    expect(leg.answers).toHaveLength(2);
    leg.answers[1]?.reject(new Error('gone'));
    await turn();
    clock.advance(500);
    expect(leg.answers).toHaveLength(3);
    expect(failures).toEqual([new Error('gone')]);
    inspections.close();
    expect(clock.pending).toBe(0);
  });

  test('reach each leg once in half a second, and end with the last leg', () => {
    const clock = new FakeClock();
    const asked: number[] = [];
    const legs = new Set(
      Array.from({ length: 25 }, (_, leg) => ({ inspect: async () => void asked.push(leg) })),
    );
    new Inspections(clock, legs, () => {}).begin();
    clock.advance(500);
    expect(asked.toSorted((one, other) => one - other)).toEqual([...legs].map((_, leg) => leg));
    legs.clear();
    clock.advance(50);
    expect(clock.pending).toBe(0);
  });
});
