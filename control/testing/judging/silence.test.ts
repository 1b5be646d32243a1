import { describe, expect, it } from 'vitest';
import type { AssertionView } from '#shared/api/agent-testing/assertions.ts';
import { chat, conversation } from '../../../test/kit/control/agent-testing.ts';
import { evaluateAssertions } from './assertions/evaluate.ts';
import { ruleJudge } from './rule-judge.ts';

const silent = { chat_history: chat('user: Hello?') };
const rubric = (...lines: string[]) => ({
  prompt: `Rubric:\n${lines.map((line) => `- ${line}`).join('\n')}`,
});

async function statusOf(type: string, config: object, record = silent) {
  const assertion = { id: 'a', type, name: null, config, weight: 1, is_required: true, order: 0 };
  const [result] = await evaluateAssertions([assertion as AssertionView], conversation(record), {
    judge: ruleJudge,
    seed: 1,
  });
  return result?.status;
}

describe('an agent that said nothing', () => {
  it.each([
    ['LLM_JUDGE', rubric('agent never insults', 'agent leaves no gaps')],
    ['LLM_JUDGE', rubric('agent never says: "fee"', 'agent never says a line 2 times.')],
    ['SERVICE_TONE', { rubric: '- agent says at most 60 words at once' }],
    ['STRING_CHECK', { target: 'agent', value: 'idiot', negate: true }],
    ['STRING_CHECK', { target: 'agent', value: 'idiot', not: true }],
    ['REGEX_MATCH', { target: 'agent', pattern: 'idiot', negate: true }],
  ])('has not kept what forbids words: %s %j', async (type, config) => {
    expect(await statusOf(type, config)).toBe('INCONCLUSIVE');
    const spoken = { chat_history: chat('user: Hello?', 'assistant: Good morning.') };
    expect(await statusOf(type, config, spoken)).toBe('PASSED');
  });

  it.each([
    ['LLM_JUDGE', rubric('agent never insults', 'agent ends the call'), 'PASSED'],
    ['LLM_JUDGE', rubric('agent speaks at most 2 times'), 'PASSED'],
    ['STRING_CHECK', { target: 'agent', value: 'hello' }, 'FAILED'],
    ['STRING_CHECK', { target: 'user', value: 'idiot', negate: true }, 'PASSED'],
    ['STRING_CHECK', { target: 'agent', value: 'idiot', negate: true, not: true }, 'FAILED'],
  ])('is judged by what it did: %s %j', async (type, config, status) => {
    expect(await statusOf(type, config)).toBe(status);
  });
});
