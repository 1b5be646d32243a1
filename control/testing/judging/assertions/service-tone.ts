/** SERVICE_TONE: how natural and considerate the agent was. */
import { toneDimensions } from '#shared/api/agent-testing/assertions.ts';
import { mean } from '../statistics.ts';
import type { AssertionRule } from './outcome.ts';
import { broken, decided, inconclusive } from './outcome.ts';
import { verifiedEvidence } from './target-text.ts';

export const serviceTone: AssertionRule<'SERVICE_TONE'> = {
  evaluate: async ({ threshold = 0.7, dimensions = [...toneDimensions] }, record, { judge, seed }) => {
    const facts = { target: dimensions.join(', '), expected: `mean of at least ${threshold}` };
    if (!record.chat_history.some(({ role }) => role === 'assistant')) {
      return inconclusive({ ...facts, reasoning: 'The agent said nothing, so there is no tone to judge.' });
    }
    const answer = await judge.tone(record, seed);
    if (answer.kind === 'undecided') return inconclusive({ ...facts, reasoning: answer.reason });
    if (answer.kind === 'failed') return broken({ ...facts, reasoning: answer.reason });
    const open = dimensions.filter((dimension) => answer.scores[dimension] === undefined);
    if (open.length > 0) {
      return inconclusive({ ...facts, reasoning: `Could not be judged: ${open.join(', ')}.` });
    }
    const scores = dimensions.map((dimension) => answer.scores[dimension] ?? 0);
    const score = mean(scores) ?? 0;
    const parts = dimensions.map((dimension, index) => `${dimension} ${(scores[index] ?? 0).toFixed(2)}`);
    const issues = answer.issues.length > 0 ? ` ${answer.issues.join(' ')}` : '';
    return decided(score >= threshold, score, {
      ...facts,
      reasoning: `${parts.join(', ')}.${issues}`,
      evidence: verifiedEvidence(record, answer.examples),
    });
  },
};
