/** The judge without a language model: decides what can be counted, and leaves the rest undecided. */
import type { Judge, JudgeAnswer, JudgeQuestion } from './ports.ts';
import { applyRubric, saidNothing } from './rubric.ts';

const needsModel = 'No language model is configured (LLM_JUDGE_MODEL)';

export const ruleJudge: Judge = {
  evaluator: { provider: 'embedded', model: 'rules', deterministic: true },
  verdict,
  // How a conversation sounds cannot be counted: apologies are said in insults too.
  tone: async () => ({
    kind: 'without_model',
    reason: `${needsModel}, and the assertion declares no rubric.`,
  }),
};

async function verdict({ prompt, output, record }: JudgeQuestion): Promise<JudgeAnswer> {
  const answer = await applyRubric(prompt, record);
  switch (answer.kind) {
    case 'none':
      return { kind: 'undecided', reason: `${needsModel}, and the prompt declares no rubric.` };
    case 'unreadable':
      return {
        kind: 'undecided',
        reason: `${needsModel}, and the rubric contains a statement that rules cannot decide: ${answer.line}`,
      };
    case 'silent':
      return { kind: 'undecided', reason: saidNothing };
    case 'doubtful': {
      const { line, quote, fails, reasoning, evidence } = answer;
      // One statement that does not hold is enough, whatever the open one would say.
      if (fails && output.type === 'boolean') return { kind: 'verdict', value: false, reasoning, evidence };
      const reason = `${needsModel}, and rules cannot tell whether this holds: ${line}. Said: ${quote}`;
      return { kind: 'undecided', reason };
    }
    case 'decided': {
      const { share, reasoning, evidence } = answer;
      if (output.type === 'categorical') {
        return { kind: 'undecided', reason: `${needsModel}; a rubric cannot choose a category.` };
      }
      return { kind: 'verdict', value: output.type === 'score' ? share : share === 1, reasoning, evidence };
    }
  }
}
