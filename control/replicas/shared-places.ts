/**
 * Places that are taken and left again, such as open event streams: each key has at most so many at a time, at all
 * replicas together. Those of a replica that dies are free when its presence has expired. How far several replicas
 * together may go beyond a limit: shared-counts.ts.
 */
import { alone, type Join, type Teller } from './shared-counts.ts';

/** A key, and how many of its places the sender has. */
type Entry = readonly [string, number];

export class SharedPlaces {
  readonly #teller: Teller;
  readonly #own = new Map<string, number>();
  /** What the other replicas have heard of `own`. */
  readonly #heardOfOwn = new Map<string, number>();
  /** Places of other replicas, by key and replica. */
  readonly #others = new Map<string, Map<string, number>>();
  /** Keys with something to tell. */
  readonly #changed = new Set<string>();
  #onWay: readonly Entry[] = [];

  constructor(join: Join = alone) {
    this.#teller = join<Entry>({
      collect: () => this.#collect(),
      told: (heard) => this.#told(heard),
      heard: (entries, sender) => this.#heard(entries, sender),
      all: () => [...this.#own],
      known: (entries, sender) => this.#heard(entries, sender),
      left: (sender) => {
        for (const key of [...this.#others.keys()]) this.#set(key, sender, 0);
        // From now on nobody is told; who comes later is told everything.
        if (this.#teller.isAlone) this.#heardOfOwn.clear();
      },
    });
  }

  /**
   * Takes a place. Resolves with a function that leaves it, to be called once; with null when all `most` are taken.
   * @throws ApiError SERVICE_UNAVAILABLE when other replicas must hear of taken places first, and cannot be reached
   */
  async enter(key: string, most: number): Promise<(() => void) | null> {
    for (;;) {
      if (this.#taken(key) >= most) return null;
      if (this.#teller.isAlone || this.#untold(key) < this.#teller.allowance(most)) break;
      this.#changed.add(key);
      await this.#teller.now();
    }
    this.#own.set(key, (this.#own.get(key) ?? 0) + 1);
    if (!this.#teller.isAlone) {
      this.#changed.add(key);
      if (this.#untold(key) * 2 >= this.#teller.allowance(most)) this.#teller.soon();
      else this.#teller.later();
    }
    return () => this.#leave(key);
  }

  #leave(key: string): void {
    const left = (this.#own.get(key) ?? 1) - 1;
    if (left === 0) this.#own.delete(key);
    else this.#own.set(key, left);
    if (this.#teller.isAlone) return;
    this.#changed.add(key);
    this.#teller.later();
  }

  #taken(key: string): number {
    let taken = this.#own.get(key) ?? 0;
    for (const places of this.#others.get(key)?.values() ?? []) taken += places;
    return taken;
  }

  #untold(key: string): number {
    return (this.#own.get(key) ?? 0) - (this.#heardOfOwn.get(key) ?? 0);
  }

  #collect(): readonly Entry[] {
    this.#onWay = [...this.#changed].map((key) => [key, this.#own.get(key) ?? 0]);
    this.#changed.clear();
    return this.#onWay;
  }

  #told(heard: boolean): void {
    for (const [key, places] of this.#onWay) {
      if (!heard) this.#changed.add(key);
      else if (places === 0) this.#heardOfOwn.delete(key);
      else this.#heardOfOwn.set(key, places);
    }
  }

  #heard(entries: readonly Entry[], sender: string): void {
    for (const [key, places] of entries) this.#set(key, sender, places);
  }

  #set(key: string, sender: string, places: number): void {
    const others = this.#others.get(key) ?? new Map<string, number>();
    if (places === 0) others.delete(sender);
    else others.set(sender, places);
    if (others.size === 0) this.#others.delete(key);
    else this.#others.set(key, others);
  }
}
