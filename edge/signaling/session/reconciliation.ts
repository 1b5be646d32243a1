/**
 * Compares the engine's dialogs with our calls. They may differ briefly while a message is in transit; what
 * differs in two consecutive comparisons, ten seconds apart, has been lost.
 */

/** The part of our dialog that the comparison needs. */
interface Compared {
  /** Whether the engine must have it: it is answered, and no BYE of ours is pending. */
  readonly settled: boolean;
}

export interface Difference<Owner> {
  /** Our dialogs that the engine does not know. */
  readonly lost: readonly Owner[];
  /** Ids of engine dialogs that we do not own. */
  readonly unowned: readonly string[];
}

export class Reconciliation<Owner extends Compared> {
  #missing = new Set<Owner>();
  #strange = new Set<string>();

  /**
   * @param engine ids of the engine's dialogs
   * @param ours all of ours, by id; a call of the edge to itself has the same id twice
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

  /** A new engine has no dialogs to lose: restarts the comparison. */
  forget(): void {
    this.#missing.clear();
    this.#strange.clear();
  }
}
