/** Seeded randomness: the same seed gives the same sequence on every machine. */
export interface Chance {
  /** 0..1, excluding 1 */
  next(): number;
  /** @throws RangeError when `values` is empty */
  pick<T>(values: readonly T[]): T;
  shuffled<T>(values: readonly T[]): T[];
}

/** The generator mulberry32 (Tommy Ettinger, public domain): 32 bits of state, enough to choose phrases. */
export function chance(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    pick: (values) => {
      const value = values[Math.floor(next() * values.length)];
      if (value === undefined) throw new RangeError('there is nothing to pick from');
      return value;
    },
    shuffled: (values) => {
      const left = [...values];
      return values.flatMap(() => left.splice(Math.floor(next() * left.length), 1));
    },
  };
}
