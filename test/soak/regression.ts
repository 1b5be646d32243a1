/** The slope of a measured series, so that neither outliers nor a restart bend it. Pure. */

export interface Point {
  /** Calls made until this sample. */
  readonly calls: number;
  readonly value: number;
  /** Samples of one run of a process have the same number; pairs are formed within it only. */
  readonly segment: number;
}

export interface Slope {
  /** Median of the slopes of all pairs (Theil–Sen), per 1,000 calls. */
  readonly per1000: number;
  /** The slope is above this with a confidence of 95 % (the rank of Sen), per 1,000 calls. */
  readonly atLeast: number;
  /**
   * How steady the trend is: the sum of the pairs' signs in units of its standard deviation without a trend (Mann and
   * Kendall); above zero: growing.
   */
  readonly steadiness: number;
  /** Most calls within one segment. */
  readonly span: number;
  readonly points: number;
}

/** Standard deviations of a normal distribution below which 95 % of it are. */
const confidence = 1.645;

/**
 * Theil–Sen within segments: pairs of samples of different segments are not compared, because a restarted process
 * begins at another level.
 * @returns null when no segment has two samples at different numbers of calls
 */
export function slopeOf(points: readonly Point[]): Slope | null {
  const slopes: number[] = [];
  let signs = 0;
  let variance = 0;
  let span = 0;
  for (const segment of segmentsOf(points)) {
    for (const [index, later] of segment.entries()) {
      for (const earlier of segment.slice(0, index)) {
        const calls = later.calls - earlier.calls;
        if (calls <= 0) continue;
        slopes.push((later.value - earlier.value) / calls);
        signs += Math.sign(later.value - earlier.value);
        span = Math.max(span, calls);
      }
    }
    const n = segment.length;
    variance += (n * (n - 1) * (2 * n + 5)) / 18;
  }
  if (slopes.length === 0) return null;
  slopes.sort((one, other) => one - other);
  const below = Math.max(0, Math.floor((slopes.length - confidence * Math.sqrt(variance)) / 2));
  // One less, because the sum moves in steps of two (continuity correction).
  const corrected = Math.sign(signs) * Math.max(0, Math.abs(signs) - 1);
  return {
    per1000: 1000 * median(slopes),
    atLeast: 1000 * (slopes[below] ?? 0),
    steadiness: corrected / Math.sqrt(variance),
    span,
    points: points.length,
  };
}

/**
 * The lowest sample of each group of `size` in a row of one segment: memory of a garbage-collected process rises and
 * falls, and only what is left after a collection counts.
 */
export function troughs(points: readonly Point[], size: number): Point[] {
  return segmentsOf(points).flatMap((segment) => {
    const lowest: Point[] = [];
    for (let at = 0; at + size <= segment.length; at += size) {
      const group = segment.slice(at, at + size);
      lowest.push(group.reduce((low, one) => (one.value < low.value ? one : low)));
    }
    return lowest;
  });
}

/**
 * How far the floor of a series rises within a run of a process: the lowest sample of the run's second half, less that of
 * its first half; the median over all runs. Memory that an allocator gives back later rises without its floor.
 */
export function floorRise(points: readonly Point[]): number {
  const rises = segmentsOf(points).flatMap((segment) => {
    const half = segment.length >> 1;
    if (half === 0) return [];
    const lowest = (part: readonly Point[]) =>
      part.reduce((low, { value }) => Math.min(low, value), Number.POSITIVE_INFINITY);
    return [lowest(segment.slice(segment.length - half)) - lowest(segment.slice(0, half))];
  });
  return rises.length === 0 ? 0 : median(rises);
}

/** The first and the second half of each run of a process. What settles grows in the first. */
export function halves(points: readonly Point[]): readonly [first: Point[], second: Point[]] {
  const segments = segmentsOf(points);
  return [
    segments.flatMap((segment) => segment.slice(0, segment.length >> 1)),
    segments.flatMap((segment) => segment.slice(segment.length >> 1)),
  ];
}

/** @throws Error for an empty list */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  if (upper === undefined || lower === undefined) throw new Error('no values');
  return (lower + upper) / 2;
}

function segmentsOf(points: readonly Point[]): Point[][] {
  const segments = Map.groupBy(points, ({ segment }) => segment);
  return [...segments.values()];
}
