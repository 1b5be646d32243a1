/**
 * Skipped steps: an edge leads past a node that nothing else leads to, although that node leads to where the edge ends.
 * The edge should lead to the node.
 */
import type { GraphNode } from '#shared/agent/graph-node.ts';
import { reachableFrom } from '#shared/agent/graph-warnings.ts';
import { type FailedCase, type TestedGraph, unmetConfigs, wantedNodes } from '../case.ts';
import type { Finding } from '../finding.ts';

const certainty = 0.95;

export function skippedSteps(failed: FailedCase): Finding[] {
  const { tested } = failed;
  if (!tested) return [];
  const { graph } = tested;
  const entered = new Set([...graph.edgesFrom.values()].flat().map(({ target }) => target));
  const wanted = new Set(wantedNodes(failed).map(({ id }) => id));
  const asked = new Set(unmetConfigs(failed, 'VARIABLE_EXTRACTED').map((one) => one.variable_name));
  const skipped = [...graph.nodes.values()].filter(
    (node) =>
      !entered.has(node.id) &&
      node.id !== graph.start.id &&
      node.globalLabel === null &&
      (node.extractVars.some(({ name }) => asked.has(name)) ||
        [...wanted].some((id) => id === node.id || reachableFrom(graph, [node]).has(id))),
  );
  const [only] = skipped;
  // With several it is open which comes first.
  return only && skipped.length === 1 ? findingsFor(failed, tested, only) : [];
}

function findingsFor({ record }: FailedCase, { graph }: TestedGraph, node: GraphNode): Finding[] {
  const visited = record.nodes_visited ?? [];
  const next = new Set((graph.edgesFrom.get(node.id) ?? []).map(({ target }) => target));
  const steps = visited.flatMap((from, step) => {
    const to = visited[step + 1];
    const edges = (graph.edgesFrom.get(from) ?? []).filter(({ target }) => target === to);
    const [edge] = edges;
    return to !== undefined && edge && edges.length === 1 && next.has(to) ? [{ edge, from, to }] : [];
  });
  // In a loop the same step is taken several times.
  const past = [...new Map(steps.map((one) => [JSON.stringify([one.from, one.to]), one])).values()];
  const [step, ...others] = past;
  if (!step || others.length > 0) return [];
  const name = (id: string) => `“${graph.nodes.get(id)?.name ?? id}”`;
  const { edge, from, to } = step;
  return [
    {
      cause: 'flow',
      type: 'flow_change',
      nodeId: from,
      description: `The conversation went from ${name(from)} straight to ${name(to)}. ${name(node.id)} leads there, too, and nothing leads to ${name(node.id)}.`,
      suggestedChange: `Have the edge ${JSON.stringify(edge.label)} of ${name(from)} lead to ${name(node.id)}.`,
      confidence: certainty,
      edit: { kind: 'retarget_edge', source: from, target: to, label: edge.label, to: node.id },
    },
  ];
}
