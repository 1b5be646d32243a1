/** Changes to a graph: each returns a new one, and keeps every key that it does not mean. Pure. */
import { isObject, type JsonObject } from '#shared/agent/graph-problem.ts';
import { type Graph, nodesOf, type Path } from '../graph/graph.ts';
import { nodeHeight, type Place, type Places } from './layout.ts';

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((part, key) => {
    if (Array.isArray(part)) return typeof key === 'number' ? part[key] : undefined;
    return isObject(part) ? part[key] : undefined;
  }, value);
}

/** @param next undefined: the key is removed, and with it an object that is left empty, but for the outermost one */
export function withValue(value: unknown, [key, ...rest]: Path, next: unknown, depth = 0): unknown {
  if (key === undefined) return next;
  if (typeof key === 'number') {
    const list: unknown[] = Array.isArray(value) ? [...value] : [];
    list[key] = withValue(list[key], rest, next, depth + 1);
    // A tuple has no holes.
    return Array.from(list, (one) => one ?? '');
  }
  const object = isObject(value) ? value : {};
  const part = withValue(object[key], rest, next, depth + 1);
  const { [key]: _, ...others } = object;
  const isEmpty = depth > 0 && rest.length > 0 && isObject(part) && Object.keys(part).length === 0;
  return part === undefined || isEmpty ? others : { ...object, [key]: part };
}

function withMember(members: readonly JsonObject[], index: number, path: Path, next: unknown): JsonObject[] {
  return members.map((member, at) => {
    if (at !== index) return member;
    const changed = withValue(member, path, next);
    return isObject(changed) ? changed : member;
  });
}

/** @param path in `nodes[index]` */
export function setNode(graph: Graph, index: number, path: Path, next: unknown): Graph {
  return { ...graph, nodes: withMember(graph.nodes, index, path, next) };
}

/** Its label is in two places (contract 11.1): both are written. */
export function setEdge(graph: Graph, index: number, path: Path, next: unknown): Graph {
  const edges = withMember(graph.edges, index, path, next);
  const isLabel = path.length === 2 && path[0] === 'data' && path[1] === 'label';
  return { ...graph, edges: isLabel ? withMember(edges, index, ['label'], next) : edges };
}

/** Exactly one node is the start. */
export function setStart(graph: Graph, index: number): Graph {
  const nodes = graph.nodes.map((member, at) => {
    const isStart = isObject(member.data) && member.data.isStart === true;
    if (at === index) return withMember([member], 0, ['data', 'isStart'], true)[0] ?? member;
    return isStart ? (withMember([member], 0, ['data', 'isStart'], undefined)[0] ?? member) : member;
  });
  return { ...graph, nodes };
}

/** Where the settings of all nodes are in `nodes`; -1: there are none. */
export function globalIndexOf({ nodes }: Graph): number {
  return nodes.findIndex((member) => member.id === undefined && member.globalConfig !== undefined);
}

/** The settings of all nodes, which are a member of `nodes` of their own. */
export function setGlobal(graph: Graph, path: Path, next: unknown): Graph {
  const index = globalIndexOf(graph);
  if (index >= 0) return setNode(graph, index, ['globalConfig', ...path], next);
  return { ...graph, nodes: [...graph.nodes, { globalConfig: withValue({}, path, next) }] };
}

/** @returns the graph with the new node, and its id */
export function addNode(graph: Graph, places: Places, type: string, below: string | null) {
  const taken = new Set(nodesOf(graph).map(({ id }) => id));
  let number = taken.size + 1;
  while (taken.has(`node_${number}`)) number++;
  const id = `node_${number}`;
  const isFirst = taken.size === 0;
  const member = { id, type, data: { name: type, ...(isFirst && { isStart: true }) } };
  const nodes = [...graph.nodes, { ...member, position: freePlace(places, below) }];
  const edges = below === null ? graph.edges : [...graph.edges, edgeOf(below, id)];
  // Places of the others are written, too, so that they stay where they are seen.
  return { id, graph: placed({ nodes, edges }, places) };
}

function freePlace(places: Places, below: string | null): Place {
  const above = below === null ? undefined : places.get(below);
  const lowest = Math.max(...[...places.values()].map(({ y }) => y), -nodeHeight);
  let place = { x: above?.x ?? 0, y: (above?.y ?? lowest) + nodeHeight + 64 };
  const isTaken = ({ x, y }: Place) =>
    [...places.values()].some((one) => Math.abs(one.x - x) < 200 && Math.abs(one.y - y) < nodeHeight + 10);
  while (isTaken(place)) place = { x: place.x + 230, y: place.y };
  return place;
}

const edgeOf = (source: string, target: string) => ({ source, target, label: '', data: { label: '' } });

/** With its edges. */
export function removeNode(graph: Graph, id: string): Graph {
  return {
    nodes: graph.nodes.filter((member) => member.id !== id),
    edges: graph.edges.filter(({ source, target }) => source !== id && target !== id),
  };
}

export function addEdge(graph: Graph, source: string, target: string): Graph {
  return { ...graph, edges: [...graph.edges, edgeOf(source, target)] };
}

export function removeEdge(graph: Graph, index: number): Graph {
  return { ...graph, edges: graph.edges.filter((_, at) => at !== index) };
}

/** Every node with the place at which it is drawn. */
export function placed(graph: Graph, places: Places): Graph {
  const nodes = graph.nodes.map((member) => {
    const place = typeof member.id === 'string' ? places.get(member.id) : undefined;
    return place ? { ...member, position: { ...place } } : member;
  });
  return { ...graph, nodes };
}
