/** What the agent should have said and did not, where a model or an author must find the words. */
import { type FailedCase, nodeName, unmetAssertions } from '../case.ts';
import type { Finding } from '../finding.ts';

export function wording(failed: FailedCase): Finding[] {
  const last = failed.record.nodes_visited?.at(-1) ?? null;
  const where = last === null ? 'the agent' : `“${nodeName(failed, last)}”`;
  return unmetAssertions(failed).flatMap(({ result, assertion: { type, name } }) => {
    if (result.status !== 'FAILED' || !speaks.has(type)) return [];
    const cause = failed.agentByRules ? 'prompt' : 'model';
    return [
      {
        cause,
        type: 'prompt_change' as const,
        nodeId: last,
        description: `${name ?? type} did not pass: ${result.reasoning}`,
        suggestedChange: `Tell ${where} in its prompt what is expected${result.expected === null ? '' : `: ${result.expected}`}.`,
        confidence: 0.3,
        edit: null,
      },
    ];
  });
}

/** Assertion types about speech. */
const speaks: ReadonlySet<string> = new Set([
  'LLM_JUDGE',
  'CUSTOM_LLM',
  'SERVICE_TONE',
  'REGEX_MATCH',
  'STRING_CHECK',
]);
