/**
 * Memory of what connections hold: incomplete messages, or what waits for peers. Each connection's is limited by size and
 * by time, but the sum over thousands of them is not. When the sum exceeds its limit, the group that holds most loses the
 * connection that holds most. So what one source has does not displace that of others.
 */

export interface OctetHolder {
  /** The owner of the memory: the network of a stranger, the share of a known source. */
  readonly group: string;
  readonly isStranger: boolean;
  destroy(reason: string): void;
}

interface Group {
  readonly holders: Map<OctetHolder, number>;
  octets: number;
}

/** One sum and its limit: for all strangers, or for all known sources. */
class Budget {
  readonly #limit: number;
  readonly #groups = new Map<string, Group>();
  octets = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  set(holder: OctetHolder, name: string, octets: number): void {
    const group = this.#groups.get(name) ?? { holders: new Map<OctetHolder, number>(), octets: 0 };
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

  largest(): OctetHolder | null {
    let most: Group | null = null;
    for (const group of this.#groups.values()) if (!most || group.octets > most.octets) most = group;
    let found: OctetHolder | null = null;
    let size = 0;
    for (const [holder, octets] of most?.holders ?? []) {
      if (octets <= size) continue;
      found = holder;
      size = octets;
    }
    return found;
  }
}

export class HeldOctets {
  readonly #what: string;
  readonly #strangers: Budget;
  readonly #known: Budget;
  /** The budget and group of each holder: its group may change with the configuration. */
  readonly #charges = new Map<OctetHolder, { readonly budget: Budget; readonly group: string }>();
  #cut = 0;

  /**
   * @param what is held, for the reason of those that are closed
   * @param limits octets of all strangers, and of all others
   */
  constructor(what: string, limits: { readonly strangers: number; readonly known: number }) {
    this.#what = what;
    this.#strangers = new Budget(limits.strangers);
    this.#known = new Budget(limits.known);
  }

  /** Octets held now. */
  get octets(): number {
    return this.#strangers.octets + this.#known.octets;
  }

  /** Connections closed for exceeding the limit, since the start. */
  get cut(): number {
    return this.#cut;
  }

  /**
   * Sets the number of octets that `holder` holds. One connection, this or another, may be closed as a result.
   * @param octets 0 when it holds nothing any more or its connection has closed
   */
  set(holder: OctetHolder, octets: number): void {
    const charge = this.#charges.get(holder);
    if (charge) charge.budget.set(holder, charge.group, 0);
    this.#charges.delete(holder);
    if (octets === 0) return;
    const budget = holder.isStranger ? this.#strangers : this.#known;
    const { group } = holder;
    this.#charges.set(holder, { budget, group });
    budget.set(holder, group, octets);
    if (!budget.isOver) return;
    const largest = budget.largest();
    if (!largest) return;
    this.set(largest, 0);
    this.#cut++;
    largest.destroy(`memory limit of ${this.#what} reached, this connection had most`);
  }
}
