/** The name that was probably meant. */

/** Letters to change, of all letters of the name: more than a third is another word. */
const mostChanged = 1 / 3;

/** @returns the most similar name; null when none is similar */
export function nearest(word: string, names: readonly string[]): string | null {
  const begun = names.find((name) => word.length >= 2 && name.startsWith(word));
  if (begun !== undefined) return begun;
  const [best] = names
    .map((name) => ({ name, changes: changesBetween(word, name) }))
    .filter(({ name, changes }) => changes <= Math.max(1, Math.floor(name.length * mostChanged)))
    .sort((a, b) => a.changes - b.changes);
  return best?.name ?? null;
}

/** Letters to insert, remove, replace or swap with their neighbour (optimal string alignment). */
function changesBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  const cell = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const replaced = cell(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? cell(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      rows[i]?.push(Math.min(replaced, swapped, cell(i - 1, j) + 1, cell(i, j - 1) + 1));
    }
  }
  return cell(a.length, b.length);
}
