/** Where nodes are drawn: where the author put them, or where dagre puts them. Pure. */
import { Graph as Layered, layout } from '@dagrejs/dagre';
import { isObject } from '#shared/agent/graph-problem.ts';
import { edgesOf, type Graph, nodesOf, type ShownEdge, type ShownNode } from '../graph/graph.ts';

/** Upper left corner of a node. */
export interface Place {
  readonly x: number;
  readonly y: number;
}
export type Places = ReadonlyMap<string, Place>;

export const nodeWidth = 190;
export const nodeHeight = 54;
/** A label is drawn to this width. */
const labelWidth = 120;

/** The author's places when every node has one of its own, else those of dagre. */
export function placesOf(graph: Graph): Places {
  const own = new Map<string, Place>();
  const taken = new Set<string>();
  const nodes = nodesOf(graph);
  for (const { id, index } of nodes) {
    const position = graph.nodes[index]?.position;
    if (!isObject(position)) break;
    const { x, y } = position;
    if (typeof x !== 'number' || typeof y !== 'number') break;
    if (!Number.isFinite(x) || !Number.isFinite(y)) break;
    own.set(id, { x, y });
    taken.add(`${x} ${y}`);
  }
  return own.size === nodes.length && taken.size === nodes.length ? own : arranged(graph);
}

/** Nodes and edges that dagre is asked to arrange: more stall the page for seconds. */
const mostArranged = 250;
const [besideGap, belowGap] = [40, 64];

/** Layers from top to bottom, in the order of the edges. */
export function arranged(graph: Graph): Places {
  const nodes = nodesOf(graph);
  const known = new Set(nodes.map(({ id }) => id));
  const edges = edgesOf(graph).filter(({ source, target }) => known.has(source) && known.has(target));
  if (nodes.length + edges.length > mostArranged) return inRows(nodes, edges);
  const drawn = new Layered({ multigraph: true });
  drawn.setGraph({ rankdir: 'TB', nodesep: besideGap, ranksep: belowGap });
  for (const { id } of nodes) drawn.setNode(id, { width: nodeWidth, height: nodeHeight });
  for (const { index, source, target, label } of edges) {
    const width = label === '' ? 0 : labelWidth;
    drawn.setEdge(source, target, { width, height: label === '' ? 0 : 18, labelpos: 'c' }, String(index));
  }
  layout(drawn);
  return new Map(
    nodes.map(({ id }): [string, Place] => {
      const { x, y }: { x: number; y: number } = drawn.node(id);
      return [id, { x: Math.round(x - nodeWidth / 2), y: Math.round(y - nodeHeight / 2) }];
    }),
  );
}

/** A row for each number of edges from the start; last a row of what cannot be reached. */
function inRows(nodes: readonly ShownNode[], edges: readonly ShownEdge[]): Places {
  const targets = Map.groupBy(edges, ({ source }) => source);
  const rowOf = new Map(nodes.filter((one) => one.isStart || one.isGlobal).map(({ id }) => [id, 0]));
  // A Map is walked in the order of its entries, also of those that are added meanwhile.
  for (const [id, row] of rowOf) {
    for (const { target } of targets.get(id) ?? []) if (!rowOf.has(target)) rowOf.set(target, row + 1);
  }
  const last = Math.max(-1, ...rowOf.values()) + 1;
  const filled = new Map<number, number>();
  return new Map(
    nodes.map(({ id }): [string, Place] => {
      const row = rowOf.get(id) ?? last;
      const column = filled.get(row) ?? 0;
      filled.set(row, column + 1);
      return [id, { x: column * (nodeWidth + besideGap), y: row * (nodeHeight + belowGap) }];
    }),
  );
}

export interface Box extends Place {
  readonly width: number;
  readonly height: number;
}

/** Around all nodes. */
export function boxOf(places: Places): Box {
  const all = [...places.values()];
  if (all.length === 0) return { x: 0, y: 0, width: nodeWidth, height: nodeHeight };
  const [x, y] = [Math.min(...all.map((one) => one.x)), Math.min(...all.map((one) => one.y))];
  const right = Math.max(...all.map((one) => one.x)) + nodeWidth;
  const bottom = Math.max(...all.map((one) => one.y)) + nodeHeight;
  return { x, y, width: right - x, height: bottom - y };
}

export type Direction = 'left' | 'right' | 'up' | 'down';
const ways: Readonly<Record<Direction, Place>> = {
  left: { x: -1, y: 0 },
  right: { x: 1, y: 0 },
  up: { x: 0, y: -1 },
  down: { x: 0, y: 1 },
};

/** The nearest node in a direction; what lies beside it counts as farther away. @returns null: there is none */
export function nodeTowards(places: Places, from: string, direction: Direction): string | null {
  const start = places.get(from);
  if (!start) return null;
  const way = ways[direction];
  let best: { readonly id: string; readonly far: number } | null = null;
  for (const [id, { x, y }] of places) {
    const [dx, dy] = [x - start.x, y - start.y];
    const ahead = dx * way.x + dy * way.y;
    const beside = Math.abs(dx * way.y) + Math.abs(dy * way.x);
    if (id === from || ahead <= 0) continue;
    const far = ahead + 2 * beside;
    if (best === null || far < best.far) best = { id, far };
  }
  return best?.id ?? null;
}
