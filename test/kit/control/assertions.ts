/** Evaluates single assertions over a conversation. */
import type { AssertionType } from '#shared/api/agent-testing/assertions.ts';
import { evaluateAssertions } from '../../../control/testing/judging/assertions/evaluate.ts';
import type { AssertionResult, ConversationRecord, Judge } from '../../../control/testing/judging/ports.ts';
import { assertion, conversation, judgeSaying } from './agent-testing.ts';

export async function evaluate(
  type: AssertionType,
  config: object,
  record: Partial<ConversationRecord> = {},
  judge: Judge = judgeSaying({}),
): Promise<AssertionResult> {
  const [result] = await evaluateAssertions([assertion(type, config)], conversation(record), {
    judge,
    seed: 1,
  });
  if (!result) throw new Error('an assertion has no result');
  return result;
}

export const verdictOf = (
  type: AssertionType,
  config: object,
  record: Partial<ConversationRecord> = {},
  judge?: Judge,
) => evaluate(type, config, record, judge).then(({ status, score }) => [status, score]);
