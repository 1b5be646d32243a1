import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { SharedPlaces } from '../../replicas/index.ts';
import { lastTurn, type Snapshot } from './events.ts';
import { TestStreams } from './streams.ts';

let clock: FakeClock;
let streams: TestStreams;
let open = 0;
let state: Snapshot;
const tellers = new Set<() => void>();
let allowed: () => Promise<boolean>;

beforeEach(() => {
  clock = new FakeClock();
  allowed = async () => true;
  const metrics = { streamBegan: () => void open++, streamEnded: () => void open-- };
  streams = new TestStreams({
    clock,
    perOrganization: 2,
    heartbeatMs: 15_000,
    places: new SharedPlaces(),
    metrics,
  });
  state = { state: { status: 'RUNNING' }, version: '1', over: false, attempt: 1, turns: [] };
});
afterEach(() => {
  expect([open, tellers.size, clock.pending]).toEqual([0, 0, 0]);
});

const line = (text: string) => ({ role: 'user', content: text });

async function watch(after: string | undefined = undefined, orgId = 'a') {
  const stream = await streams.open({
    orgId,
    allowed: () => allowed(),
    after: lastTurn(after),
    read: async () => state,
    watch: (tell) => {
      tellers.add(tell);
      return () => void tellers.delete(tell);
    },
  });
  stream.setEncoding('utf8');
  return stream;
}

function change(next: Partial<Snapshot>): void {
  state = { ...state, ...next };
  for (const tell of tellers) tell();
}

/** Reads up to this text; returns everything up to it. */
async function until(chunks: AsyncIterator<string>, text: string): Promise<string> {
  let all = '';
  while (!all.includes(text)) {
    const { done, value } = await chunks.next();
    if (done) throw new Error(`the stream ended before ${text}: ${all}`);
    all += value;
  }
  return all;
}

describe('the events of a run', () => {
  it('are its state, then each turn, then its changed state and the end', async () => {
    change({ turns: [line('one')] });
    const stream = await watch();
    const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<string>;
    expect(await until(chunks, 'one')).toContain('event: state\ndata: {"status":"RUNNING"}\n\n');
    change({ turns: [line('one'), line('two')] });
    expect(await until(chunks, 'two')).toBe(
      'id: 1-2\nevent: turn\ndata: {"role":"user","content":"two"}\n\n',
    );
    change({ state: { status: 'PASSED' }, version: '2', over: true });
    const end = await until(chunks, 'event: end');
    expect(end).toBe('event: state\ndata: {"status":"PASSED"}\n\nevent: end\ndata: {}\n\n');
    expect((await chunks.next()).done).toBe(true);
  });

  it('report the start of the run before its first turn', async () => {
    change({ state: { status: 'PENDING' }, version: '0' });
    const chunks = (await watch())[Symbol.asyncIterator]() as AsyncIterator<string>;
    await until(chunks, 'PENDING');
    change({ state: { status: 'RUNNING' }, version: '1', turns: [line('one')] });
    expect(await until(chunks, 'one')).toBe(
      'event: state\ndata: {"status":"RUNNING"}\n\nid: 1-1\nevent: turn\ndata: {"role":"user","content":"one"}\n\n',
    );
    change({ over: true });
    await until(chunks, 'event: end');
    expect((await chunks.next()).done).toBe(true);
  });

  it("continue after a reader's last turn", async () => {
    change({ turns: [line('one'), line('two')], over: true });
    const all = (await (await watch('1-1')).toArray()).join('');
    expect(all).not.toContain('one');
    expect(all).toContain('id: 1-2');
  });

  it('restart when the run was restarted', async () => {
    change({ turns: [line('one')], attempt: 2, over: true });
    const all = (await (await watch('1-5')).toArray()).join('');
    expect(all).toContain('id: 2-1\nevent: turn');
  });

  it('contain heartbeats while nothing happens, and end when the reader is gone', async () => {
    const stream = await watch();
    const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<string>;
    await until(chunks, 'event: state');
    const sign = until(chunks, ':\n\n');
    // The reader must have asked before time passes.
    await new Promise(setImmediate);
    clock.advance(15_000);
    expect(await sign).toBe(':\n\n');
    stream.destroy();
    await new Promise((resolve) => stream.once('close', resolve));
  });

  it('end once the key or session of their reader works no more; a look without an answer is made again', async () => {
    const answers = [async () => true, () => Promise.reject(new Error('away')), async () => false];
    allowed = () => (answers.shift() ?? (async () => true))();
    const all = (await watch()).toArray();
    for (let look = answers.length; look > 0; look--) {
      await new Promise(setImmediate);
      clock.advance(15_000);
    }
    expect((await all).join('')).toContain('event: state');
    expect(answers).toEqual([]);
  });

  it('end when control does, and none start then', async () => {
    const stream = await watch();
    const all = stream.toArray();
    await new Promise(setImmediate);
    streams.close();
    expect((await all).join('')).toContain('event: state');
    await expect(watch()).rejects.toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
  });

  it('are limited per organization', async () => {
    const both = [await watch(), await watch()];
    await expect(watch()).rejects.toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }));
    const other = await watch(undefined, 'b');
    change({ over: true });
    await Promise.all([...both, other].map((stream) => stream.toArray()));
  });

  it('ignore an invalid last event id', () => {
    expect(lastTurn('1-2')).toEqual({ attempt: 1, place: 2 });
    for (const text of [undefined, '', '5', 'a-b', '1-2-3', '1234567-1']) expect(lastTurn(text)).toBeNull();
  });
});
