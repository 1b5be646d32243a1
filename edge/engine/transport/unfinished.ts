/**
 * Memory of messages that have begun and are not complete. Each is bounded by the largest message and by time, but not
 * the sum over thousands of connections: when that is over its limit, the largest message of the group that holds most
 * ends with its connection. So nobody's messages cost those of others.
 */
import type { TransportLimits } from './limits.ts';

export interface UnfinishedHolder {
  /** Whose memory it is: the network of a stranger, the share of a known source. */
  readonly group: string;
  readonly isStranger: boolean;
  cut(reason: string): void;
}

interface Group {
  readonly holders: Map<UnfinishedHolder, number>;
  octets: number;
}

/** One sum and its limit: of all strangers, or of all known sources. */
class Budget {
  readonly #limit: number;
  readonly #groups = new Map<string, Group>();
  octets = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  set(holder: UnfinishedHolder, name: string, octets: number): void {
    const group = this.#groups.get(name) ?? { holders: new Map<UnfinishedHolder, number>(), octets: 0 };
    const more = octets - (group.holders.get(holder) ?? 0);
    group.octets += more;
    this.octets += more;
    if (octets > 0) group.holders.set(holder, octets);
    else group.holders.delete(holder);
    if (group.holders.size === 0) this.#groups.delete(name);
    else this.#groups.set(name, group);
  }

  get isOver(): boolean {
    return this.octets > this.#limit;
  }

  largest(): UnfinishedHolder | null {
    let most: Group | null = null;
    for (const group of this.#groups.values()) if (!most || group.octets > most.octets) most = group;
    let found: UnfinishedHolder | null = null;
    let size = 0;
    for (const [holder, octets] of most?.holders ?? []) {
      if (octets <= size) continue;
      found = holder;
      size = octets;
    }
    return found;
  }
}

export class Unfinished {
  readonly #strangers: Budget;
  readonly #known: Budget;
  /** Where each holder is counted: its group may change with the configuration. */
  readonly #placeOf = new Map<UnfinishedHolder, { readonly budget: Budget; readonly group: string }>();
  #cut = 0;

  constructor(limits: TransportLimits) {
    this.#strangers = new Budget(limits.strangerUnfinishedBytes);
    this.#known = new Budget(limits.knownUnfinishedBytes);
  }

  /** Octets held now. */
  get octets(): number {
    return this.#strangers.octets + this.#known.octets;
  }

  /** Connections that ended for it, since the start. */
  get cut(): number {
    return this.#cut;
  }

  /**
   * From now on `holder` holds so many octets. One connection may end for it, this or another one.
   * @param octets 0 when its message is complete or its connection is gone
   */
  set(holder: UnfinishedHolder, octets: number): void {
    const place = this.#placeOf.get(holder);
    if (place) place.budget.set(holder, place.group, 0);
    this.#placeOf.delete(holder);
    if (octets === 0) return;
    const budget = holder.isStranger ? this.#strangers : this.#known;
    const { group } = holder;
    this.#placeOf.set(holder, { budget, group });
    budget.set(holder, group, octets);
    if (!budget.isOver) return;
    const largest = budget.largest();
    if (!largest) return;
    this.set(largest, 0);
    this.#cut++;
    largest.cut('unfinished messages hold too much memory, this one most of it');
  }
}
