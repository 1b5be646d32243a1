/** The RTP ports of the edge, split between its media shards and its test calls. */

export interface PortRange {
  readonly portMin: number;
  readonly portMax: number;
}

/** Port pairs for calls of tests, which are in the main thread: a sixteenth of all, at most 64; of few, a third. */
const testShare = 16;
const mostTestPairs = 64;
const fewTestPairs = 24;
const shareOfFew = 3;

/**
 * Disjoint ranges of port pairs.
 * @param shards wanted; fewer when there are fewer pairs
 */
export function portRanges(
  { portMin, portMax }: PortRange,
  shards: number,
): { readonly shards: readonly PortRange[]; readonly tests: PortRange } {
  const first = portMin + (portMin % 2);
  const pairs = Math.max(0, Math.floor((portMax - first + 1) / 2));
  const forTests = Math.max(
    Math.min(mostTestPairs, Math.floor(pairs / testShare)),
    Math.min(fewTestPairs, Math.floor(pairs / shareOfFew)),
    1,
  );
  const forCalls = pairs - forTests;
  const parts = Math.max(1, Math.min(shards, forCalls));
  const rangeOf = (from: number, to: number): PortRange => ({
    portMin: first + 2 * from,
    portMax: first + 2 * to - 1,
  });
  const border = (part: number) => Math.floor((part * forCalls) / parts);
  // Without a whole pair media says what is wrong with the settings.
  if (pairs < 2) return { shards: [{ portMin, portMax }], tests: { portMin, portMax } };
  return {
    shards: Array.from({ length: parts }, (_, part) => rangeOf(border(part), border(part + 1))),
    tests: rangeOf(forCalls, pairs),
  };
}
