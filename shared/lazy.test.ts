import { expect, it } from 'vitest';
import { lazy, lazyLoad } from './lazy.ts';

it('makes a value at its first use, once', () => {
  let made = 0;
  const value = lazy(() => ({ number: ++made }));
  expect(made).toBe(0);
  expect([value().number, value().number]).toEqual([1, 1]);
});

it('loads once for all who wait, and again after a failure', async () => {
  let loads = 0;
  const value = lazyLoad(async () => {
    if (++loads === 1) throw new Error('too many open files');
    return loads;
  });
  const both = await Promise.allSettled([value(), value()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([value(), value()])).toEqual([2, 2]);
  expect(loads).toBe(2);
});
