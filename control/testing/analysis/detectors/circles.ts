/** Loops: the conversation repeated the same nodes, and never reached what an assertion expects. */
import type { GraphEdge } from '#shared/agent/graph.ts';
import { bestByWords } from '#shared/models/rule-engine.ts';
import { callerLines, type FailedCase, nodeName, type TestedGraph, wantedNodes } from '../case.ts';
import type { Finding } from '../finding.ts';

const certainty = 0.88;

interface Return {
  readonly from: string;
  readonly to: string;
  readonly times: number;
}

export function circles(failed: FailedCase): Finding[] {
  const { tested } = failed;
  const [wanted] = wantedNodes(failed);
  if (!tested || !wanted || !tested.graph.nodes.has(wanted.id)) return [];
  return returns(failed.record.nodes_visited ?? []).flatMap(
    (back) => findingFor(failed, tested, back, wanted.id) ?? [],
  );
}

/** Steps to an earlier node, taken at least twice. */
function returns(visited: readonly string[]): Return[] {
  const found = new Map<string, Return>();
  for (const [index, to] of visited.entries()) {
    const from = visited[index - 1];
    if (from === undefined || from === to || visited.indexOf(to) >= visited.indexOf(from)) continue;
    const key = JSON.stringify([from, to]);
    found.set(key, { from, to, times: (found.get(key)?.times ?? 0) + 1 });
  }
  return [...found.values()].filter(({ times }) => times > 1);
}

function findingFor(
  failed: FailedCase,
  { graph }: TestedGraph,
  { from, times, to }: Return,
  wanted: string,
): Finding | null {
  const said = callerLines(failed).find(({ nodeId }) => nodeId === from);
  const edges: GraphEdge[] = (graph.edgesFrom.get(from) ?? []).filter(({ target }) => target === to);
  const edge = edges[bestByWords(edges, said?.words ?? '')?.index ?? 0];
  if (!said || !edge) return null;
  const name = (id: string) => `“${nodeName(failed, id)}”`;
  return {
    cause: 'flow',
    type: 'flow_change',
    nodeId: from,
    description: `The conversation went from ${name(from)} back to ${name(to)} ${times} times, by the edge ${JSON.stringify(edge.label)} when the caller said ${JSON.stringify(said.words.slice(0, 200))}.`,
    suggestedChange: `Have the edge ${JSON.stringify(edge.label)} of ${name(from)} lead to ${name(wanted)} instead of back to ${name(to)}.`,
    confidence: certainty,
    edit: { kind: 'retarget_edge', source: from, target: to, label: edge.label, to: wanted },
  };
}
