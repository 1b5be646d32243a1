/**
 * Failures of the test rather than the agent: assertions that could not be judged, and conversations that the caller
 * let run out.
 */
import { counted } from '#shared/counted.ts';
import { type FailedCase, unmetAssertions } from '../case.ts';
import type { Finding } from '../finding.ts';

const common = { cause: 'harness', type: 'node_config', nodeId: null, edit: null } as const;

export function testItself(failed: FailedCase): Finding[] {
  return [...undecided(failed), ...nothingChecked(failed), ...ranOut(failed), ...unknownNodes(failed)];
}

function undecided(failed: FailedCase): Finding[] {
  return unmetAssertions(failed).flatMap(({ result: { status, type, name, reasoning } }) => {
    if (status !== 'INCONCLUSIVE' && status !== 'ERROR') return [];
    return [
      {
        ...common,
        description: `${name ?? type} could not be decided: ${reasoning}`,
        suggestedChange:
          'Configure a judge (LLM_JUDGE_MODEL), or list the conditions under “Rubric:” in the prompt of the assertion.',
        confidence: 0.75,
      },
    ];
  });
}

function nothingChecked({ results, scenario }: FailedCase): Finding[] {
  if (results.length > 0) return [];
  const description = `The scenario “${scenario.name}” has no assertion that could have passed.`;
  const suggestedChange = 'Add an assertion for what the conversation is to come to.';
  return [{ ...common, description, suggestedChange, confidence: 0.95 }];
}

function ranOut({ record: { ending }, scenario }: FailedCase): Finding[] {
  if (ending.by !== 'max_turns') return [];
  return [
    {
      ...common,
      description: `The conversation ended at its limit of ${counted(scenario.max_turns, 'turn')}, before either side was done.`,
      suggestedChange:
        'Raise max_turns of the scenario if the conversation went well; give its caller a clear goal if it did not.',
      confidence: 0.35,
    },
  ];
}

/** Assertions about nodes that the tested version does not have. */
function unknownNodes(failed: FailedCase): Finding[] {
  const { tested } = failed;
  if (!tested) return [];
  return unmetAssertions(failed).flatMap(({ assertion: { type, name, config } }) => {
    const ids = [config.node_id, config.node_ids, config.reference_path].flat();
    const unknown = ids.find((id) => typeof id === 'string' && !tested.graph.nodes.has(id));
    if (typeof unknown !== 'string') return [];
    const description = `${name ?? type} refers to node ${unknown}, which the tested version does not have.`;
    const suggestedChange = 'Name a node of the pathway in the assertion, or test the version that has it.';
    return [{ ...common, description, suggestedChange, confidence: 0.95 }];
  });
}
