import { expect, it } from 'vitest';
import { OneAtATime } from './one-at-a-time.ts';

it('runs the work of one key in order, also after a failure, and different keys in parallel', async () => {
  const order = new OneAtATime();
  const seen: string[] = [];
  const first = Promise.withResolvers<void>();
  const all = [
    order.run('a', async () => {
      await first.promise;
      seen.push('a1');
      throw new Error('no');
    }),
    order.run('a', async () => void seen.push('a2')),
    order.run('b', async () => void seen.push('b1')),
  ];
  await all[2];
  first.resolve();
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(seen).toEqual(['b1', 'a1', 'a2']);
});
