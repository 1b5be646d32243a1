import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Random numbers from one seed (sfc32): the same seed gives the same run on every machine. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = 0x9e3779b9;
    this.#c = 0x85ebca6b;
    for (let i = 0; i < 12; i++) this.next();
  }

  /** 0 <= next() < 1 */
  next(): number {
    const t = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + t;
    return (t >>> 0) / 2 ** 32;
  }

  /** An integer, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws Error when the list is empty */
  pick<T>(from: readonly T[]): T {
    const one = from[this.between(0, from.length - 1)];
    if (one === undefined) throw new Error('nothing to choose from');
    return one;
  }

  /** One of several, chosen by weight. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries(weights) as [T, number][];
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return this.pick(entries)[0];
  }
}

/** Makes the process's own random sources, from identifiers to jitter, use the seed, permanently. */
export function takeChance(random: Random): void {
  const octets = (count: number) => Buffer.from(Array.from({ length: count }, () => random.between(0, 255)));
  const uuid = () => {
    const hex = octets(16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  const fill = <T extends NodeJS.ArrayBufferView>(view: T): T => {
    octets(view.byteLength).copy(Buffer.from(view.buffer, view.byteOffset, view.byteLength));
    return view;
  };
  Math.random = () => random.next();
  Object.assign(crypto, {
    randomUUID: uuid,
    randomBytes: (count: number, done?: (error: null, bytes: Buffer) => void) => {
      const bytes = octets(count);
      if (done) process.nextTick(() => done(null, bytes));
      return bytes;
    },
    randomInt: (one: number, other?: number) =>
      other === undefined ? random.between(0, one - 1) : random.between(one, other - 1),
    randomFillSync: fill,
  });
  globalThis.crypto.getRandomValues = fill as typeof globalThis.crypto.getRandomValues;
  syncBuiltinESMExports();
}
