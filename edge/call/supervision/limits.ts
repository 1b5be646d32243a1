/** What supervisors may do. */
export interface SupervisionLimits {
  /** At one call: each of them costs as much as a transcoded call, and may speak to its parties. */
  readonly mostAtCall: number;
  /** Of texts that the person on a call is told one after the other, ms. */
  readonly mostToldMs: number;
}

export const supervisionLimits: SupervisionLimits = {
  // As many as control creates (shared/supervision.ts).
  mostAtCall: 3,
  // Two texts of the longest kind.
  mostToldMs: 180_000,
};
