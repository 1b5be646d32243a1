/** Pathway graphs: checked, brought into the shape that is stored, hashed. Pure. */
import { createHash } from 'node:crypto';
import type { BlockList } from 'node:net';
import { edgeLabel, validateGraph } from '#shared/agent/graph.ts';
import { ApiError, type ErrorItem, errorItem } from '#shared/errors.ts';
import { judgeHost } from '#shared/outgoing-targets.ts';

export type OpenObject = Record<string, unknown>;

export interface StoredGraph {
  /** JSON text. */
  readonly nodes: string;
  readonly edges: string;
}

const mostViolations = 20;

/**
 * Checks a graph and gives it back as it is stored: every edge with its label in `data.label` and `label`.
 * @throws ApiError INVALID_GRAPH, TARGET_NOT_ALLOWED
 */
export function acceptGraph(
  nodes: OpenObject[],
  edges: OpenObject[],
  allowedTargets: BlockList,
): StoredGraph {
  const problems = validateGraph(nodes, edges, {
    refuseUrl: (url) => {
      const verdict = judgeHost(url.hostname, allowedTargets);
      return verdict.allowed ? null : verdict.reason;
    },
  });
  const shape = problems.filter((problem) => problem.rule !== 'target_not_allowed');
  const items = (shape.length > 0 ? shape : problems)
    .slice(0, mostViolations)
    .map(
      ({ path, rule, message }): ErrorItem =>
        rule === 'target_not_allowed'
          ? errorItem('TARGET_NOT_ALLOWED', { path, address: message }, message)
          : errorItem('INVALID_GRAPH', { path, rule }, `${path}: ${message}`),
    );
  const [first, ...others] = items;
  if (first) throw ApiError.many([first, ...others]);
  return { nodes: JSON.stringify(nodes), edges: JSON.stringify(edges.map(withLabel)) };
}

function withLabel(edge: OpenObject): OpenObject {
  const label = edgeLabel(edge);
  const data = typeof edge.data === 'object' && edge.data !== null ? edge.data : {};
  return { ...edge, label, data: { ...data, label } };
}

/** The graph of a new pathway: one node that starts it (contract 11.1). */
export function startGraph(nodeId: string): StoredGraph {
  const node = {
    id: nodeId,
    type: 'Default',
    position: { x: 0, y: 0 },
    data: { name: 'Start', text: 'Hello, how can I help you?', isStart: true },
  };
  return { nodes: JSON.stringify([node]), edges: '[]' };
}

/** SHA-256 over the graph with sorted keys and without positions (contract 11.2). */
export function contentHash(graph: StoredGraph): string {
  const content = sortedKeys({ nodes: JSON.parse(graph.nodes), edges: JSON.parse(graph.edges) });
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== 'position');
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, sortedKeys(part)]));
}

/** A version number from a path; null when it is none. */
export function versionOfPath(text: string): number | null {
  return /^(0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : null;
}
