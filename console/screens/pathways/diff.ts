/** What is different between two graphs. Places of nodes are not: no call notices them. Pure. */
import { isObject } from '#shared/agent/graph-problem.ts';
import { edgesOf, type Graph, globalOf, nodesOf } from '../graph/graph.ts';

export interface Change {
  /** With dots, such as `data.text`. */
  readonly field: string;
  /** undefined: it is not there */
  readonly before: unknown;
  readonly after: unknown;
}

export interface Difference {
  readonly kind: 'added' | 'removed' | 'changed';
  readonly what: 'node' | 'edge' | 'all';
  /** Of a node. */
  readonly id: string | null;
  readonly name: string;
  /** Of what is changed. */
  readonly changes: readonly Change[];
}

export function differences(before: Graph, after: Graph): Difference[] {
  return [...ofNodes(before, after), ...ofEdges(before, after), ...ofAll(before, after)];
}

function ofNodes(before: Graph, after: Graph): Difference[] {
  const old = new Map(nodesOf(before).map((node) => [node.id, node]));
  const found: Difference[] = [];
  for (const { id, name, index } of nodesOf(after)) {
    const former = old.get(id);
    old.delete(id);
    if (!former) {
      found.push({ kind: 'added', what: 'node', id, name, changes: [] });
      continue;
    }
    const changes = changesOf(before.nodes[former.index], after.nodes[index]);
    if (changes.length > 0) found.push({ kind: 'changed', what: 'node', id, name, changes });
  }
  const gone = [...old.values()];
  return [
    ...found,
    ...gone.map(({ id, name }): Difference => ({ kind: 'removed', what: 'node', id, name, changes: [] })),
  ];
}

/** Edges between the same two nodes are numbered in their order. */
function ofEdges(before: Graph, after: Graph): Difference[] {
  const names = new Map([...nodesOf(before), ...nodesOf(after)].map(({ id, name }) => [id, name]));
  const old = Map.groupBy(edgesOf(before), ({ source, target }) => JSON.stringify([source, target]));
  const found: Difference[] = [];
  const nameOf = (one: { source: string; target: string; label: string }) =>
    `${names.get(one.source) ?? one.source} → ${names.get(one.target) ?? one.target}${one.label === '' ? '' : `: ${one.label}`}`;
  for (const edge of edgesOf(after)) {
    const same = old.get(JSON.stringify([edge.source, edge.target])) ?? [];
    const position = same.findIndex(({ label }) => label === edge.label);
    const [former] = same.splice(position < 0 ? 0 : position, 1);
    const common = { what: 'edge', id: null, name: nameOf(edge) } as const;
    if (!former) {
      found.push({ kind: 'added', ...common, changes: [] });
      continue;
    }
    const changes = changesOf(before.edges[former.index], after.edges[edge.index]).filter(
      // The API writes it there as well.
      ({ field }) => field !== 'label',
    );
    if (changes.length > 0) found.push({ kind: 'changed', ...common, changes });
  }
  const gone = [...old.values()].flat();
  return [
    ...found,
    ...gone.map(
      (edge): Difference => ({
        kind: 'removed',
        what: 'edge',
        id: null,
        name: nameOf(edge),
        changes: [],
      }),
    ),
  ];
}

function ofAll(before: Graph, after: Graph): Difference[] {
  const changes = changesOf(globalOf(before), globalOf(after));
  return changes.length === 0 ? [] : [{ kind: 'changed', what: 'all', id: null, name: '', changes }];
}

function changesOf(before: unknown, after: unknown, way: readonly string[] = []): Change[] {
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    if (way.length === 0) keys.delete('position');
    return [...keys].flatMap((key) => changesOf(before[key], after[key], [...way, key]));
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ field: way.join('.'), before, after }];
}
