import { expect, test } from 'vitest';
import { releaseAll } from './kit/fakes/release.ts';

test('what follows a step that fails is released, too, and the failure is told', async () => {
  const done: string[] = [];
  const failing = () => Promise.reject(new Error('the first is stuck'));
  await expect(releaseAll(failing, () => done.push('second'))).rejects.toThrow('the first is stuck');
  expect(done).toEqual(['second']);
});

test('several failures are told together', async () => {
  const fail = (what: string) => () => {
    throw new Error(what);
  };
  await expect(releaseAll(fail('one'), fail('two'))).rejects.toThrow(/one[\s\S]*two/);
});
