/** The judge without a language model: decides what can be counted, and leaves the rest undecided. */
import { lexicon, phraseIn, plainText } from './lexicon.ts';
import type { ConversationRecord, Evidence, Judge, JudgeAnswer, JudgeQuestion, ToneAnswer } from './ports.ts';
import { applyRubric, words } from './rubric.ts';
import { mean } from './statistics.ts';

const needsModel = 'No language model is configured (LLM_JUDGE_MODEL)';

export const ruleJudge: Judge = {
  evaluator: { provider: 'embedded', model: 'rules', deterministic: true },
  verdict,
  tone: async (record) => tone(record),
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
    case 'decided': {
      const { share, reasoning, evidence } = answer;
      if (output.type === 'categorical') {
        return { kind: 'undecided', reason: `${needsModel}; a rubric cannot choose a category.` };
      }
      return { kind: 'verdict', value: output.type === 'score' ? share : share === 1, reasoning, evidence };
    }
  }
}

/** A line of at most this many words is concise; one of three times as many is not at all. */
const conciseWords = 35;

function tone(record: ConversationRecord): ToneAnswer {
  const issues: string[] = [];
  const examples: Evidence[] = [];
  const note = (issue: string, turn: number, quote: string) => {
    issues.push(issue);
    examples.push({ turn, quote });
  };
  const conciseness = concisenessOf(record, note);
  const flow = flowOf(record, note);
  const empathy = empathyOf(record, note);
  return {
    kind: 'verdict',
    scores: {
      ...(conciseness !== null && { conciseness }),
      ...(flow !== null && { flow_preservation: flow }),
      ...(empathy !== null && { empathy }),
    },
    issues,
    examples,
  };
}

type Note = (issue: string, turn: number, quote: string) => void;

function concisenessOf({ chat_history }: ConversationRecord, note: Note): number | null {
  const scores: number[] = [];
  chat_history.forEach(({ role, content }, turn) => {
    if (role !== 'assistant') return;
    const count = words(content);
    scores.push(Math.min(1, Math.max(0, 1 - (count - conciseWords) / (2 * conciseWords))));
    if (count > conciseWords) note(`The agent says ${count} words at once.`, turn, content);
  });
  return mean(scores);
}

/** Share of lines that do not repeat an earlier one. */
function flowOf({ chat_history }: ConversationRecord, note: Note): number | null {
  const said = new Set<string>();
  const scores: number[] = [];
  chat_history.forEach(({ role, content }, turn) => {
    if (role !== 'assistant') return;
    const plain = plainText(content);
    scores.push(said.has(plain) ? 0 : 1);
    if (said.has(plain)) note('The agent repeats itself word for word.', turn, content);
    said.add(plain);
  });
  return mean(scores);
}

/** Share of the caller's upset lines that are acknowledged in the answer; null when there are none. */
function empathyOf({ chat_history }: ConversationRecord, note: Note): number | null {
  const scores: number[] = [];
  chat_history.forEach(({ role, content }, turn) => {
    if (role !== 'user') return;
    if (phraseIn(content, [...lexicon.anger, ...lexicon.insults]) === null) return;
    const answer = chat_history[turn + 1];
    if (answer?.role !== 'assistant') return;
    const acknowledged = phraseIn(answer.content, lexicon.acknowledgement) !== null;
    scores.push(acknowledged ? 1 : 0);
    if (!acknowledged) note('The agent does not acknowledge an upset caller.', turn + 1, answer.content);
  });
  return mean(scores);
}
