import { expect, it } from 'vitest';
import { Talk } from './talk.ts';

/** A party whose detector judges as the test says. */
async function party() {
  const changes: boolean[] = [];
  let closed = 0;
  let judge: (ms: number, probability: number) => void = () => {};
  const voices = {
    load: () => Promise.resolve(),
    create: (_rate: number, judged: typeof judge) => {
      judge = judged;
      return { write: () => {}, close: () => void closed++ };
    },
  };
  const talk = new Talk(
    8000,
    voices,
    (speaks) => changes.push(speaks),
    (error) => {
      throw error;
    },
  );
  await Promise.resolve();
  await Promise.resolve();
  return {
    talk,
    changes,
    /** The probability for this time, in pieces of 20 ms. */
    hears: (ms: number, probability: number) => {
      for (let at = 0; at < ms; at += 20) judge(20, probability);
    },
    closed: () => closed,
  };
}

it('begins with 200 ms of a voice, and ends with a second without one', async () => {
  const { hears, changes } = await party();
  hears(180, 1);
  expect(changes).toEqual([]);
  hears(20, 0.5);
  expect(changes).toEqual([true]);
  hears(980, 0.4);
  expect(changes).toEqual([true]);
  hears(20, 0);
  expect(changes).toEqual([true, false]);
});

it('is not begun by coughs, and not ended by pauses', async () => {
  const { hears, changes } = await party();
  for (let cough = 0; cough < 10; cough++) {
    hears(180, 1);
    hears(300, 0);
  }
  expect(changes).toEqual([]);
  for (let word = 0; word < 10; word++) {
    hears(200, 1);
    hears(980, 0);
  }
  expect(changes).toEqual([true]);
});

it('ends when the party leaves, and what is judged later changes nothing', async () => {
  const { talk, hears, changes, closed } = await party();
  hears(200, 1);
  talk.close();
  talk.close();
  hears(400, 1);
  expect(changes).toEqual([true, false]);
  expect(closed()).toBe(1);
});

it('says why nobody will be heard', async () => {
  const failed = await new Promise((resolve) => {
    const voices = { load: () => Promise.reject(new Error('no module')), create: () => expect.unreachable() };
    new Talk(8000, voices, () => {}, resolve);
  });
  expect(failed).toMatchObject({ message: 'no module' });
});
