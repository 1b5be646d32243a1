/** Edits of a pathway's graph, each small enough to be understood at a glance. Pure. */
import { isObject, type JsonObject } from '#shared/agent/graph-problem.ts';
import type { VariableWanted } from '#shared/agent/interfaces.ts';

/** As it is stored: members of the arrays `nodes` and `edges` (contract 11.1). */
export interface RawGraph {
  readonly nodes: readonly JsonObject[];
  readonly edges: readonly JsonObject[];
}

/** Which of the edges of a node. */
interface EdgeEnd {
  readonly target: string;
  readonly label: string;
}

export type GraphEdit =
  | {
      readonly kind: 'add_edge';
      readonly source: string;
      readonly target: string;
      readonly label: string;
      readonly description: string;
    }
  /** Adds to the description of when an existing edge is taken. */
  | {
      readonly kind: 'describe_edge';
      readonly source: string;
      readonly target: string;
      /** Absent: unchanged. */
      readonly label?: string;
      readonly description: string;
    }
  /** Redirects the edge with this label to another node. */
  | {
      readonly kind: 'retarget_edge';
      readonly source: string;
      readonly target: string;
      readonly label: string;
      readonly to: string;
    }
  /** Redirects two edges of a node, each to where the other one leads. */
  | {
      readonly kind: 'exchange_edges';
      readonly source: string;
      readonly edges: readonly [EdgeEnd, EdgeEnd];
    }
  /** Adds a variable to what a node asks for, or replaces the one with this name. */
  | { readonly kind: 'set_variable'; readonly node: string; readonly variable: VariableWanted }
  | { readonly kind: 'set_transfer_number'; readonly node: string; readonly number: string }
  | {
      readonly kind: 'set_words';
      readonly node: string;
      readonly member: 'text' | 'prompt';
      readonly words: string;
    }
  /** Makes the body of a webhook use another variable. */
  | { readonly kind: 'set_placeholder'; readonly node: string; readonly from: string; readonly to: string }
  | { readonly kind: 'set_global_prompt'; readonly words: string };

/** The node that an edit changes; null: the whole pathway. */
export function editedNode(edit: GraphEdit): string | null {
  if (edit.kind === 'set_global_prompt') return null;
  return 'source' in edit ? edit.source : edit.node;
}

/** Two edits with one key do the same. */
export function editKey(edit: GraphEdit): string {
  return JSON.stringify(edit);
}

/** Two edits of one place exclude each other: the later would undo the earlier. */
export function editPlace(edit: GraphEdit): string {
  switch (edit.kind) {
    case 'add_edge':
    case 'describe_edge':
      return `edge ${edit.source} ${edit.target}`;
    case 'retarget_edge':
      return `edge ${edit.source} ${edit.target} ${edit.label}`;
    case 'exchange_edges':
      return `edges ${edit.source} ${edit.edges
        .map(({ target }) => target)
        .sort()
        .join(' ')}`;
    case 'set_variable':
      return `variable ${edit.node} ${edit.variable.name}`;
    case 'set_transfer_number':
      return `transfer ${edit.node}`;
    case 'set_words':
      return `${edit.member} ${edit.node}`;
    case 'set_placeholder':
      return `placeholder ${edit.node} ${edit.from}`;
    case 'set_global_prompt':
      return 'global prompt';
  }
}

/** @returns null when the edit does not fit the graph: its target is missing, or already as wanted */
export function applyEdit(graph: RawGraph, edit: GraphEdit): RawGraph | null {
  switch (edit.kind) {
    case 'add_edge':
      return addEdge(graph, edit);
    case 'describe_edge':
      return describeEdge(graph, edit);
    case 'retarget_edge':
      return retargetEdge(graph, edit);
    case 'exchange_edges':
      return exchangeEdges(graph, edit);
    case 'set_variable':
      return changeData(graph, edit.node, (data) => withVariable(data, edit.variable));
    case 'set_transfer_number':
      return changeData(graph, edit.node, (data) => ({ ...data, transferNumber: edit.number }));
    case 'set_words':
      return changeData(graph, edit.node, (data) => ({ ...data, [edit.member]: edit.words }));
    case 'set_placeholder':
      return changeData(graph, edit.node, (data) => withPlaceholder(data, edit.from, edit.to));
    case 'set_global_prompt':
      return changeGlobalPrompt(graph, edit.words);
  }
}

function addEdge(
  graph: RawGraph,
  { source, target, label, description }: Extract<GraphEdit, { kind: 'add_edge' }>,
): RawGraph | null {
  const ids = new Set(graph.nodes.map(({ id }) => id));
  const there = graph.edges.some((edge) => edge.source === source && edge.target === target);
  if (there || !ids.has(source) || !ids.has(target)) return null;
  const edge = { id: freeEdgeId(graph, source, target), source, target, label, data: { label, description } };
  return { ...graph, edges: [...graph.edges, edge] };
}

function freeEdgeId({ edges }: RawGraph, source: string, target: string): string {
  const taken = new Set(edges.map(({ id }) => id));
  for (let number = 1; ; number++) {
    const id = `${source}-${target}${number === 1 ? '' : `-${number}`}`;
    if (!taken.has(id)) return id;
  }
}

function describeEdge(
  graph: RawGraph,
  { source, target, label, description }: Extract<GraphEdit, { kind: 'describe_edge' }>,
): RawGraph | null {
  const index = graph.edges.findIndex((edge) => edge.source === source && edge.target === target);
  const edge = graph.edges[index];
  if (!edge) return null;
  const data = isObject(edge.data) ? edge.data : {};
  const named = label === undefined ? {} : { label };
  const described = description === '' && data.description === undefined ? {} : { description };
  const changed = { ...edge, ...named, data: { ...data, ...named, ...described } };
  return same(changed, edge) ? null : { ...graph, edges: graph.edges.with(index, changed) };
}

function retargetEdge(
  graph: RawGraph,
  { source, target, label, to }: Extract<GraphEdit, { kind: 'retarget_edge' }>,
): RawGraph | null {
  const index = graph.edges.findIndex(
    (edge) => edge.source === source && edge.target === target && labelOf(edge) === label,
  );
  const edge = graph.edges[index];
  if (!edge || !graph.nodes.some(({ id }) => id === to)) return null;
  return { ...graph, edges: graph.edges.with(index, { ...edge, target: to }) };
}

function exchangeEdges(
  graph: RawGraph,
  { source, edges: [one, other] }: Extract<GraphEdit, { kind: 'exchange_edges' }>,
): RawGraph | null {
  const here = retargetEdge(graph, { kind: 'retarget_edge', source, ...one, to: other.target });
  // Its label tells it from the first one, which now leads there, too.
  return here && one.label !== other.label
    ? retargetEdge(here, { kind: 'retarget_edge', source, ...other, to: one.target })
    : null;
}

/** As the contract reads it (11.1). */
function labelOf({ data, label }: JsonObject): unknown {
  const inside = isObject(data) ? data : {};
  return inside.label ?? label ?? inside.name;
}

function changeData(
  graph: RawGraph,
  nodeId: string,
  change: (data: JsonObject) => JsonObject,
): RawGraph | null {
  const index = graph.nodes.findIndex(({ id }) => id === nodeId);
  const node = graph.nodes[index];
  if (!node || !isObject(node.data)) return null;
  const changed = { ...node, data: change(node.data) };
  return same(changed, node) ? null : { ...graph, nodes: graph.nodes.with(index, changed) };
}

function withVariable(data: JsonObject, { name, type, description }: VariableWanted): JsonObject {
  const before: unknown[] = Array.isArray(data.extractVars) ? data.extractVars : [];
  const others = before.filter((entry) => !(Array.isArray(entry) && entry[0] === name));
  return { ...data, extractVars: [...others, [name, type, description]] };
}

/** The body may be a text or an object, as in the contract. */
function withPlaceholder(data: JsonObject, from: string, to: string): JsonObject {
  const { body } = data;
  if (typeof body === 'string') return { ...data, body: renamed(body, from, to) };
  if (typeof body !== 'object' || body === null) return data;
  const changed: unknown = JSON.parse(JSON.stringify(body), (_name, member: unknown) =>
    typeof member === 'string' ? renamed(member, from, to) : member,
  );
  return { ...data, body: changed };
}

function renamed(text: string, from: string, to: string): string {
  return text.replaceAll(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g, (found, name) =>
    name === from ? `{{${to}}}` : found,
  );
}

function changeGlobalPrompt(graph: RawGraph, words: string): RawGraph | null {
  const index = graph.nodes.findIndex(({ globalConfig }) => isObject(globalConfig));
  const member = graph.nodes[index];
  if (!member || !isObject(member.globalConfig)) return null;
  const changed = { ...member, globalConfig: { ...member.globalConfig, globalPrompt: words } };
  return same(changed, member) ? null : { ...graph, nodes: graph.nodes.with(index, changed) };
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
