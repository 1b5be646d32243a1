import type { Graph, GraphNode } from './graph.ts';
import type { Option } from './interfaces.ts';
import { namedKeys } from './keys.ts';
import { roleOf } from './special-edges.ts';

/** The options to leave a node: its edges in the author's order, then the global nodes. */
export function optionsOf(graph: Graph, node: GraphNode): Option[] {
  const own = (graph.edgesFrom.get(node.id) ?? []).map(({ label, description, target }) => ({
    label,
    description,
    target,
    global: false,
  }));
  const globals = graph.globals
    .filter(({ id }) => id !== node.id)
    .map(({ id, globalLabel }) => ({ label: globalLabel ?? '', description: '', target: id, global: true }));
  return [...own, ...globals];
}

/** The node's own edges that describe the person's wish in words, without naming a key. */
export function withoutKeys(options: readonly Option[]): Option[] {
  return options.filter((option) => {
    if (option.global || roleOf(option) !== 'regular') return false;
    const named = namedKeys(option);
    return !named.any && named.sequences.length === 0;
  });
}
