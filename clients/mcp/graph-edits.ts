/** Edits of a pathway's graph as an assistant proposes them. Pure. */
import { TrunklineError } from '../typescript/src/index.ts';

type Part = Readonly<Record<string, unknown>>;

export interface Graph {
  readonly nodes: readonly Part[];
  readonly edges: readonly Part[];
}

export interface GraphEdits {
  /** Members of `data` that change; null removes one. */
  readonly change_nodes?: readonly { readonly id: string; readonly data: Part }[];
  readonly add_nodes?: readonly Part[];
  readonly remove_nodes?: readonly string[];
  readonly add_edges?: readonly Part[];
  readonly remove_edges?: readonly string[];
}

/** @throws TrunklineError for an edit of something that the graph does not have */
export function edited({ edges, nodes }: Graph, edits: GraphEdits): Graph {
  const { add_edges = [], add_nodes = [], change_nodes = [], remove_edges = [], remove_nodes = [] } = edits;
  const [nodeIds, edgeIds] = [new Set(nodes.map(idOf)), new Set(edges.map(idOf))];
  for (const id of [...remove_nodes, ...change_nodes.map((change) => change.id)])
    if (!nodeIds.has(id)) throw new TrunklineError(`The graph has no node ${id}.`);
  for (const id of remove_edges)
    if (!edgeIds.has(id)) throw new TrunklineError(`The graph has no edge ${id}.`);
  const changes = new Map(change_nodes.map(({ data, id }) => [id, data]));
  return {
    nodes: [
      ...nodes.filter((node) => !remove_nodes.includes(idOf(node))).map((node) => merged(node, changes)),
      ...add_nodes,
    ],
    // An edge goes with either of its nodes.
    edges: [
      ...edges.filter(
        (edge) =>
          !remove_edges.includes(idOf(edge)) &&
          ![edge.source, edge.target].some((end) => remove_nodes.includes(String(end))),
      ),
      ...add_edges,
    ],
  };
}

function merged(node: Part, changes: ReadonlyMap<string, Part>): Part {
  const change = changes.get(idOf(node));
  if (!change) return node;
  const before = typeof node.data === 'object' && node.data !== null ? node.data : {};
  const data = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null);
  return { ...node, data: Object.fromEntries(data) };
}

function idOf(part: Part): string {
  return String(part.id);
}
