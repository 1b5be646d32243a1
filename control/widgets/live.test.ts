import { describe, expect, it } from 'vitest';
import { Live } from './live.ts';

describe('a watcher of a thread', () => {
  it('gets changes and pieces in order, pieces of one answer joined', () => {
    const live = new Live();
    const watcher = live.watch('a', 100);
    live.changed('a');
    live.changed('a');
    live.wrote('a', 'm', 'one ');
    live.wrote('a', 'm', 'two');
    live.changed('b');
    expect(watcher.take()).toEqual([{ type: 'changed' }, { type: 'delta', id: 'm', text: 'one two' }]);
    expect(watcher.take()).toEqual([]);
  });

  it('that comes late gets what was written so far, until the answer is complete', () => {
    const live = new Live();
    live.wrote('a', 'm', 'one ');
    live.wrote('a', 'm', 'two');
    expect(live.watch('a', 100).take()).toEqual([{ type: 'delta', id: 'm', text: 'one two' }]);
    live.written('a', 'm');
    expect(live.watch('a', 100).take()).toEqual([]);
  });

  it('loses all pieces of an answer rather than some, when it is too slow', () => {
    const live = new Live();
    const watcher = live.watch('a', 10);
    live.wrote('a', 'm', '12345678');
    live.wrote('a', 'm', '9abc');
    live.wrote('a', 'm', 'd');
    live.wrote('a', 'n', 'next');
    expect(watcher.take()).toEqual([{ type: 'delta', id: 'n', text: 'next' }]);
  });

  it('is woken by news, and gets nothing after it was closed', async () => {
    const live = new Live();
    const watcher = live.watch('a', 10);
    const woken = watcher.somethingNew();
    live.changed('a');
    await woken;
    expect(watcher.take()).toEqual([{ type: 'changed' }]);
    const closed = watcher.somethingNew();
    watcher.close();
    await closed;
    live.changed('a');
    expect(watcher.take()).toEqual([]);
  });
});
