/**
 * The engine's dialogs against our calls. The two may differ for a moment, while a message is on its way between them;
 * what differs in two comparisons in a row, ten seconds apart, has been lost.
 */

/** A dialog of ours, as far as the comparison needs to know it. */
interface Compared {
  /** Whether the engine must have it: it is answered, and no BYE of ours is on its way. */
  readonly settled: boolean;
}

export interface Difference<Owner> {
  /** Ours, whose dialogs the engine does not know. */
  readonly lost: readonly Owner[];
  /** Ids of dialogs that none of ours owns. */
  readonly unowned: readonly string[];
}

export class Reconciliation<Owner extends Compared> {
  #missing = new Set<Owner>();
  #strange = new Set<string>();

  /**
   * @param engine ids of the engine's dialogs
   * @param ours all that we hold, by id; a call of the edge to itself has one id twice
   */
  compare(engine: readonly string[], ours: Iterable<readonly [string, Owner]>): Difference<Owner> {
    const theirs = new Set(engine);
    const strange = new Set(engine);
    const missing = new Set<Owner>();
    for (const [id, owner] of ours) {
      strange.delete(id);
      if (owner.settled && !theirs.has(id)) missing.add(owner);
    }
    const lost = [...missing].filter((owner) => this.#missing.has(owner));
    const unowned = [...strange].filter((id) => this.#strange.has(id));
    this.#missing = missing;
    this.#strange = strange;
    return { lost, unowned };
  }

  /** The engine is another one: what it does not know, it has not lost. */
  forget(): void {
    this.#missing.clear();
    this.#strange.clear();
  }
}
