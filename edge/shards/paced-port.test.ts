import { describe, expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { Port } from './channel.ts';
import { paced } from './paced-port.ts';

/** A port, and turns of an event loop that are taken by hand. */
class Loop {
  readonly clock = new FakeClock();
  readonly read: unknown[] = [];
  #receive: (message: unknown) => void = () => {};
  #turns: (() => void)[] = [];

  /** @param costs ms that reading a message takes, and what it sets going */
  constructor(costs: (message: unknown) => { readonly ms: number; readonly laterMs?: number }) {
    const port: Port = {
      post: (message) => this.read.push({ posted: message }),
      listen: (receive) => {
        this.#receive = receive;
      },
    };
    const { clock } = this;
    const on = paced(port, { clock, nextTurn: (next) => this.#turns.push(next) });
    on.post('out');
    on.listen((message) => {
      this.read.push(message);
      const { ms, laterMs = 0 } = costs(message);
      clock.advance(ms);
      queueMicrotask(() => clock.advance(laterMs));
    });
  }

  /** Messages that have come, one callback each, as Node calls them. */
  async come(...messages: unknown[]): Promise<void> {
    for (const message of messages) {
      this.#receive(message);
      await settled();
    }
  }

  /** @returns what was read in it */
  async turn(): Promise<unknown[]> {
    const before = this.read.length;
    const turns = this.#turns;
    this.#turns = [];
    for (const next of turns) next();
    await settled();
    return this.read.slice(before);
  }

  get isIdle(): boolean {
    return this.#turns.length === 0;
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 100; i++) await null;
}

describe('a paced port', () => {
  test('reads what takes no time at once, and posts', async () => {
    const loop = new Loop(() => ({ ms: 0 }));
    await loop.come(1, 2, 3);
    expect(loop.read).toEqual([{ posted: 'out' }, 1, 2, 3]);
    await loop.turn();
    expect(loop.isIdle).toBe(true);
  });

  test('reads in order for two milliseconds per turn, while more messages arrive', async () => {
    const loop = new Loop(() => ({ ms: 1 }));
    await loop.come(1, 2, 3, 4, 5);
    expect(loop.read.slice(1)).toEqual([1, 2]);
    await loop.come(6);
    expect(await loop.turn()).toEqual([3, 4]);
    await loop.come(7);
    expect(await loop.turn()).toEqual([5, 6]);
    expect(await loop.turn()).toEqual([7]);
    expect(await loop.turn()).toEqual([]);
    expect(loop.isIdle).toBe(true);
    await loop.come(8);
    expect(loop.read.at(-1)).toBe(8);
  });

  test('counts what a message sets going in its turn', async () => {
    const loop = new Loop(() => ({ ms: 0, laterMs: 3 }));
    await loop.come(1, 2, 3);
    expect(loop.read.slice(1)).toEqual([1]);
    expect(await loop.turn()).toEqual([2]);
    expect(await loop.turn()).toEqual([3]);
  });

  test('reads one message in a turn, however long it takes', async () => {
    const loop = new Loop(() => ({ ms: 50 }));
    await loop.come(1, 2, 3);
    expect(await loop.turn()).toEqual([2]);
    expect(await loop.turn()).toEqual([3]);
  });

  test('an error of the reader is that of the turn, and not a rejection', async () => {
    const port = { post: () => {}, listen: (take: (message: unknown) => void) => take('bad') };
    const on = paced(port, { clock: new FakeClock(), nextTurn: () => {} });
    expect(() =>
      on.listen(() => {
        throw new Error('broken');
      }),
    ).toThrow('broken');
  });
});
