/** Whether a measured series is flat, grows within a known bound, or leaks. Pure. */
import { floorRise, halves, type Point, type Slope, slopeOf, troughs } from './regression.ts';

export type Verdict = 'flat' | 'growing' | 'leaking' | 'too short';

/** When growth of a kind of series counts. Both limits must be exceeded, the series' floor must rise, and it must go on. */
export interface Threshold {
  /** Growth per 1,000 calls that does not matter at any length of the run. */
  readonly per1000: number;
  /** Growth within one run of a process that it needs once, until it has settled. */
  readonly settling: number;
  /** Samples of which only the lowest counts; 1: each counts. */
  readonly trough: number;
}

const mib = 1024 * 1024;

export const thresholds = {
  /**
   * 256 octets per call: less than any object that belongs to a call. The heap's generations, compiled code and the
   * allocator's arenas of a program settle within 48 MiB.
   */
  memory: { per1000: 0.25 * mib, settling: 48 * mib, trough: 10 },
  /** The soak's own process, which carries the media of up to 150 calls: only a leak that would end it matters. */
  own: { per1000: 4 * mib, settling: 256 * mib, trough: 10 },
  /** 128 octets per call. Caches and compiled functions fill within 16 MiB. */
  heap: { per1000: 0.125 * mib, settling: 16 * mib, trough: 10 },
  /** One in 1,000 calls. Connections of a database, of keep-alive clients and of trunks are opened when needed. */
  descriptors: { per1000: 1, settling: 16, trough: 10 },
  /** As descriptors; the load itself varies by some calls, each of which has a few. */
  activity: { per1000: 1, settling: 16, trough: 10 },
  /** Rows are counted exactly: one in 100 calls, after the tables of the set-up are filled. */
  rows: { per1000: 10, settling: 20, trough: 1 },
  /** 256 octets per call; files grow in pages and are emptied at checkpoints. */
  disk: { per1000: 0.25 * mib, settling: 4 * mib, trough: 10 },
} as const satisfies Record<string, Threshold>;

export type Kind = keyof typeof thresholds;

/** Fewest samples after which a trend can be told from chance. */
const fewestPoints = 8;
/** Standard deviations: less happens by chance once in 700 series without a trend. */
const leastSteadiness = 3;
/**
 * Least slope of the second halves, as a share of that of the first. A leak has the same in both. What approaches a bound
 * has less: half at 1.4 time constants in a run, a quarter at 2.8.
 */
const goesOn = 0.5;

export interface Judged {
  readonly verdict: Verdict;
  readonly slope: Slope | null;
  /** What ends the growth, such as the retention of a table; null: nothing is known to. */
  readonly bound: string | null;
}

/** @param bound what is known to end the growth of this series */
export function judge(points: readonly Point[], kind: Kind, bound: string | null = null): Judged {
  const threshold: Threshold = thresholds[kind];
  const lowest = threshold.trough > 1 ? troughs(points, threshold.trough) : points;
  const slope = slopeOf(lowest);
  const verdict = verdictOf(lowest, slope, floorRise(points), threshold, bound);
  return { verdict, slope, bound: verdict === 'growing' ? bound : null };
}

function verdictOf(
  lowest: readonly Point[],
  slope: Slope | null,
  rise: number,
  threshold: Threshold,
  bound: string | null,
): Verdict {
  if (slope === null || slope.points < fewestPoints) return 'too short';
  if (slope.per1000 <= threshold.per1000 || grownBy(slope) <= threshold.settling) return 'flat';
  if (slope.steadiness < leastSteadiness) return 'flat';
  // What grows in a straight line by `settling` has risen by half of that between the beginnings of the halves.
  if (rise < threshold.settling / 2) return 'flat';
  if (!isGoingOn(lowest, threshold)) return 'flat';
  return bound === null ? 'leaking' : 'growing';
}

/** Whether the second halves of the runs still grow, or have only come closer to a plateau. */
function isGoingOn(lowest: readonly Point[], threshold: Threshold): boolean {
  const [first, second] = halves(lowest).map(slopeOf);
  // Runs that are too short for halves: their slope is all that there is.
  if (!first || !second) return true;
  if (second.atLeast <= threshold.per1000) return false;
  // A plateau was never this far away.
  if (grownBy(second) > threshold.settling) return true;
  return second.per1000 >= goesOn * first.per1000;
}

function grownBy({ per1000, span }: Slope): number {
  return (per1000 * span) / 1000;
}
