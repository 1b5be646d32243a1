/** How much is kept of what is measured on one call, besides the limits of the protocol. */
export interface MeasuredLimits {
  /** Samples of 5 s that are kept as they are, then only the minutes: the first hour of a call. */
  readonly wholeSamples: number;
  /** Samples that become one: a minute. */
  readonly mergedSamples: number;
  /** What is kept of one turn. */
  readonly mostMarks: number;
}

export const measuredLimits: MeasuredLimits = {
  wholeSamples: 720,
  mergedSamples: 12,
  // A usual turn has seven; the others are for speech that is held and goes on again and again.
  mostMarks: 32,
};
