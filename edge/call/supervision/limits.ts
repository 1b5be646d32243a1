/** How many supervisors there may be. */
export interface SupervisionLimits {
  /** At one call: each of them costs as much as a transcoded call, and may speak to its parties. */
  readonly mostAtCall: number;
}

export const supervisionLimits: SupervisionLimits = {
  // As many as control creates (shared/supervision.ts).
  mostAtCall: 3,
};
