/** Pathway graphs: checked, brought into the shape that is stored, hashed. Pure. */
import { createHash } from 'node:crypto';
import type { BlockList } from 'node:net';
import { edgeLabel, validateGraph } from '#shared/agent/graph.ts';
import { isObject } from '#shared/agent/graph-problem.ts';
import { graphWarnings } from '#shared/agent/graph-warnings.ts';
import { toolIdsIn } from '#shared/agent/node-tools.ts';
import { ApiError, type ErrorItem, errorItem } from '#shared/errors.ts';
import { judgeHost } from '#shared/outgoing-targets.ts';
import type { PathwayReference } from './references-store.ts';

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
  const refuse = (host: string) => {
    const verdict = judgeHost(host, allowedTargets);
    return verdict.allowed ? null : verdict.reason;
  };
  const problems = validateGraph(nodes, edges, {
    refuseUrl: (url) => refuse(url.hostname),
    refuseHost: refuse,
  });
  const shape = problems.filter((problem) => problem.rule !== 'target_not_allowed');
  const items = (shape.length > 0 ? shape : problems)
    .slice(0, mostViolations)
    .map(
      ({ path, rule, message, host }): ErrorItem =>
        rule === 'target_not_allowed'
          ? errorItem('TARGET_NOT_ALLOWED', { path, address: host }, message)
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

/** What an author should know of a stored graph by itself; at most 20. */
export function graphNotes(graph: StoredGraph): readonly GraphNote[] {
  return graphWarnings(JSON.parse(graph.nodes), JSON.parse(graph.edges)).slice(0, mostViolations);
}

/** What an author should know of a graph, as it is answered. */
export interface GraphNote {
  /** RFC 6901 pointer into `{ nodes, edges }` */
  readonly path: string;
  readonly rule: string;
  readonly message: string;
}

/** A row of the organization that a node names, and where. */
export interface NamedRow {
  readonly path: string;
  readonly id: string;
}

/** The tools and pathways that a graph names. */
export function namedRows(graph: StoredGraph): { tools: readonly NamedRow[]; pathways: readonly NamedRow[] } {
  const nodes: OpenObject[] = JSON.parse(graph.nodes);
  const tools: NamedRow[] = [];
  const pathways: NamedRow[] = [];
  for (const [index, { type, data }] of nodes.entries()) {
    if (!isObject(data)) continue;
    const path = `/nodes/${index}/data`;
    for (const id of toolIdsIn([nodes[index]])) tools.push({ path: `${path}/tools`, id });
    const id = data.transferPathwayId;
    const names = type === 'Transfer Pathway' && typeof id === 'string' && !id.includes('{{');
    if (names) pathways.push({ path: `${path}/transferPathwayId`, id });
  }
  return { tools, pathways };
}

/** SHA-256 over the graph with sorted keys, without the positions of its members (contract 11.2). */
export function contentHash(graph: StoredGraph): string {
  const nodes: OpenObject[] = JSON.parse(graph.nodes);
  const edges: OpenObject[] = JSON.parse(graph.edges);
  const placeless = ({ position: _, ...member }: OpenObject) => member;
  return sortedHash({ nodes: nodes.map(placeless), edges: edges.map(placeless) });
}

/** SHA-256 over the JSON of a value whose keys are sorted at every depth, hexadecimal. */
export function sortedHash(value: unknown): string {
  return createHash('sha256').update(sortedJson(value)).digest('hex');
}

/** Written here, because objects keep keys like "10" in an order of their own. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${sortedJson(part)}`).join(',')}}`;
}

/** The pathways that a graph goes on in, as the interpreter reads its Transfer Pathway nodes. */
export function transferReferences(graph: StoredGraph): PathwayReference[] {
  const nodes: OpenObject[] = JSON.parse(graph.nodes);
  return nodes.flatMap(({ type, data }) => {
    if (type !== 'Transfer Pathway' || !isObject(data)) return [];
    const { transferPathwayId, transferPathwayVersion } = data;
    if (typeof transferPathwayId !== 'string') return [];
    const version = Number(transferPathwayVersion ?? 0);
    const named = Number.isSafeInteger(version) && version > 0 ? version : 0;
    return [{ pathwayId: transferPathwayId, version: String(named) }];
  });
}

/** A version number from a path; null when it is none. */
export function versionOfPath(text: string): number | null {
  return /^(0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : null;
}
