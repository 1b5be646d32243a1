import { describe, expect, it } from 'vitest';
import { result } from '../../../test/kit/control/agent-testing.ts';
import { overallStatistics, type SimulatedRun, scenarioStatistics, setStatus } from './set-rules.ts';

const scenario = { id: 's', name: 'Angry refund' };
const booked = { name: 'Booked', assertion_id: 'a1' };

function run(
  id: string,
  status: SimulatedRun['status'],
  score: number | null,
  failed: string[] = [],
): SimulatedRun {
  const results = failed.map((type) => result(type as 'NODE_REACHED', { ...booked, status: 'FAILED' }));
  return { id, status, score, conversation: null, usage: null, results };
}

describe('the statistics of a scenario', () => {
  it('match the contract’s example, without errors and cancellations', () => {
    const runs = [
      run('r1', 'PASSED', 0.85),
      run('r2', 'FAILED', 0.42, ['NODE_REACHED', 'LLM_JUDGE']),
      run('r3', 'ERROR', 0.1, ['LLM_JUDGE']),
      run('r4', 'PASSED', 0.85),
      run('r5', 'FAILED', 0.42, ['NODE_REACHED']),
      run('r6', 'CANCELLED', null),
      run('r7', 'PASSED', 0.71, ['STRING_CHECK']),
      run('r8', 'RUNNING', null),
    ];
    expect(scenarioStatistics(scenario, runs)).toEqual({
      scenario_id: 's',
      scenario_name: 'Angry refund',
      total_runs: 5,
      passed: 3,
      failed: 2,
      errored: 1,
      cancelled: 1,
      pass_rate: 0.6,
      distinct_conversations: 5,
      pass_rate_interval: { low: 0.2307, high: 0.8824 },
      pass_rate_note: null,
      is_flaky: true,
      flakiness: 0.971,
      // squares about .65: .04 + .0529 + .04 + .0529 + .0036 = .1894; / 4 = .04735
      scores: { mean: 0.65, median: 0.71, stddev: 0.2176, min: 0.42, max: 0.85 },
      worst_run_id: 'r2',
      common_failure_modes: ['NODE_REACHED:Booked: 2 of 5', 'LLM_JUDGE:Booked: 1 of 5'],
      confidence: 'medium',
      usage: { input_tokens: 0, output_tokens: 0, cost: null, currency: null, runs_without_cost: 8 },
    });
  });

  it('count equal conversations once, and have no interval for one', () => {
    const runs = (conversations: readonly string[]) =>
      conversations.map((conversation, index) => ({
        ...run(`r${index}`, index === 0 ? ('FAILED' as const) : ('PASSED' as const), 1),
        conversation,
      }));
    const many = scenarioStatistics(
      scenario,
      runs([...'abcdefgh', ...Array.from({ length: 92 }, () => 'a')]),
    );
    expect(many).toMatchObject({ total_runs: 100, pass_rate: 0.99, distinct_conversations: 8 });
    // As for 7.92 of 8.
    expect(many.pass_rate_interval?.low).toBeCloseTo(0.665, 2);
    expect(many).toMatchObject({ confidence: 'medium', pass_rate_note: null });
    const one = scenarioStatistics(scenario, runs(Array.from({ length: 100 }, () => 'a')));
    expect(one).toMatchObject({ distinct_conversations: 1, pass_rate_interval: null, confidence: 'low' });
    expect(one.pass_rate_note).toMatch(/^All 100 runs had one and the same conversation/);
  });

  it('are null without finished runs', () => {
    expect(scenarioStatistics(scenario, [run('r', 'ERROR', null)])).toMatchObject({
      total_runs: 0,
      errored: 1,
      pass_rate: null,
      pass_rate_interval: null,
      is_flaky: false,
      flakiness: null,
      scores: { mean: null, median: null, stddev: null, min: null, max: null },
      worst_run_id: null,
      common_failure_modes: [],
      confidence: 'low',
    });
  });

  it('list at most five failure modes, by count and then text, with ids where there is no name', () => {
    const types = ['SERVICE_TONE', 'LLM_JUDGE', 'CUSTOM_LLM', 'STRING_CHECK', 'REGEX_MATCH', 'NODE_REACHED'];
    const results = types.map((type) =>
      result(type as 'LLM_JUDGE', {
        status: 'FAILED',
        assertion_id: 'id',
        name: type === 'CUSTOM_LLM' ? '' : null,
      }),
    );
    const modes = scenarioStatistics(scenario, [
      { id: 'r', status: 'FAILED', score: 0, conversation: null, usage: null, results },
    ]);
    expect(modes.common_failure_modes).toEqual([
      'CUSTOM_LLM:id: 1 of 1',
      'LLM_JUDGE:id: 1 of 1',
      'NODE_REACHED:id: 1 of 1',
      'REGEX_MATCH:id: 1 of 1',
      'SERVICE_TONE:id: 1 of 1',
    ]);
  });
});

describe('a simulation set', () => {
  const of = (...statuses: SimulatedRun['status'][]) =>
    scenarioStatistics(
      scenario,
      statuses.map((status, index) => run(String(index), status, 1)),
    );

  it('sums its scenarios, leaving unfinished ones out of the rate', () => {
    const scenarios = [of('PASSED'), of('PASSED', 'PASSED', 'FAILED'), of('ERROR'), of('FAILED')];
    expect(overallStatistics(scenarios, [])).toEqual({
      avg_pass_rate: 0.5556,
      flaky_count: 1,
      reliable_count: 1,
      total_runs: 5,
      errored: 1,
      usage: { input_tokens: 0, output_tokens: 0, cost: null, currency: null, runs_without_cost: 0 },
    });
    expect(overallStatistics([of('ERROR')], []).avg_pass_rate).toBeNull();
  });

  it('passes when every rate reaches the threshold, compared unrounded', () => {
    expect(setStatus([of('PASSED', 'FAILED')], 0.5)).toBe('PASSED');
    expect(setStatus([of('PASSED', 'FAILED', 'FAILED')], 0.3333)).toBe('PASSED');
    expect(setStatus([of('PASSED', 'FAILED', 'FAILED')], 0.33334)).toBe('FAILED');
    expect(setStatus([of('PASSED'), of('FAILED')], 0.5)).toBe('FAILED');
    expect(setStatus([of('FAILED'), of('ERROR')], 0.5)).toBe('ERROR');
  });
});
