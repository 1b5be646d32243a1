/** Limits an organization's concurrent runs, so that one with slow targets leaves room for the others. */
export class OrgGate {
  readonly #most: number;
  readonly #inside = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** A function to call on leaving; null when there is no room. */
  enter(orgId: string): (() => void) | null {
    const inside = this.#inside.get(orgId) ?? 0;
    if (inside >= this.#most) return null;
    this.#inside.set(orgId, inside + 1);
    return () => {
      const left = (this.#inside.get(orgId) ?? 1) - 1;
      if (left === 0) this.#inside.delete(orgId);
      else this.#inside.set(orgId, left);
    };
  }
}
