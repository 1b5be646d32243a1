/**
 * SERVICE_TONE: how natural and considerate the agent was. A model scores it; a rubric of the assertion is decided by
 * rules, and is the whole verdict where there is no model.
 */
import { type ToneDimension, toneDimensions } from '#shared/api/agent-testing/assertions.ts';
import type { ConversationRecord, Evidence, Outcome, ToneAnswer } from '../ports.ts';
import { applyRubric, type RubricAnswer, saidNothing, unreadableStatement } from '../rubric.ts';
import { mean } from '../statistics.ts';
import type { AssertionRule } from './outcome.ts';
import { broken, decided, inconclusive } from './outcome.ts';
import { verifiedEvidence } from './target-text.ts';

interface Part {
  /** 0..1 */
  readonly score: number;
  readonly reasoning: string;
  readonly evidence: readonly Evidence[];
}
/** Text: why there is none. */
type Scored = Part | string;

export const serviceTone: AssertionRule<'SERVICE_TONE'> = {
  problems: ({ rubric }) => {
    if (rubric === undefined) return [];
    const line = unreadableStatement(rubric);
    return line === null ? [] : [{ path: '/rubric', rule: `is no statement of a rubric: ${line}` }];
  },
  evaluate: async (
    { threshold = 0.7, dimensions = [...toneDimensions], rubric },
    record,
    { judge, seed },
  ): Promise<Outcome> => {
    const facts = { target: dimensions.join(', '), expected: `mean of at least ${threshold}` };
    if (!record.chat_history.some(({ role }) => role === 'assistant')) {
      return inconclusive({ ...facts, reasoning: 'The agent said nothing, so there is no tone to judge.' });
    }
    const answer = await judge.tone(record, seed);
    if (answer.kind === 'failed') return broken({ ...facts, reasoning: answer.reason });
    const byRules = rubric === undefined ? null : declared(await applyRubric(`Rubric:\n${rubric}`, record));
    if (typeof byRules === 'string') return inconclusive({ ...facts, reasoning: byRules });
    const byModel = judged(answer, dimensions);
    const parts = answer.kind === 'without_model' && byRules ? [byRules] : [byModel, byRules];
    const open = parts.find((part) => typeof part === 'string');
    if (open !== undefined) return inconclusive({ ...facts, reasoning: open });
    return combined(
      parts.filter((part) => part !== null && typeof part !== 'string'),
      threshold,
      facts,
      record,
    );
  },
};

function judged(
  answer: Exclude<ToneAnswer, { kind: 'failed' }>,
  dimensions: readonly ToneDimension[],
): Scored {
  if (answer.kind !== 'verdict') return answer.reason;
  const open = dimensions.filter((dimension) => answer.scores[dimension] === undefined);
  if (open.length > 0) return `Could not be judged: ${open.join(', ')}.`;
  const scores = dimensions.map((dimension) => answer.scores[dimension] ?? 0);
  const parts = dimensions.map((dimension, index) => `${dimension} ${(scores[index] ?? 0).toFixed(2)}`);
  const issues = answer.issues.length > 0 ? ` ${answer.issues.join(' ')}` : '';
  return { score: mean(scores) ?? 0, reasoning: `${parts.join(', ')}.${issues}`, evidence: answer.examples };
}

function declared(answer: RubricAnswer): Scored {
  switch (answer.kind) {
    case 'decided':
      return { ...answer, score: answer.share };
    case 'doubtful':
      return `Rules cannot tell whether this holds: ${answer.line}. Said: ${answer.quote}`;
    case 'silent':
      return saidNothing;
    case 'unreadable':
      return `The rubric contains a statement that rules cannot decide: ${answer.line}`;
    case 'none':
      return 'The rubric is empty.';
  }
}

/** The lowest counts. */
function combined(
  parts: readonly Part[],
  threshold: number,
  facts: { readonly target: string; readonly expected: string },
  record: ConversationRecord,
): Outcome {
  const score = Math.min(...parts.map((part) => part.score));
  return decided(score >= threshold, score, {
    ...facts,
    reasoning: parts.map(({ reasoning }) => reasoning).join(' '),
    evidence: verifiedEvidence(
      record,
      parts.flatMap(({ evidence }) => evidence),
    ),
  });
}
