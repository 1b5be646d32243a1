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
  groups = groupsOf(1);
});

const groupsOf = (atOnce: number) =>
  new FrameGroups<Frame, string>({
    atOnce,
    // `a2` is the second frame of `a`; capitals are of another kind.
    sourceOf: ({ name }) => name.charAt(0),
    kindOf: ({ name }) => (name < 'a' ? 'capital' : 'small'),
    storeAll: async (frames) => {
      const names = frames.map(({ name }) => name);
      const end = Promise.withResolvers<void>();
      transactions.push({ names, end });
      await end.promise;
      return names.map((name) => `${name} stored`);
    },
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

it('begins another transaction beside the first when more waits than one takes, up to the most', () => {
  groups = groupsOf(2);
  void groups.store(frame('a'));
  void groups.store(frame('b', 300));
  expect(names()).toEqual([['a']]);
  void groups.store(frame('c', 150));
  void groups.store(frame('d', 100));
  expect(names()).toEqual([['a'], ['b', 'c']]);
  void groups.store(frame('e', 500));
  expect(names()).toHaveLength(2);
});

it('never stores frames of one source beside each other, and keeps their order', async () => {
  groups = groupsOf(2);
  const all = ['a', 'a2', 'b', 'a3'].map((name) => groups.store(frame(name, 300)));
  expect(names()).toEqual([['a'], ['b']]);
  for (let index = 0; index < 4; index++) {
    transactions[index]?.end.resolve();
    await settled();
  }
  await Promise.all(all);
  expect(names()).toEqual([['a'], ['b'], ['a2'], ['a3']]);
});

it('stores frames of different kinds apart', async () => {
  const all = ['a', 'B', 'c', 'D'].map((name) => groups.store(frame(name)));
  for (let index = 0; index < 3; index++) {
    transactions[index]?.end.resolve();
    await settled();
  }
  await Promise.all(all);
  expect(names()).toEqual([['a'], ['B', 'D'], ['c']]);
});
