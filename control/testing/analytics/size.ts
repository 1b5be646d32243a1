/** Lists of the analytics, cut to a size: the first or most frequent items stay. Pure. */
import type { EnhancedView } from '#shared/api/agent-testing/analytics.ts';

type Sankey = EnhancedView['sankey_data'];

/** The first items whose JSON has at most `bytes` in total. */
export function firstWithin<T>(items: readonly T[], bytes: number): T[] {
  let room = bytes;
  const end = items.findIndex((item) => {
    room -= size(item);
    return room < 0;
  });
  return items.slice(0, end < 0 ? items.length : end);
}

/** The links with most runs, with their nodes, within `bytes` of JSON. */
export function flowWithin({ links, nodes }: Sankey, bytes: number): Sankey & { readonly isCut: boolean } {
  if (size(links) + size(nodes) <= bytes) return { links, nodes, isCut: false };
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const kept = new Set<string>();
  const shown: Sankey['links'] = [];
  let room = bytes;
  for (const link of links.toSorted((a, b) => b.value - a.value)) {
    const ends = new Set([link.source, link.target].filter((id) => !kept.has(id)));
    const costs = size(link) + [...ends].reduce((sum, id) => sum + size(byId.get(id)), 0);
    if (costs > room) break;
    room -= costs;
    for (const id of ends) kept.add(id);
    shown.push(link);
  }
  return { links: shown, nodes: nodes.filter(({ id }) => kept.has(id)), isCut: true };
}

function size(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)) + 1;
}
