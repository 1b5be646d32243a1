/** What a caller by rules understands, at the level of kinds of questions. */
import { expect, it } from 'vitest';
import { enough, understood } from '../../../test/kit/verdicts/questions.ts';
import { seenKinds } from '../../../test/kit/verdicts/questions-seen.ts';

it('answers each kind of question, however it is asked', async () => {
  const results = await understood(seenKinds);
  expect(results.filter((one) => one.understood < enough)).toEqual([]);
});
