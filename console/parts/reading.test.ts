/** What is shown is read again by itself, and only while somebody can see it. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Follower, follow } from '../api/follow.ts';
import { pageProblem, RequestFailed } from '../api/problem.ts';
import { healed } from '../connection.ts';
import { visible } from '../visible.ts';
import { Reading, retryMs } from './reading.ts';
import { type Renewal, unchanging } from './renewal.ts';

/** Answers when the test says so. */
class Api {
  asked = 0;
  aborted = 0;
  #answers: { resolve: (data: object) => void; reject: (error: Error) => void }[] = [];

  load(signal: AbortSignal): Promise<object> {
    this.asked++;
    signal.addEventListener('abort', () => this.aborted++);
    return new Promise((resolve, reject) => this.#answers.push({ resolve, reject }));
  }

  async answer(data: object): Promise<void> {
    for (const one of this.#answers.splice(0)) one.resolve(data);
    await vi.advanceTimersByTimeAsync(0);
  }

  async fail(retryAfterS?: number): Promise<void> {
    const problem = pageProblem('SERVICE_UNAVAILABLE', 'Not now.', null);
    const requestId = String(this.asked);
    const told = { ...problem, requestId, ...(retryAfterS && { retryAfterS }) };
    for (const one of this.#answers.splice(0)) one.reject(new RequestFailed(told));
    await vi.advanceTimersByTimeAsync(0);
  }
}

class Streams {
  readonly open = new Map<string, Follower>();
  readonly follow: typeof follow = ({ types = '' }, follower) => {
    this.open.set(types, follower);
    return () => this.open.delete(types);
  };
}

let api: Api;
let streams: Streams;
let end: () => void;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  api = new Api();
  streams = new Streams();
});
afterEach(() => {
  end();
  visible.value = true;
  vi.useRealTimers();
});

function start(renewal: Renewal | ((data: object) => Renewal)): Reading<object> {
  const load = (signal: AbortSignal) => api.load(signal);
  const of = typeof renewal === 'function' ? renewal : () => renewal;
  const reading = new Reading<object>({ load, renewal: of }, streams.follow);
  end = reading.start();
  return reading;
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it('is read again after its time, which begins with the answer: a slow one is not asked for twice', async () => {
  start({ everyMs: 5000 });
  await pass(60_000);
  expect(api).toMatchObject({ asked: 1, aborted: 0 });
  await api.answer({ rows: 1 });
  await pass(4999);
  expect(api.asked).toBe(1);
  await pass(1);
  expect(api.asked).toBe(2);
});

it('keeps the data that it has when the new answer says the same, so that nothing is drawn', async () => {
  const reading = start({ everyMs: 5000 });
  await api.answer({ rows: [1] });
  const first = reading.state.value;
  await pass(5000);
  await api.answer({ rows: [1] });
  expect(reading.state.value).toBe(first);
  await pass(5000);
  await api.answer({ rows: [2] });
  expect(reading.state.value).toEqual({ data: { rows: [2] }, problem: null, loading: false });
});

it('is not read while it is hidden, and at once when it is seen again', async () => {
  start({ everyMs: 5000 });
  await api.answer({});
  visible.value = false;
  await pass(3_600_000);
  expect(api.asked).toBe(1);
  visible.value = true;
  expect(api.asked).toBe(2);
});

it('is not read for a glance at another tab', async () => {
  start({ everyMs: 5000 });
  await api.answer({});
  await pass(1000);
  visible.value = false;
  await pass(1000);
  visible.value = true;
  expect(api.asked).toBe(1);
  await pass(3000);
  expect(api.asked).toBe(2);
});

it('is never read again when it cannot change, but after a failure and when the connection is back', async () => {
  start(unchanging);
  await api.fail();
  await pass(5000);
  expect(api.asked).toBe(2);
  await api.answer({});
  visible.value = false;
  visible.value = true;
  await pass(3_600_000);
  expect(api.asked).toBe(2);
  healed.value++;
  expect(api.asked).toBe(3);
});

it('is tried again after failures, later each time, and told once', async () => {
  const reading = start({ everyMs: 5000 });
  await api.answer({ rows: 1 });
  await pass(5000);
  await api.fail();
  const told = reading.state.value;
  expect(told).toMatchObject({ data: { rows: 1 }, problem: { requestId: '2' } });
  for (const waitMs of [5000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
    const { asked } = api;
    await pass(waitMs - 1);
    expect(api.asked).toBe(asked);
    await pass(1);
    expect(api.asked).toBe(asked + 1);
    await api.fail();
    expect(reading.state.value).toBe(told);
  }
  await pass(60_000);
  await api.answer({ rows: 2 });
  expect(reading.state.value).toEqual({ data: { rows: 2 }, problem: null, loading: false });
});

it('does not try again before the API wants it', () => {
  expect(retryMs(1, { ...pageProblem('RATE_LIMITED', '', null), retryAfterS: 90 })).toBe(90_000);
  expect(retryMs(2, { ...pageProblem('RATE_LIMITED', '', null), retryAfterS: 1 })).toBe(10_000);
});

it('is read after events, once for many, also for one that came while it was read', async () => {
  start({ events: { types: 'alert' } });
  await api.answer({});
  const follower = streams.open.get('alert');
  follower?.onState(true);
  await pass(600_000);
  expect(api.asked).toBe(1);
  const event = { id: '1', type: 'alert.raised', subject: {}, data: null };
  for (let many = 0; many < 100; many++) follower?.onEvent(event);
  await pass(0);
  expect(api.asked).toBe(2);
  follower?.onEvent(event);
  await api.answer({});
  follower?.onEvent(event);
  expect(api).toMatchObject({ asked: 2, aborted: 0 });
  await pass(500);
  expect(api.asked).toBe(3);
});

it('leaves out events that do not matter, and keeps its distance between those that do', async () => {
  start({ events: { types: 'trunk' }, matters: ({ type }) => type === 'trunk.moved', gapMs: 5000 });
  await api.answer({});
  const follower = streams.open.get('trunk');
  follower?.onState(true);
  follower?.onEvent({ id: '1', type: 'trunk.health', subject: {}, data: null });
  await pass(60_000);
  expect(api.asked).toBe(1);
  const moved = { id: '2', type: 'trunk.moved', subject: {}, data: null };
  follower?.onEvent(moved);
  await pass(0);
  await api.answer({});
  follower?.onEvent(moved);
  await pass(4999);
  expect(api.asked).toBe(2);
  await pass(1);
  expect(api.asked).toBe(3);
});

it('is read from time to time while no events arrive, and once more when they do', async () => {
  start({ events: { types: 'call' } });
  await api.answer({});
  await pass(10_000);
  expect(api.asked).toBe(2);
  await api.answer({});
  const follower = streams.open.get('call');
  follower?.onState(true);
  follower?.onStale();
  await pass(500);
  expect(api.asked).toBe(3);
  await api.answer({});
  follower?.onState(false);
  await pass(10_000);
  expect(api.asked).toBe(4);
});

it('leaves the stream some time after it is hidden, and follows again when it is seen', async () => {
  start({ events: { types: 'call' } });
  await api.answer({});
  visible.value = false;
  await pass(29_999);
  expect(streams.open.size).toBe(1);
  await pass(1);
  expect(streams.open.size).toBe(0);
  visible.value = true;
  expect([streams.open.size, api.asked]).toEqual([1, 2]);
});

it('follows what its data says, and nothing after its end', async () => {
  start((data) => ('running' in data ? { events: { types: 'test_run' }, everyMs: 2000 } : unchanging));
  await api.answer({ running: true });
  expect(streams.open.size).toBe(1);
  await pass(2000);
  await api.answer({});
  expect(streams.open.size).toBe(0);
  await pass(600_000);
  expect(api.asked).toBe(2);
});

it('reads again at once for who has changed something, in place of a reading that runs', async () => {
  const reading = start(unchanging);
  reading.reload();
  expect(api).toMatchObject({ asked: 2, aborted: 1 });
});

it('stops with its screen', async () => {
  const reading = start({ everyMs: 5000, events: { types: 'call' } });
  await api.answer({});
  end();
  reading.reload();
  reading.changed();
  await pass(600_000);
  healed.value++;
  expect([api.asked, streams.open.size]).toEqual([1, 0]);
});
