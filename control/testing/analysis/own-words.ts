/**
 * The caller's words that a fix may use: those that the pathway has itself, where the fix leads to. The others are one
 * caller's, so an edge that names them fits one test and nobody else. Pure.
 */
import type { Graph } from '#shared/agent/graph.ts';
import { reachableFrom } from '#shared/agent/graph-warnings.ts';
import { stem, stems } from '#shared/models/words.ts';

/** What callers say whatever they want: it chooses nothing. */
const chosenOrGreeting =
  /\bgood (?:day|morning|afternoon|evening|night)\b|\b(?:the )?(?:first|second|third|last|other) (?:one|option)\b/gi;

/**
 * In the order in which they were said, each once; empty: the pathway has none of them there.
 * @param targetId the node that the fix leads to; null: words from anywhere, for an edge that must win over another
 */
export function ownWords(graph: Graph, targetId: string | null, words: string): string {
  const target = targetId === null ? graph.start : graph.nodes.get(targetId);
  if (!target) return '';
  const behind = targetId === null ? graph.nodes.keys() : reachableFrom(graph, [target]);
  const known = vocabulary(graph, [...behind], targetId === null);
  const asked = words.replaceAll(chosenOrGreeting, ' ');
  const wanted = new Set(stems(asked).filter((one) => known.has(one)));
  const said = asked.match(/[\p{L}\p{N}'’]+/gu) ?? [];
  const kept = said.filter((word) => wanted.delete(stem(word.toLowerCase().replaceAll(/['’]/g, ''))));
  return kept.join(' ').slice(0, 300);
}

/**
 * Whether words of a change are only one caller's: the caller said them, and the pathway has them nowhere.
 * Everybody says yes and no. @param said the lines of the caller
 */
export function hasCallersWords(graph: Graph, words: string, said: readonly string[]): boolean {
  const theirs = new Set(stems(said.join(' ')));
  const known = new Set([...vocabulary(graph, [...graph.nodes.keys()], true), 'yes', 'no']);
  return stems(words).some((one) => theirs.has(one) && !known.has(one));
}

/** The stems that nodes have in their names and words, and with `withLabels` those of all edges. */
export function vocabulary(graph: Graph, ids: readonly string[], withLabels: boolean): ReadonlySet<string> {
  const labels = withLabels ? [...graph.edgesFrom.values()].flat().map(({ label }) => label) : [];
  const texts = ids.flatMap((id) => {
    const node = graph.nodes.get(id);
    return node ? [node.name, node.text, node.prompt] : [];
  });
  return new Set(stems([...texts, ...labels].join(' ')));
}
