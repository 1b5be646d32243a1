/** Pathway graphs: validated, normalized for storage, hashed. Pure. */
import { createHash } from 'node:crypto';
import type { BlockList } from 'node:net';
import { edgeLabel, validateGraph } from '#shared/agent/graph.ts';
import { isObject } from '#shared/agent/graph-problem.ts';
import { graphWarnings } from '#shared/agent/graph-warnings.ts';
import { toolIdsIn } from '#shared/agent/node-tools.ts';
import { transferVersionProblems } from '#shared/agent/transfer-pathway.ts';
import { targetNotAllowed } from '#shared/allowed-host.ts';
import { readCallTarget } from '#shared/call-target.ts';
import { ApiError, type ErrorItem, errorItem } from '#shared/errors.ts';
import { judgeHost } from '#shared/outgoing-targets.ts';
import { fromJson, type Json, toJson } from '../db/index.ts';
import type { PathwayReference } from './references-store.ts';

export type OpenObject = Record<string, unknown>;

export interface StoredGraph {
  readonly nodes: Json<OpenObject[]>;
  readonly edges: Json<OpenObject[]>;
}

const mostViolations = 20;

/**
 * Validates a graph and returns its stored form: every edge with its label in `data.label` and `label`.
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
  const problems = [
    ...validateGraph(nodes, edges, {
      refuseUrl: (url) => refuse(url.hostname),
      refuseTarget: (target) => {
        const read = readCallTarget(target);
        if ('problem' in read || read.host === null) return null;
        const reason = refuse(read.host);
        return reason === null ? null : { host: read.host, reason };
      },
    }),
    ...transferVersionProblems(nodes),
  ];
  const shape = problems.filter((problem) => problem.rule !== 'target_not_allowed');
  const items = (shape.length > 0 ? shape : problems)
    .slice(0, mostViolations)
    .map(
      ({ path, rule, message, host }): ErrorItem =>
        rule === 'target_not_allowed'
          ? targetNotAllowed(path, host ?? '', message)
          : errorItem('INVALID_GRAPH', { path, rule }, `${path}: ${message}`),
    );
  const [first, ...others] = items;
  if (first) throw ApiError.many([first, ...others]);
  return { nodes: toJson(nodes), edges: toJson(edges.map(withLabel)) };
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
  return { nodes: toJson([node]), edges: toJson([]) };
}

/** Warnings about a stored graph itself; at most 20. */
export function graphNotes(graph: StoredGraph): readonly GraphNote[] {
  return graphWarnings(fromJson(graph.nodes), fromJson(graph.edges)).slice(0, mostViolations);
}

/** A warning about a graph, as in the response. */
export interface GraphNote {
  /** RFC 6901 pointer into `{ nodes, edges }` */
  readonly path: string;
  readonly rule: string;
  readonly message: string;
}

/** An organization's row that a node references, and where. */
export interface NamedRow {
  readonly path: string;
  readonly id: string;
}

/** The tools, pathways and realtime connections that a graph references. */
export function namedRows(graph: StoredGraph): {
  readonly tools: readonly NamedRow[];
  readonly pathways: readonly NamedRow[];
  readonly connections: readonly NamedRow[];
} {
  const nodes: OpenObject[] = fromJson(graph.nodes);
  const tools: NamedRow[] = [];
  const pathways: NamedRow[] = [];
  const connections: NamedRow[] = [];
  for (const [index, { type, data }] of nodes.entries()) {
    if (!isObject(data)) continue;
    const path = `/nodes/${index}/data`;
    for (const id of toolIdsIn([nodes[index]])) tools.push({ path: `${path}/tools`, id });
    const id = data.transferPathwayId;
    const names = type === 'Transfer Pathway' && typeof id === 'string' && !id.includes('{{');
    if (names) pathways.push({ path: `${path}/transferPathwayId`, id });
    if (type === 'Realtime' && typeof data.connection === 'string')
      connections.push({ path: `${path}/connection`, id: data.connection });
  }
  return { tools, pathways, connections };
}

/** SHA-256 over the graph with sorted keys, without the positions of its members (contract 11.2). */
export function contentHash(graph: StoredGraph): string {
  const nodes: OpenObject[] = fromJson(graph.nodes);
  const edges: OpenObject[] = fromJson(graph.edges);
  const withoutPosition = ({ position: _, ...member }: OpenObject) => member;
  return sortedHash({ nodes: nodes.map(withoutPosition), edges: edges.map(withoutPosition) });
}

/** @throws ApiError GRAPH_CHANGED the sender has read another graph than the stored one */
export function requireHash(stored: StoredGraph, expected: string | undefined): void {
  if (expected === undefined || expected === contentHash(stored)) return;
  throw ApiError.of('GRAPH_CHANGED', { content_hash: contentHash(stored) });
}

/** SHA-256 over the JSON of a value with keys sorted at every depth, hexadecimal. */
export function sortedHash(value: unknown): string {
  return createHash('sha256').update(sortedJson(value)).digest('hex');
}

/** Custom, because objects always order keys like "10" numerically. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${sortedJson(part)}`).join(',')}}`;
}

/** The pathway that a node continues in; null when it is not a Transfer Pathway node. */
export function transferOf({ type, data }: OpenObject): PathwayReference | null {
  if (type !== 'Transfer Pathway' || !isObject(data)) return null;
  const { transferPathwayId, transferPathwayVersion } = data;
  if (typeof transferPathwayId !== 'string') return null;
  return { pathwayId: transferPathwayId, version: transferVersion(transferPathwayVersion) };
}

/** The same node, continuing in that version. */
export function withTransferVersion(node: OpenObject, version: number): OpenObject {
  const data = isObject(node.data) ? node.data : {};
  return { ...node, data: { ...data, transferPathwayVersion: version } };
}

/** The live graph (0) where nothing is named. Graphs of earlier releases may hold what means nothing: 0 as well. */
function transferVersion(value: unknown): string {
  if (value === 'production' || value === 'staging') return value;
  const version = Number(value ?? 0);
  return String(Number.isSafeInteger(version) && version > 0 ? version : 0);
}

/** The pathways that a graph continues in, as the interpreter reads its Transfer Pathway nodes. */
export function transferReferences(graph: Pick<StoredGraph, 'nodes'>): PathwayReference[] {
  const nodes: OpenObject[] = fromJson(graph.nodes);
  return nodes.flatMap((node) => transferOf(node) ?? []);
}

/** A version number from a path; null when it is not one. */
export function versionOfPath(text: string): number | null {
  return /^(0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : null;
}

/** Active versions of a pathway; null: never published. */
export interface PublishedVersions {
  readonly production: number | null;
  readonly staging: number | null;
}

/** The version that a number uses: production by default, the live graph (0) when unpublished. */
export function resolveVersion(wanted: string | null, published: PublishedVersions | null): number {
  const production = published?.production ?? 0;
  if (wanted === null || wanted === 'production') return production;
  if (wanted === 'staging') return published?.staging ?? production;
  return Number(wanted);
}
