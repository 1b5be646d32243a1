import { expect, test } from 'vitest';
import { releaseAll } from './kit/fakes/release.ts';

test('the steps after a failing one also run, and the failure is reported', async () => {
  const done: string[] = [];
  const failing = () => Promise.reject(new Error('the first is stuck'));
  await expect(releaseAll(failing, () => done.push('second'))).rejects.toThrow('the first is stuck');
  expect(done).toEqual(['second']);
});

test('several failures are reported together', async () => {
  const fail = (what: string) => () => {
    throw new Error(what);
  };
  await expect(releaseAll(fail('one'), fail('two'))).rejects.toThrow(/one[\s\S]*two/);
});
