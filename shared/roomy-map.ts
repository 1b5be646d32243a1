/**
 * Keys that keep the table large. With 512 of them V8 replaces it once in 512 to 1,500 insertions, and copying them costs
 * each insertion less than one entry.
 */
const keptFree = 512;

/**
 * A Map for entries that come and go quickly, such as transactions.
 *
 * V8 replaces the table of a Map every few insertions; with few entries it is a small one. The former table refers to the
 * new one and still contains the entries of that moment. Once a former table is in the old generation, it keeps each later
 * table alive until the next full collection, and with them nearly all that was ever in the Map: objects that live for a
 * millisecond are copied twice and fill the old generation. A table that is seldom replaced retains next to nothing.
 */
export class RoomyMap<Key extends string | object, Value> {
  readonly #entries = new Map<Key | number, Value | undefined>();

  constructor() {
    for (let i = 0; i < keptFree; i++) this.#entries.set(i, undefined);
  }

  get size(): number {
    return this.#entries.size - keptFree;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    this.#entries.set(key, value);
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  /** In the order of insertion; entries may be added and removed meanwhile, as with a Map. */
  *values(): IterableIterator<Value> {
    for (const value of this.#entries.values()) if (value !== undefined) yield value;
  }
}
