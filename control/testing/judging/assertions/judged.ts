/** LLM_JUDGE and CUSTOM_LLM: a judge answers, and the configuration decides how its answer is read. */
import type { AssertionConfigs } from '#shared/api/agent-testing/assertions.ts';
import type { ConversationRecord, JudgeAnswer, JudgeQuestion, Outcome } from '../ports.ts';
import {
  type AssertionRule,
  broken,
  type ConfigProblem,
  decided,
  inconclusive,
  type Judging,
  yesOrNo,
} from './outcome.ts';
import { verifiedEvidence } from './target-text.ts';

type Reading = Omit<AssertionConfigs['LLM_JUDGE'], 'prompt'>;

const target = 'transcript';

export const llmJudge: AssertionRule<'LLM_JUDGE'> = {
  problems: readingProblems,
  evaluate: (config, record, judging) =>
    ask({ prompt: config.prompt, place: 'criterion', model: null }, config, record, judging),
};

export const customLlm: AssertionRule<'CUSTOM_LLM'> = {
  problems: readingProblems,
  evaluate: (config, record, judging) =>
    ask(
      { prompt: config.system_prompt, place: 'system', model: config.model ?? null },
      config,
      record,
      judging,
    ),
};

function readingProblems({ output_type, categories, pass_categories }: Reading): ConfigProblem[] {
  if (output_type !== 'categorical') return [];
  if (!categories) return [{ path: '/categories', rule: 'required with output_type categorical' }];
  if (!pass_categories) return [{ path: '/pass_categories', rule: 'required with output_type categorical' }];
  const unknown = pass_categories.findIndex((one) => !categories.includes(one));
  return unknown < 0 ? [] : [{ path: `/pass_categories/${unknown}`, rule: 'must be one of categories' }];
}

async function ask(
  question: Pick<JudgeQuestion, 'prompt' | 'place' | 'model'>,
  reading: Reading,
  record: ConversationRecord,
  { judge, seed }: Judging,
): Promise<Outcome> {
  const expected = expectation(reading);
  if (record.chat_history.length === 0) {
    return inconclusive({ reasoning: 'Nothing was said, so there is nothing to judge.', target, expected });
  }
  const { output_type: type = 'boolean', categories = [] } = reading;
  const output = type === 'categorical' ? { type, categories } : { type };
  const answer = await judge.verdict({ ...question, output, record, seed });
  return read(answer, reading, record, expected);
}

function expectation({
  output_type = 'boolean',
  pass_on_true = true,
  threshold = 0.7,
  pass_categories = [],
}: Reading) {
  switch (output_type) {
    case 'boolean':
      return String(pass_on_true);
    case 'score':
      return `at least ${threshold}`;
    case 'categorical':
      return `one of ${pass_categories.join(', ')}`;
  }
}

function read(answer: JudgeAnswer, reading: Reading, record: ConversationRecord, expected: string): Outcome {
  if (answer.kind === 'undecided') return inconclusive({ reasoning: answer.reason, target, expected });
  if (answer.kind === 'failed') return broken({ reasoning: answer.reason, target, expected });
  const { value, reasoning } = answer;
  const evidence = verifiedEvidence(record, answer.evidence);
  const facts = { reasoning, evidence, target, expected };
  const { output_type = 'boolean', pass_on_true = true, threshold = 0.7, pass_categories = [] } = reading;
  if (output_type === 'boolean' && typeof value === 'boolean') return yesOrNo(value === pass_on_true, facts);
  if (output_type === 'score' && typeof value === 'number' && value >= 0 && value <= 1) {
    return decided(value >= threshold, value, facts);
  }
  if (output_type === 'categorical' && typeof value === 'string' && reading.categories?.includes(value)) {
    return yesOrNo(pass_categories.includes(value), { ...facts, reasoning: `${value}: ${reasoning}` });
  }
  return inconclusive({ ...facts, reasoning: `The judge’s answer cannot be read as ${output_type}.` });
}
