import { beforeEach, expect, it } from 'vitest';
import { FrameGroups } from './frame-groups.ts';

interface Frame {
  readonly name: string;
  readonly reports: readonly number[];
}

let groups: FrameGroups<Frame, string>;
/** What each transaction contained, and how its end is reported. */
let transactions: { readonly names: string[]; readonly end: PromiseWithResolvers<void> }[];

beforeEach(() => {
  transactions = [];
  groups = new FrameGroups<Frame, string>(async (frames) => {
    const names = frames.map(({ name }) => name);
    const end = Promise.withResolvers<void>();
    transactions.push({ names, end });
    await end.promise;
    return names.map((name) => `${name} stored`);
  });
});

const frame = (name: string, reports = 1): Frame => ({ name, reports: Array(reports).fill(0) });
const names = () => transactions.map((one) => one.names);
const settled = () => new Promise(setImmediate);

it('stores a frame at once, and those that come meanwhile in one transaction', async () => {
  const first = groups.store(frame('a'));
  const others = [groups.store(frame('b')), groups.store(frame('c'))];
  expect(names()).toEqual([['a']]);
  transactions[0]?.end.resolve();
  expect(await first).toBe('a stored');
  await settled();
  expect(names()).toEqual([['a'], ['b', 'c']]);
  transactions[1]?.end.resolve();
  expect(await Promise.all(others)).toEqual(['b stored', 'c stored']);
});

it('starts again for a frame that comes later', async () => {
  const first = groups.store(frame('a'));
  transactions[0]?.end.resolve();
  await first;
  await settled();
  const second = groups.store(frame('b'));
  transactions[1]?.end.resolve();
  expect(await second).toBe('b stored');
});

it('keeps a transaction below 500 reports, unless one frame has more', async () => {
  const all = ['a', 'b', 'c', 'd'].map((name) => groups.store(frame(name, name === 'd' ? 600 : 250)));
  for (let index = 0; index < 3; index++) {
    await settled();
    transactions[index]?.end.resolve();
  }
  await Promise.all(all);
  expect(names()).toEqual([['a'], ['b', 'c'], ['d']]);
});

it('stores the frames of a failed transaction one by one, so that one failure is only its own', async () => {
  const first = groups.store(frame('a'));
  const [broken, whole] = [groups.store(frame('b')), groups.store(frame('c'))];
  const rejected = expect(broken).rejects.toThrow('out of range');
  transactions[0]?.end.resolve();
  await first;
  await settled();
  transactions[1]?.end.reject(new Error('out of range'));
  await settled();
  transactions[2]?.end.reject(new Error('out of range'));
  await settled();
  transactions[3]?.end.resolve();
  await rejected;
  expect(await whole).toBe('c stored');
  expect(names()).toEqual([['a'], ['b', 'c'], ['b'], ['c']]);
});
