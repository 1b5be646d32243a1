/** TRAVERSAL_MATCH: compares the path through the pathway with a reference. */
import type { AssertionRule } from './outcome.ts';
import { decided, inconclusive, nodeText, wayText, withoutNodes } from './outcome.ts';
import { commonLength, editDistance, firstUnmet } from './sequences.ts';

function deviation(reference: readonly string[], visited: readonly string[]): number {
  const longer = Math.max(reference.length, visited.length);
  for (let step = 0; step < longer; step++) if (reference[step] !== visited[step]) return step;
  return -1;
}

export const traversalMatch: AssertionRule<'TRAVERSAL_MATCH'> = {
  evaluate: ({ reference_path, mode = 'subsequence', threshold = 0.8 }, record) => {
    const expected = `${mode}: ${wayText(record, reference_path)}`;
    const visited = record.nodes_visited;
    if (!visited) return inconclusive({ reasoning: withoutNodes, expected });
    const target = wayText(record, visited);
    const off = deviation(reference_path, visited);
    const where = () => {
      const wanted = reference_path[off];
      const came = visited[off];
      const nodeOrEnd = (id: string | undefined) => (id === undefined ? 'the end' : nodeText(record, id));
      return `Step ${off + 1}: expected ${nodeOrEnd(wanted)}, came to ${nodeOrEnd(came)}.`;
    };
    switch (mode) {
      case 'exact': {
        const reasoning = off < 0 ? 'The way is the reference path.' : where();
        return decided(off < 0, off < 0 ? 1 : 0, { reasoning, target, expected });
      }
      case 'subsequence': {
        const common = commonLength(reference_path, visited);
        const reasoning = `${common} of ${reference_path.length} steps of the reference were taken in order.`;
        const passed = common === reference_path.length;
        return decided(passed, common / reference_path.length, { reasoning, target, expected });
      }
      case 'similarity': {
        const distance = editDistance(reference_path, visited);
        const score = 1 - distance / Math.max(reference_path.length, visited.length);
        const reasoning = `${distance} steps differ; similarity ${score.toFixed(4)}, wanted at least ${threshold}.${off < 0 ? '' : ` ${where()}`}`;
        return decided(score >= threshold, score, { reasoning, target, expected });
      }
    }
  },
  failedNode: ({ reference_path, mode = 'subsequence' }, visited) => {
    if (mode === 'subsequence') return reference_path[firstUnmet(reference_path, visited)] ?? null;
    const off = deviation(reference_path, visited);
    return reference_path[off] ?? visited[off] ?? null;
  },
};
