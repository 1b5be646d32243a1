/** NODE_REACHED: the conversation reached a node. */
import type { AssertionRule } from './outcome.ts';
import { inconclusive, nodeText, wayText, withoutNodes, yesOrNo } from './outcome.ts';

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
