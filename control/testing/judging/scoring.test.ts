import { describe, expect, it } from 'vitest';
import { conversation, result } from '../../../test/kit/control/agent-testing.ts';
import { overallScore, runVerdict, toneView } from './scoring.ts';

describe('the overall score', () => {
  it('weighs the scores', () => {
    const results = [
      result('LLM_JUDGE', { score: 0.5, weight: 1 }),
      result('NODE_REACHED', { score: 1, weight: 3 }),
    ];
    expect(overallScore(results, 0.1)).toBe(0.875);
  });

  it('is the plain mean when all weights are 0', () => {
    const results = [0.2, 0.4].map((score) => result('LLM_JUDGE', { score, weight: 0 }));
    expect(overallScore(results, null)).toBeCloseTo(0.3, 12);
  });

  it('is the tone score without assertions, and none without both', () => {
    expect(overallScore([], 0.8)).toBe(0.8);
    expect(overallScore([], null)).toBeNull();
  });
});

describe('the verdict on a run', () => {
  const failed = result('NODE_REACHED', { status: 'FAILED', name: 'Booked' });

  it('is PASSED when every required assertion passed, whatever the score', () => {
    const optional = { ...result('LLM_JUDGE', { status: 'FAILED', weight: 9 }), is_required: false };
    expect(runVerdict([result('NODE_REACHED'), optional], null)).toMatchObject({
      status: 'PASSED',
      score: 0.1,
    });
  });

  it('is FAILED when one did not, including inconclusive ones, and names it', () => {
    const { status, reasoning } = runVerdict([result('NODE_REACHED'), failed], null);
    expect([status, reasoning]).toEqual([
      'FAILED',
      '1 of 2 required assertions did not pass: NODE_REACHED “Booked”: Because.',
    ]);
    const open = result('LLM_JUDGE', { status: 'INCONCLUSIVE' });
    expect(runVerdict([open], null).status).toBe('FAILED');
  });

  it('is ERROR when a required assertion is in error, but not when an optional one is', () => {
    const error = result('LLM_JUDGE', { status: 'ERROR' });
    expect(runVerdict([failed, error], null)).toMatchObject({
      status: 'ERROR',
      error: 'LLM_JUDGE could not be evaluated: Because.',
    });
    expect(runVerdict([result('NODE_REACHED'), { ...error, is_required: false }], null).status).toBe(
      'PASSED',
    );
  });

  it.each([
    [0.7, 'PASSED'],
    [0.6999999, 'FAILED'],
  ])('depends on the score %d alone when nothing is required: %s', (score, status) => {
    const one = { ...result('LLM_JUDGE', { score }), is_required: false };
    expect(runVerdict([one], null).status).toBe(status);
    expect(runVerdict([], score).status).toBe(status);
  });

  it('is FAILED when nothing was checked', () => {
    expect(runVerdict([], null)).toMatchObject({ status: 'FAILED', reasoning: 'Nothing was checked.' });
  });
});

describe('the tone of a run', () => {
  const all = {
    naturalness: 1,
    conciseness: 1,
    empathy: 0.4,
    flow_preservation: 0,
    back_channeling: 0.6,
    topic_transitions: 0,
  };

  it('has the mean of all dimensions, and only examples that were said', () => {
    const examples = [
      { turn: 0, quote: 'how can I help' },
      { turn: 0, quote: 'made up' },
    ];
    const view = toneView({ kind: 'verdict', scores: all, issues: ['Curt.'], examples }, conversation());
    expect(view).toEqual({
      ...all,
      overall_tone_score: 0.5,
      issues: ['Curt.'],
      examples: [{ turn: 0, quote: 'how can I help' }],
    });
  });

  it('does not exist when a dimension was not judged', () => {
    const { empathy: _, ...scores } = all;
    expect(toneView({ kind: 'verdict', scores, issues: [], examples: [] }, conversation())).toBeNull();
    expect(toneView({ kind: 'failed', reason: 'away' }, conversation())).toBeNull();
  });
});
