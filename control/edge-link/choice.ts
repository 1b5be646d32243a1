/** Which edge makes an outbound call. Pure. */

export interface Candidate {
  readonly edgeId: string;
  /** Whether it has left a command unanswered: its link is not yet known to be dead. */
  readonly isSilent: boolean;
  /** Null: it serves every region. */
  readonly region: string | null;
  readonly weight: number;
  /** Whether its SIP engine is up. */
  readonly hasEngine: boolean;
  /** Its calls, with those ordered since it last reported them. */
  readonly calls: number;
}

/** The region that a call should leave from. */
export interface RegionWish {
  readonly region: string;
  /** Whether the call fails rather than leave from another region. */
  readonly strict: boolean;
}

/**
 * The candidate with the fewest calls for its weight, so that calls spread by weight. Better in this order: not
 * silent, with an engine, in the region, with a weight above 0.
 * @param candidates in any order; equals are chosen in that order
 * @returns null when there is none, or none in a strict region
 */
export function chooseEdge<Edge extends Candidate>(
  candidates: readonly Edge[],
  wish: RegionWish | null = null,
): Edge | null {
  const inRegion = ({ region }: Candidate) => wish === null || region === null || region === wish.region;
  const allowed = wish?.strict ? candidates.filter(inRegion) : candidates;
  // Without any engine the call gets its own cause, `engine_lost`.
  const able = preferred(
    allowed,
    ({ isSilent }) => !isSilent,
    ({ hasEngine }) => hasEngine,
    inRegion,
    ({ weight }) => weight > 0,
  );
  let best: Edge | null = null;
  for (const one of able) if (best === null || load(one) < load(best)) best = one;
  return best;
}

/** Keeps at each step only those that are better, if there are any. */
function preferred<Edge>(edges: readonly Edge[], ...steps: readonly ((edge: Edge) => boolean)[]) {
  let left = edges;
  for (const isBetter of steps) {
    const better = left.filter(isBetter);
    if (better.length > 0) left = better;
  }
  return left;
}

/** What its load would be with this call. */
function load({ calls, weight }: Candidate): number {
  return (calls + 1) / Math.max(weight, 1);
}
