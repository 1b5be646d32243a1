import { expect, it, vi } from 'vitest';
import { NewestRead } from './newest-read.ts';

it('reads a version once for all who ask, also while it is being read', async () => {
  const read = vi.fn(async () => 'configuration');
  const newest = new NewestRead<string>();
  const both = [newest.get('7', read), newest.get('7', read)];
  expect(await Promise.all(both)).toEqual(['configuration', 'configuration']);
  expect(await newest.get('7', read)).toBe('configuration');
  expect(read).toHaveBeenCalledTimes(1);
});

it('reads again for another version', async () => {
  const newest = new NewestRead<string>();
  await newest.get('7', async () => 'seven');
  expect(await newest.get('8', async () => 'eight')).toBe('eight');
});

it('reads again after a failure', async () => {
  const newest = new NewestRead<string>();
  await expect(newest.get('7', () => Promise.reject(new Error('the server is gone')))).rejects.toThrow(
    'gone',
  );
  expect(await newest.get('7', async () => 'seven')).toBe('seven');
});
