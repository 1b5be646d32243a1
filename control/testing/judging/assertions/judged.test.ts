import { describe, expect, it } from 'vitest';
import { chat, judgeSaying } from '../../../../test/kit/control/agent-testing.ts';
import { evaluate, verdictOf } from '../../../../test/kit/control/assertions.ts';

const chat_history = chat(
  'assistant: Hello.',
  'user: I am ANGRY',
  'assistant: I am sorry. Bye.',
  'user: Bye',
);

describe('LLM_JUDGE and CUSTOM_LLM', () => {
  const saying = (value: boolean | number | string, evidence: { turn: number; quote: string }[] = []) =>
    judgeSaying({ verdict: async () => ({ kind: 'verdict', value, reasoning: 'So.', evidence }) });

  it.each([
    [{}, true, ['PASSED', 1]],
    [{}, false, ['FAILED', 0]],
    [{ pass_on_true: false }, false, ['PASSED', 1]],
    [{ output_type: 'score' }, 0.7, ['PASSED', 0.7]],
    [{ output_type: 'score' }, 0.69, ['FAILED', 0.69]],
    [{ output_type: 'score', threshold: 0.2 }, 0.25, ['PASSED', 0.25]],
    [{ output_type: 'score' }, 1.5, ['INCONCLUSIVE', 0]],
    [{ output_type: 'score' }, Number.NaN, ['INCONCLUSIVE', 0]],
    [{ output_type: 'categorical', categories: ['a', 'b'], pass_categories: ['b'] }, 'b', ['PASSED', 1]],
    [{ output_type: 'categorical', categories: ['a', 'b'], pass_categories: ['b'] }, 'a', ['FAILED', 0]],
    [
      { output_type: 'categorical', categories: ['a', 'b'], pass_categories: ['b'] },
      'c',
      ['INCONCLUSIVE', 0],
    ],
    [{}, 'yes', ['INCONCLUSIVE', 0]],
  ])('with %j and the answer %j have the result %j', async (reading, value, expected) => {
    expect(await verdictOf('LLM_JUDGE', { prompt: 'p', ...reading }, {}, saying(value))).toEqual(expected);
    expect(await verdictOf('CUSTOM_LLM', { system_prompt: 'p', ...reading }, {}, saying(value))).toEqual(
      expected,
    );
  });

  it('drop quotes that were not said, and correct the turn of those that were', async () => {
    const judge = saying(true, [
      { turn: 0, quote: 'ANGRY' },
      { turn: 1, quote: 'I will sue' },
      { turn: 99, quote: 'Hello.' },
      { turn: 2, quote: '' },
      { turn: 1, quote: 'ANGRY' },
    ]);
    expect((await evaluate('LLM_JUDGE', { prompt: 'p' }, { chat_history }, judge)).evidence).toEqual([
      { turn: 1, quote: 'ANGRY' },
      { turn: 0, quote: 'Hello.' },
    ]);
  });

  it('are inconclusive without a verdict or words, and in error when the provider fails', async () => {
    const failing = judgeSaying({ verdict: async () => ({ kind: 'failed', reason: 'It is away.' }) });
    expect(await verdictOf('LLM_JUDGE', { prompt: 'p' })).toEqual(['INCONCLUSIVE', 0]);
    expect(await verdictOf('LLM_JUDGE', { prompt: 'p' }, { chat_history: [] }, saying(true))).toEqual([
      'INCONCLUSIVE',
      0,
    ]);
    expect(await evaluate('LLM_JUDGE', { prompt: 'p' }, {}, failing)).toMatchObject({
      status: 'ERROR',
      score: 0,
      passed: false,
      reasoning: 'It is away.',
    });
  });
});

describe('SERVICE_TONE', () => {
  const scoring = (scores: Record<string, number>) =>
    judgeSaying({ tone: async () => ({ kind: 'verdict', scores, issues: [], examples: [] }) });

  it('takes the mean of the requested dimensions', async () => {
    const judge = scoring({ empathy: 0.5, conciseness: 1 });
    const dimensions = ['empathy', 'conciseness'];
    expect(await verdictOf('SERVICE_TONE', { dimensions }, {}, judge)).toEqual(['PASSED', 0.75]);
    expect(await verdictOf('SERVICE_TONE', { dimensions: ['empathy'] }, {}, judge)).toEqual(['FAILED', 0.5]);
  });

  it('is inconclusive when one of them was not judged', async () => {
    expect(await verdictOf('SERVICE_TONE', {}, {}, scoring({ empathy: 1 }))).toEqual(['INCONCLUSIVE', 0]);
    expect(await verdictOf('SERVICE_TONE', {}, { chat_history: chat('user: Hello?') }, scoring({}))).toEqual([
      'INCONCLUSIVE',
      0,
    ]);
  });
});
