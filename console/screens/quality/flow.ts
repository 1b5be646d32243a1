/** What of a flow can be drawn: a drawing from left to right has no way back. Pure. */

export interface Way {
  readonly source: string;
  readonly target: string;
  readonly value: number;
}

/** More would be a carpet that nobody can read. */
const mostWays = 120;

/** The ways that most runs took, without those that would close a circle. @returns also how many were left out */
export function drawable<W extends Way>(ways: readonly W[]): { readonly drawn: W[]; readonly left: number } {
  const next = new Map<string, Set<string>>();
  const drawn = ways
    .toSorted((a, b) => b.value - a.value)
    .slice(0, mostWays)
    .filter(({ source, target }) => {
      if (leadsTo(next, target, source)) return false;
      const targets = next.get(source) ?? new Set();
      next.set(source, targets.add(target));
      return true;
    });
  return { drawn, left: ways.length - drawn.length };
}

function leadsTo(next: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === to) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    open.push(...(next.get(at) ?? []));
  }
  return false;
}
