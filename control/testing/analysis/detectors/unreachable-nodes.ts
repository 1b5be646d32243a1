/**
 * Unreachable nodes: found in the graph alone, and reported only when the run has missed one of them, by an assertion
 * or by the caller's words.
 */
import type { GraphNode } from '#shared/agent/graph-node.ts';
import { reachableFrom } from '#shared/agent/graph-warnings.ts';
import { bestByWords } from '#shared/models/rule-engine.ts';
import { hear } from '../../callers/hearing.ts';
import {
  type CallerLine,
  callerLines,
  type FailedCase,
  type TestedGraph,
  type WantedNode,
  wantedNodes,
} from '../case.ts';
import type { Finding } from '../finding.ts';
import { ownWords } from '../own-words.ts';
import { circles } from './circles.ts';
import { described, heard } from './missed-options.ts';
import { skippedSteps } from './skipped-steps.ts';

export function unreachableNodes(failed: FailedCase): Finding[] {
  const { tested } = failed;
  if (!tested) return [];
  const { graph } = tested;
  const reached = reachableFrom(graph, [graph.start, ...graph.globals]);
  const islands = [...graph.nodes.values()].filter(({ id }) => !reached.has(id));
  // A loop that never got there shows better where its path should begin.
  if (islands.length === 0 || circles(failed).length > 0 || skippedSteps(failed).length > 0) return [];
  const wanted = wantedNodes(failed).filter(({ id }) => islands.some((node) => node.id === id));
  const named = wanted.flatMap(({ id, after }) => {
    const entry = entryTo(tested, islands, id);
    return entry ? [connected(failed, tested, entry, { after })] : [];
  });
  return named.length > 0
    ? named
    : entries(tested, islands).map((entry) => connected(failed, tested, entry, null));
}

/** The nodes of islands that no other node of an island leads to; all where each leads to another. */
function entries({ graph }: TestedGraph, islands: readonly GraphNode[]): GraphNode[] {
  const inside = islands.flatMap(({ id }) => (graph.edgesFrom.get(id) ?? []).map(({ target }) => target));
  const entered = new Set(inside);
  const free = islands.filter(({ id }) => !entered.has(id));
  return free.length > 0 ? free : [...islands];
}

function entryTo(tested: TestedGraph, islands: readonly GraphNode[], id: string): GraphNode | undefined {
  const leading = entries(tested, islands).find((node) => reachableFrom(tested.graph, [node]).has(id));
  return leading ?? tested.graph.nodes.get(id);
}

const certain = { named: 0.85, words: 0.8, asked: 0.7, last: 0.55, aside: 0.2 };

/** Set when an assertion expects a node of the island, and says where it should come from. */
type Wanted = Pick<WantedNode, 'after'>;

function connected(
  failed: FailedCase,
  tested: TestedGraph,
  entry: GraphNode,
  wanted: Wanted | null,
): Finding {
  const description = `Nothing leads to “${entry.name}” from the start of the pathway.`;
  const from = sourceOf(failed, tested, entry, wanted);
  if (!from) {
    return {
      cause: 'flow',
      type: 'flow_change',
      nodeId: entry.id,
      description,
      suggestedChange: `Add an edge that leads to “${entry.name}”, or delete the node.`,
      confidence: certain.aside,
      edit: null,
    };
  }
  const { node, words, confidence } = from;
  const own = words === null ? '' : heard(ownWords(tested.graph, entry.id, words));
  return {
    cause: 'flow',
    type: 'flow_change',
    nodeId: node.id,
    description,
    suggestedChange: `Add an edge from “${node.name}” to “${entry.name}”${own === '' ? ', once the node is done' : `. ${own}`}`,
    confidence,
    edit: {
      kind: 'add_edge',
      source: node.id,
      target: entry.id,
      label: entry.name,
      description: own,
    },
  };
}

/**
 * Where the path should begin: after the node of the reference, where the caller's words match, else where it ended.
 */
function sourceOf(
  failed: FailedCase,
  { graph }: TestedGraph,
  entry: GraphNode,
  wanted: Wanted | null,
): { readonly node: GraphNode; readonly words: string | null; readonly confidence: number } | null {
  const lines = callerLines(failed).filter(({ nodeId }) => leadsOn(graph.nodes.get(nodeId)));
  const of = (line: CallerLine | undefined, confidence: number) => {
    const node = line && graph.nodes.get(line.nodeId);
    return node ? { node, words: line.words, confidence } : null;
  };
  const named = graph.nodes.get(wanted?.after ?? '');
  if (named && leadsOn(named)) {
    const words = lines.findLast(({ nodeId }) => nodeId === named.id)?.words ?? null;
    return { node: named, words, confidence: certain.named };
  }
  const scored = lines
    .map((line) => ({ line, score: bestByWords([described(entry)], line.words)?.score ?? 0 }))
    .toSorted((a, b) => b.score - a.score);
  const [best] = scored;
  if (best && best.score >= 2) return of(best.line, certain.words);
  if (!wanted) return null;
  // What a caller wants is said where the agent asks for it.
  const told = lines.find(({ asked }) => hear([asked]).opensFloor);
  return told ? of(told, certain.asked) : of(lines.at(-1), certain.last);
}

function leadsOn(node: GraphNode | undefined): boolean {
  return node !== undefined && node.type !== 'End Call' && node.type !== 'Transfer Call';
}
