/**
 * HEARD_WORDS: numbers and names that the agent said arrived at the caller, as a transcription server heard them. What was
 * said is the agent's own log, as far as it was played. On a production call nobody transcribes: there it is the words that
 * were played, of those that the agent wanted to say.
 */
import type { AssertionConfigs } from '#shared/api/agent-testing/assertions.ts';
import type { ConversationRecord, Outcome } from '../ports.ts';
import { holdsValue, spokenTokens, valuesIn } from '../spoken-values.ts';
import type { AssertionRule } from './outcome.ts';
import { decided, inconclusive } from './outcome.ts';

export const heardWords: AssertionRule<'HEARD_WORDS'> = { evaluate: heardOutcome };

export function heardOutcome(
  { values, threshold = 1 }: AssertionConfigs['HEARD_WORDS'],
  { played = [], spoken }: Pick<ConversationRecord, 'played' | 'spoken'>,
): Outcome {
  const again = played.map(spokenTokens);
  const expected = `${values === undefined ? 'the numbers and names that were said' : values.join(', ')}; at least ${threshold} of them`;
  const transcribed = spoken?.filter(({ heard }) => heard !== null) ?? [];
  if (transcribed.length === 0) {
    const reasoning = 'Nothing was transcribed: this needs a run over a call and a transcription server.';
    return inconclusive({ reasoning, expected });
  }
  const found = transcribed.flatMap(({ said, heard }) => {
    const tokens = spokenTokens(heard ?? '');
    const own = spokenTokens(said);
    const wanted = values === undefined ? valuesIn(said) : values.filter((value) => holdsValue(own, value));
    return wanted.map((value) => {
      const wasHeard = [tokens, ...again].some((one) => holdsValue(one, value));
      return { value, wasHeard, heard };
    });
  });
  const unsaid = values?.filter((value) => !found.some((one) => one.value === value)) ?? [];
  const all = found.length + unsaid.length;
  if (all === 0) return inconclusive({ reasoning: 'The agent said no numbers and no names.', expected });
  const arrived = found.filter(({ wasHeard }) => wasHeard).length;
  const lost = found.filter(({ wasHeard }) => !wasHeard).slice(0, 5);
  const parts = [
    `${arrived} of ${all} were heard.`,
    ...lost.map(
      ({ value, heard }) =>
        `“${value}” was said, and heard was: ${JSON.stringify((heard ?? '').slice(0, 200))}.`,
    ),
    ...(unsaid.length > 0 ? [`Not said: ${unsaid.slice(0, 5).join(', ')}.`] : []),
  ];
  const share = arrived / all;
  return decided(share >= threshold, share, { reasoning: parts.join(' '), target: 'agent', expected });
}
