/** The end of a shard in every order of events, with a thread that the test plays. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import type { ShardState } from './messages.ts';
import { type ShardLimits, ShardSlot } from './shard-slot.ts';

const limits: ShardLimits = {
  startMs: 60_000,
  lookMs: 1_000,
  hangMs: 5_000,
  restartMs: 1_000,
  stopMs: 5_000,
};

const state: ShardState = {
  legs: 0,
  ports_in_use: 0,
  worker_deaths: 1,
  worker_hangs: 0,
  packets_here: 0,
  legs_without_keys: 0,
  packets_beyond_rate: 0,
  skipped_frames: 0,
  counters: {},
  gauges: {},
};

/** Threads that say what the test says. */
function played() {
  const clock = new FakeClock();
  const log = new QuietLog();
  const gone: number[] = [];
  const threads: Thread[] = [];
  const slot = new ShardSlot({
    index: 0,
    start: () => {
      const thread = new Thread();
      threads.push(thread);
      return thread;
    },
    clock,
    log,
    limits,
    serve: () => () => {},
    gone: (index) => void gone.push(index),
    keyKnown: () => {},
    used: () => {},
    unused: () => {},
  });
  const said = () => log.lines.map(({ message }) => message);
  return { clock, gone, threads, slot, said };
}

class Thread {
  readonly asked: { id: number; name: string }[] = [];
  kills = 0;
  #say: (message: unknown) => void = () => {};
  #ended: (why: string) => void = () => {};
  readonly port = {
    post: (message: unknown) => {
      if (isAsk(message)) this.asked.push(message);
    },
    listen: (receive: (message: unknown) => void) => {
      this.#say = receive;
    },
  };
  kill(): void {
    this.kills++;
  }
  onEnd(ended: (why: string) => void): void {
    this.#ended = ended;
  }
  ready(): void {
    this.#say({ kind: 'tell', name: 'ready', read: 0, body: { codecs: ['PCMU'], ports: 1 } });
  }
  answer(): void {
    const asked = this.asked.pop();
    this.#say({ kind: 'answer', id: asked?.id, read: 0, body: asked?.name === 'state' ? state : {} });
  }
  end(): void {
    this.#ended('exit code 1');
  }
}

function isAsk(message: unknown): message is { id: number; name: string } {
  return typeof message === 'object' && message !== null && 'id' in message && 'name' in message;
}

async function running() {
  const all = played();
  const started = all.slot.start();
  const [thread] = all.threads;
  thread?.ready();
  await started;
  return { ...all, thread };
}

test('a shard whose last answer comes with its end is replaced, and what it counted is counted once', async () => {
  const { clock, threads, slot, thread } = await running();
  thread?.answer();
  thread?.end();
  await turn();
  expect(slot.states.reduce((sum, { worker_deaths }) => sum + worker_deaths, 0)).toBe(0);
  clock.advance(limits.restartMs);
  expect(threads).toHaveLength(2);
  threads[1]?.ready();
  expect(slot.up).not.toBeNull();
});

test('a shard that does not answer is ended, and gets no calls from then on', async () => {
  const { clock, thread, slot, said, threads } = await running();
  thread?.answer();
  await turn();
  expect(slot.states.at(-1)).toEqual(state);
  clock.advance(limits.lookMs + limits.hangMs - 1);
  expect({ kills: thread?.kills, isUp: slot.up !== null }).toEqual({ kills: 0, isUp: true });
  clock.advance(1);
  expect({ kills: thread?.kills, isUp: slot.up !== null }).toEqual({ kills: 1, isUp: false });
  thread?.end();
  clock.advance(limits.restartMs);
  expect(threads).toHaveLength(2);
  expect(said()).toEqual(['a media shard is ended', 'a media shard ended; its calls end and it is replaced']);
});

test('a shard that cannot be ended loses its calls, and is replaced when its thread is over', async () => {
  const { clock, gone, thread, slot, said, threads } = await running();
  const shard = slot.up;
  const failed: string[] = [];
  const made = shard?.createLeg({
    callId: 'a',
    codecs: ['PCMU'],
    failed: (error) => void failed.push(error.message),
  });
  thread?.answer();
  await made;
  clock.advance(limits.hangMs);
  expect(failed).toEqual([]);
  clock.advance(limits.stopMs);
  expect(failed).toEqual(['the media shard that carried the call ended']);
  expect({ gone, threads: threads.length, last: said().at(-1) }).toEqual({
    gone: [],
    threads: 1,
    last: 'a media shard does not end: its calls end, and it takes no others',
  });
  thread?.end();
  clock.advance(limits.restartMs);
  expect({ gone, threads: threads.length, failed: failed.length }).toEqual({
    gone: [0],
    threads: 2,
    failed: 1,
  });
});
