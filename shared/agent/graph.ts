/**
 * Validates and loads the pathway graph of contract 11.1. `checkGraph` serves both users: the control plane answers 400
 * INVALID_GRAPH with its problems, the edge and the test runner load the graph.
 */

import type { Pronunciation } from '../pronunciation-entry.ts';
import { checkNodes, type GraphNode, type RefuseTarget } from './graph-node.ts';
import { type GraphProblem, isObject, type JsonObject, ProblemList } from './graph-problem.ts';

export interface GraphEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly label: string;
  readonly description: string;
}

export interface Graph {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly start: GraphNode;
  /** Edges by source node, in the author's order. */
  readonly edgesFrom: ReadonlyMap<string, readonly GraphEdge[]>;
  /** Nodes reachable from every other node. */
  readonly globals: readonly GraphNode[];
  readonly globalPrompt: string;
  /** How words of its texts are pronounced. */
  readonly pronunciations: readonly Pronunciation[];
}

export interface GraphChecks {
  /** Why a literal URL of a Webhook node is forbidden; null when it is allowed (contract 1.9). */
  readonly refuseUrl?: (url: URL) => string | null;
  /** The same for the literal target of a Transfer Call node. */
  readonly refuseTarget?: RefuseTarget;
}

/** An invalid graph; `problems` lists all errors. */
export class GraphError extends Error {
  override readonly name = 'GraphError';
  readonly problems: readonly GraphProblem[];
  constructor(problems: readonly GraphProblem[]) {
    const first = problems[0];
    super(`The pathway graph is invalid: ${first ? `${first.path}: ${first.message}` : 'no reason given'}`);
    this.problems = problems;
  }
}

/** All errors in a graph, in the order of its members; empty when it is valid. */
export function validateGraph(nodes: unknown, edges: unknown, checks: GraphChecks = {}): GraphProblem[] {
  return [...read(nodes, edges, checks).problems];
}

/** @throws GraphError when `validateGraph` finds anything */
export function loadGraph(nodes: unknown, edges: unknown, checks: GraphChecks = {}): Graph {
  const { problems, graph } = read(nodes, edges, checks);
  if (!graph) throw new GraphError(problems);
  return graph;
}

/** The label of an edge: `data.label`, else the top-level `label`, else `data.name` (contract 11.1). */
export function edgeLabel(edge: JsonObject): string {
  const data = isObject(edge.data) ? edge.data : {};
  for (const candidate of [data.label, edge.label, data.name]) {
    if (typeof candidate === 'string' && candidate !== '') return candidate;
  }
  return '';
}

export type { GraphNode, GraphProblem };

function read(
  nodes: unknown,
  edges: unknown,
  checks: GraphChecks,
): { problems: readonly GraphProblem[]; graph: Graph | null } {
  const problems = new ProblemList();
  const found = checkNodes(nodes, problems, checks);
  const edgesFrom = checkEdges(edges, found.byId, problems);
  if (problems.all.length > 0 || !found.start) return { problems: problems.all, graph: null };
  const all = [...found.byId.values()];
  const graph: Graph = {
    nodes: found.byId,
    start: found.start,
    edgesFrom,
    globals: all.filter((node) => node.globalLabel !== null),
    globalPrompt: found.globalPrompt,
    pronunciations: found.pronunciations,
  };
  return { problems: problems.all, graph };
}

function checkEdges(
  edges: unknown,
  nodes: ReadonlyMap<string, GraphNode>,
  problems: ProblemList,
): Map<string, GraphEdge[]> {
  const from = new Map<string, GraphEdge[]>();
  if (!Array.isArray(edges)) {
    problems.add('/edges', 'array', 'edges must be an array');
    return from;
  }
  if (edges.length > 2000) problems.add('/edges', 'size', 'a graph has at most 2000 edges');
  for (const [index, edge] of (edges as unknown[]).entries()) {
    const path = `/edges/${index}`;
    if (!isObject(edge)) {
      problems.add(path, 'object', 'an edge must be an object');
      continue;
    }
    for (const end of ['source', 'target'] as const) {
      const id = edge[end];
      if (typeof id !== 'string' || id === '') {
        problems.add(`${path}/${end}`, 'edge_node', `an edge needs the id of its ${end} node`);
      } else if (!nodes.has(id)) {
        problems.add(`${path}/${end}`, 'edge_node', `no node has the id "${id}"`);
      }
    }
    const data = edge.data;
    if (data !== undefined && !isObject(data))
      problems.add(`${path}/data`, 'object', 'data must be an object');
    const source = String(edge.source);
    const list = from.get(source) ?? [];
    from.set(source, list);
    list.push({
      id: typeof edge.id === 'string' ? edge.id : String(index),
      source,
      target: String(edge.target),
      label: edgeLabel(edge),
      description: isObject(data) && typeof data.description === 'string' ? data.description : '',
    });
  }
  return from;
}
