import { expect, it } from 'vitest';
import { editKey } from '../analysis/edits.ts';
import type { Finding } from '../analysis/finding.ts';
import { planFixes } from './plan.ts';

const graph = {
  nodes: ['start', 'left'].map((id) => ({
    id,
    type: 'Default',
    data: { name: id, isStart: id === 'start' },
  })),
  edges: [{ source: 'start', target: 'left', data: { label: 'left', description: 'Wants the left.' } }],
};
const adds: Finding = {
  cause: 'flow',
  type: 'flow_change',
  nodeId: 'start',
  description: 'It did not go there.',
  suggestedChange: 'Let it.',
  confidence: 0.9,
  edit: { kind: 'add_edge', source: 'start', target: 'left', label: 'left', description: 'Says left.' },
};
const plan = (tried: readonly string[]) =>
  planFixes(graph, [{ scenarioId: 's', findings: [adds] }], new Set(tried), 1, () => true);

it('a fix is not tried again in the form in which it did harm, whatever its finding asks for', () => {
  const [first] = plan([]).fixes;
  expect(first?.edit).toEqual({
    kind: 'describe_edge',
    source: 'start',
    target: 'left',
    description: 'Wants the left. Says left.',
  });
  if (!first) return;
  expect(plan([editKey(first.edit)])).toEqual({ fixes: [], skipped: [], graph });
});
