/** How many questions of agents the caller without a model answers, by kinds of which tests see one half. */
import { enough, type QuestionKind, understood } from '../../kit/verdicts/questions.ts';
import { heldOutKinds } from '../../kit/verdicts/questions-held-out.ts';
import { seenKinds } from '../../kit/verdicts/questions-seen.ts';
import type { Row, Section } from './section.ts';

async function row(half: Row['half'], kinds: readonly QuestionKind[]): Promise<Row> {
  const results = await understood(kinds);
  const lines = kinds.reduce((sum, { wordings }) => sum + wordings.length, 0);
  const answered = results.reduce((sum, one) => sum + one.understood, 0);
  const counts = {
    Kinds: kinds.length,
    'Kinds understood': results.filter((one) => one.understood >= enough).length,
    Answered: answered,
  };
  return { half, lines, counts, wrong: lines - answered, open: 0 };
}

export const questions: Section = {
  title: 'Questions to a caller without a model',
  measure: async () => [await row('seen', seenKinds), await row('held out', heldOutKinds)],
};
