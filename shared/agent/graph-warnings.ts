/** Warnings for the author of a valid graph. */
import { isBuiltIn } from './built-in-names.ts';
import { type Graph, loadGraph } from './graph.ts';
import type { GraphNode } from './graph-node.ts';
import { isObject } from './graph-problem.ts';

export interface GraphWarning {
  /** RFC 6901 pointer into `{ nodes, edges }` */
  readonly path: string;
  readonly rule: 'unreachable_node' | 'response_pathway' | 'built_in_variable';
  readonly message: string;
}

/**
 * Unreachable nodes, entries of a webhook's response that lead nowhere, and values that are never stored.
 * @throws GraphError when the graph is invalid
 */
export function graphWarnings(nodes: readonly unknown[], edges: readonly unknown[]): GraphWarning[] {
  const graph = loadGraph(nodes, edges);
  const position = new Map(nodes.map((node, index) => [isObject(node) ? node.id : undefined, index]));
  const warnings: GraphWarning[] = [];
  for (const node of graph.nodes.values()) {
    for (const [entry, target] of responseTargets(node)) {
      if (graph.nodes.has(target)) continue;
      const path = `/nodes/${position.get(node.id)}/data/responsePathways/${entry}/3/id`;
      warnings.push({ path, rule: 'response_pathway', message: `no node has the id "${target}"` });
    }
  }
  for (const node of graph.nodes.values()) {
    for (const [place, name] of filledBy(node)) {
      if (!isBuiltIn(name)) continue;
      const path = `/nodes/${position.get(node.id)}/data/${place}`;
      const message = `"${name}" is a built-in variable, so no value is stored; use another name`;
      warnings.push({ path, rule: 'built_in_variable', message });
    }
  }
  const reached = reachableFrom(graph, [graph.start, ...graph.globals]);
  for (const { id, name } of graph.nodes.values()) {
    if (reached.has(id)) continue;
    const message = `"${name}" cannot be reached from the start node`;
    warnings.push({ path: `/nodes/${position.get(id)}`, rule: 'unreachable_node', message });
  }
  return warnings;
}

/** Ids of the nodes reachable from these, including themselves. Edges to global nodes do not count. */
export function reachableFrom(graph: Graph, from: readonly GraphNode[]): Set<string> {
  const reached = new Set<string>();
  const open = [...from];
  for (let node = open.pop(); node; node = open.pop()) {
    if (reached.has(node.id)) continue;
    reached.add(node.id);
    const targets = (graph.edgesFrom.get(node.id) ?? []).map((edge) => edge.target);
    for (const target of [...targets, ...responseTargets(node).map(([, id]) => id)]) {
      const next = graph.nodes.get(target);
      if (next) open.push(next);
    }
  }
  return reached;
}

/** Index and target node of each entry of `responsePathways` with a target. */
function responseTargets(node: GraphNode): [number, string][] {
  const entries = node.type === 'Webhook' ? node.data.responsePathways : undefined;
  if (!Array.isArray(entries)) return [];
  return (entries as unknown[]).flatMap((entry, index): [number, string][] => {
    const target: unknown = Array.isArray(entry) ? entry[3] : undefined;
    return isObject(target) && typeof target.id === 'string' ? [[index, target.id]] : [];
  });
}

/** Place and name of each variable that a node fills. */
function filledBy({ data, extractVars }: GraphNode): [string, string][] {
  const answers = Array.isArray(data.responseData) ? (data.responseData as unknown[]) : [];
  return [
    ...extractVars.map(({ name }, index): [string, string] => [`extractVars/${index}/0`, name]),
    ...answers.flatMap((entry, index): [string, string][] =>
      isObject(entry) && typeof entry.name === 'string' ? [[`responseData/${index}/name`, entry.name]] : [],
    ),
  ];
}
