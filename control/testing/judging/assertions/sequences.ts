/** Comparing paths through a graph. Pure; at most a few hundred steps each. */

/** Index of the first member of `wanted` not found in order, or -1 when `wanted` is a subsequence of `way`. */
export function firstUnmet(wanted: readonly string[], way: readonly string[]): number {
  let next = 0;
  for (const step of way) if (next < wanted.length && step === wanted[next]) next++;
  return next === wanted.length ? -1 : next;
}

/** Length of the longest common subsequence. */
export function commonLength(a: readonly string[], b: readonly string[]): number {
  let before: number[] = new Array<number>(b.length + 1).fill(0);
  for (const step of a) {
    const row = [0];
    b.forEach((other, index) => {
      const left = row[index] ?? 0;
      const up = before[index + 1] ?? 0;
      row.push(step === other ? (before[index] ?? 0) + 1 : Math.max(left, up));
    });
    before = row;
  }
  return before[b.length] ?? 0;
}

/** Levenshtein distance: insertions, deletions or replacements. */
export function editDistance(a: readonly string[], b: readonly string[]): number {
  let before = Array.from({ length: b.length + 1 }, (_, index) => index);
  a.forEach((step, place) => {
    const row = [place + 1];
    b.forEach((other, index) => {
      const replaced = (before[index] ?? 0) + (step === other ? 0 : 1);
      row.push(Math.min(replaced, (before[index + 1] ?? 0) + 1, (row[index] ?? 0) + 1));
    });
    before = row;
  });
  return before[b.length] ?? 0;
}
