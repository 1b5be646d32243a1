/** NODE_REACHED: the conversation reached a node. NODES_VISITED: all or any of some nodes, optionally in order. */
import { counted } from '#shared/counted.ts';
import {
  type AssertionRule,
  decided,
  inconclusive,
  nodeText,
  wayText,
  withoutNodes,
  yesOrNo,
} from './outcome.ts';
import { firstUnmet } from './sequences.ts';

export const nodeReached: AssertionRule<'NODE_REACHED'> = {
  evaluate: ({ node_id }, record) => {
    const expected = nodeText(record, node_id);
    if (!record.nodes_visited) return inconclusive({ reasoning: withoutNodes, expected });
    const target = wayText(record, record.nodes_visited);
    const at = record.nodes_visited.indexOf(node_id);
    const reasoning =
      at < 0
        ? `${expected} was not visited. The conversation went through: ${target}.`
        : `${expected} was visited as number ${at + 1} of ${record.nodes_visited.length}.`;
    return yesOrNo(at >= 0, { reasoning, target, expected });
  },
  failedNode: ({ node_id }) => node_id,
};

/** Index of the first wanted node that is missing, or -1. */
function missing(wanted: readonly string[], visited: readonly string[], ordered: boolean): number {
  return ordered ? firstUnmet(wanted, visited) : wanted.findIndex((id) => !visited.includes(id));
}

export const nodesVisited: AssertionRule<'NODES_VISITED'> = {
  evaluate: ({ node_ids, mode = 'all', ordered = false }, record) => {
    const order = ordered && mode === 'all' ? 'in this order: ' : '';
    const expected = `${mode} of ${order}${wayText(record, node_ids)}`;
    const visited = record.nodes_visited;
    if (!visited) return inconclusive({ reasoning: withoutNodes, expected });
    const target = wayText(record, visited);
    if (mode === 'any') {
      const found = node_ids.find((id) => visited.includes(id));
      const reasoning =
        found === undefined ? 'None of the nodes was visited.' : `${nodeText(record, found)} was visited.`;
      return yesOrNo(found !== undefined, { reasoning, target, expected });
    }
    const unmet = missing(node_ids, visited, ordered);
    const met = ordered
      ? unmet < 0
        ? node_ids.length
        : unmet
      : node_ids.filter((id) => visited.includes(id)).length;
    const absent = node_ids[unmet];
    const reasoning =
      absent === undefined
        ? `${node_ids.length === 1 ? 'The node was' : `All ${node_ids.length} nodes were`} visited${ordered ? ' in order' : ''}.`
        : `${met} of ${counted(node_ids.length, 'node')} visited${ordered ? ' in order' : ''}; missing first: ${nodeText(record, absent)}.`;
    return decided(unmet < 0, met / node_ids.length, { reasoning, target, expected });
  },
  failedNode: ({ node_ids, mode = 'all', ordered = false }, visited) =>
    node_ids[mode === 'any' ? 0 : missing(node_ids, visited, ordered)] ?? null,
};
