import { describe, expect, test } from 'vitest';
import { FakeClock } from './clock.ts';
import { pacedReader } from './paced-reader.ts';

/** A reader, and turns of an event loop that are taken by hand. */
class Loop {
  readonly clock = new FakeClock();
  readonly read: unknown[] = [];
  readonly #take: (message: unknown) => void;
  #turns: (() => void)[] = [];

  /** @param costs ms that reading a message takes, and what it sets going */
  constructor(costs: (message: unknown) => { readonly ms: number; readonly laterMs?: number }) {
    const { clock } = this;
    const read = (message: unknown) => {
      this.read.push(message);
      const { ms, laterMs = 0 } = costs(message);
      clock.advance(ms);
      queueMicrotask(() => clock.advance(laterMs));
    };
    this.#take = pacedReader(read, { clock, nextTurn: (next) => this.#turns.push(next) });
  }

  /** Messages that have come, one callback each, as Node calls them. */
  async come(...messages: unknown[]): Promise<void> {
    for (const message of messages) {
      this.#take(message);
      await settled();
    }
  }

  /** The same in one callback. */
  async comeTogether(...messages: unknown[]): Promise<void> {
    for (const message of messages) this.#take(message);
    await settled();
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

describe('a paced reader', () => {
  test('reads what takes no time at once', async () => {
    const loop = new Loop(() => ({ ms: 0 }));
    await loop.come(1, 2, 3);
    expect(loop.read).toEqual([1, 2, 3]);
    await loop.turn();
    expect(loop.isIdle).toBe(true);
  });

  test('reads in order for two milliseconds per turn, while more messages arrive', async () => {
    const loop = new Loop(() => ({ ms: 1 }));
    await loop.come(1, 2, 3, 4, 5);
    expect(loop.read).toEqual([1, 2]);
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
    expect(loop.read).toEqual([1]);
    expect(await loop.turn()).toEqual([2]);
    expect(await loop.turn()).toEqual([3]);
  });

  test('counts it also for messages that come together', async () => {
    const loop = new Loop(() => ({ ms: 0, laterMs: 3 }));
    await loop.comeTogether(1, 2, 3);
    expect(loop.read).toEqual([1]);
    expect(await loop.turn()).toEqual([2]);
    expect(await loop.turn()).toEqual([3]);
  });

  test('reads one message in a turn, however long it takes', async () => {
    const loop = new Loop(() => ({ ms: 50 }));
    await loop.come(1, 2, 3);
    expect(await loop.turn()).toEqual([2]);
    expect(await loop.turn()).toEqual([3]);
  });

  test('an error is that of the turn, and not a rejection; reading goes on', async () => {
    const read: string[] = [];
    const take = pacedReader(
      (message: string) => {
        read.push(message);
        if (message === 'bad') throw new Error('broken');
      },
      { clock: new FakeClock(), nextTurn: () => {} },
    );
    expect(() => take('bad')).toThrow('broken');
    take('good');
    await settled();
    expect(read).toEqual(['bad', 'good']);
  });
});
