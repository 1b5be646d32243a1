import type { SourcesByOwner } from '#shared/engine-protocol/lines.ts';
/** Which sources the configuration names, and the share that each belongs to. Pure. */
import { AddressMap } from '#shared/networks.ts';

/** The owners of an entry, as a chain: each set of owners is created once, so equal sets are the same object. */
interface Owners {
  readonly id: number;
  readonly last: string;
  readonly more: Map<string, Owners>;
}

/**
 * Sources with the same owners have one share of the capacity: an organization cannot enlarge its share by
 * listing more addresses, and a carrier that several organizations list counts for none of them alone.
 */
export class KnownSources {
  readonly #owners = new AddressMap<Owners>();
  readonly #roots = new Map<string, Owners>();
  #sets = 0;

  constructor(byOwner: SourcesByOwner = {}) {
    for (const [owner, entries] of Object.entries(byOwner)) {
      for (const entry of entries) this.#owners.put(entry, (before) => this.#with(before, owner));
    }
  }

  /** The share that a source belongs to; null for a stranger. */
  shareOf(address: string): string | null {
    const ids = new Set(this.#owners.find(address).map(({ id }) => id));
    return ids.size === 0 ? null : [...ids].sort((a, b) => a - b).join('+');
  }

  /** Owners are added one by one, so that the same set is always built in the same order. */
  #with(before: Owners | undefined, owner: string): Owners {
    if (before?.last === owner) return before;
    const siblings = before ? before.more : this.#roots;
    let owners = siblings.get(owner);
    if (!owners) {
      owners = { id: this.#sets++, last: owner, more: new Map() };
      siblings.set(owner, owners);
    }
    return owners;
  }
}
