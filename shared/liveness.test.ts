import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FakeClock } from './clock.ts';
import { Liveness } from './liveness.ts';

function watched() {
  const clock = new FakeClock();
  const asked: PromiseWithResolvers<void>[] = [];
  const heard: string[] = [];
  const liveness = new Liveness({
    clock,
    everyMs: 1_000,
    hangMs: 5_000,
    ask: () => {
      const answer = Promise.withResolvers<void>();
      asked.push(answer);
      return answer.promise;
    },
    hung: () => heard.push('hung'),
  });
  return { clock, asked, heard, liveness };
}

test('what answers is asked again after a pause, and does not hang', async () => {
  const { clock, asked, heard } = watched();
  for (let question = 0; question < 10; question++) {
    clock.advance(4_999);
    asked[question]?.resolve();
    await turn();
    clock.advance(1_000);
  }
  expect(asked).toHaveLength(11);
  expect(heard).toEqual([]);
});

test('what does not answer, or answers with an error, hangs once, and is asked no more', async () => {
  for (const answer of ['none', 'an error']) {
    const { clock, asked, heard } = watched();
    if (answer === 'an error') asked[0]?.reject(new Error('busy'));
    await turn();
    clock.advance(4_999);
    expect(heard).toEqual([]);
    clock.advance(1);
    asked[0]?.resolve();
    await turn();
    expect(heard).toEqual(['hung']);
    expect({ asked: asked.length, timers: clock.pending }).toEqual({ asked: 1, timers: 0 });
  }
});

test('after the end nothing is asked and nothing hangs', async () => {
  const { clock, asked, heard, liveness } = watched();
  liveness.end();
  asked[0]?.resolve();
  await turn();
  clock.advance(60_000);
  expect({ asked: asked.length, heard, timers: clock.pending }).toEqual({ asked: 1, heard: [], timers: 0 });
});
