import { describe, expect, it } from 'vitest';
import { endState, type Standing } from './end-state.ts';
import type { IterationOutcome, ScenarioOutcome } from './outcome.ts';

/** `a+` passed, `b-0.4` failed with a score, `c!` ended in ERROR. */
function iteration(...runs: readonly string[]): IterationOutcome {
  return new Map(
    runs.map((text): [string, ScenarioOutcome] => {
      const [, id = '', mark, score] = /^(\w)([-+!])([\d.]*)$/.exec(text) ?? [];
      const status = mark === '+' ? 'PASSED' : mark === '!' ? 'ERROR' : 'FAILED';
      const failure = status === 'FAILED' ? 'first at node' : null;
      return [id, { status, score: score ? Number(score) : mark === '+' ? 1 : null, failure, visited: [] }];
    }),
  );
}

const standing = (more: Partial<Standing>): Standing => ({
  iterations: [iteration('a+', 'b-0.4')],
  maxIterations: 5,
  cancelRequested: false,
  elapsedMs: 1000,
  timeoutMs: 60_000,
  failure: null,
  unfixable: new Set(),
  planned: 1,
  ...more,
});
const all = iteration('a+', 'b+');
const none = iteration('a-0.1', 'b-0.4');
const errors = iteration('a!', 'b!', 'c+');

describe('a session', () => {
  it('continues while something fails that can be fixed', () => {
    expect(endState(standing({}))).toBe(null);
    expect(endState(standing({ planned: null }))).toBe(null);
    expect(endState(standing({ iterations: [], planned: null }))).toBe(null);
  });

  it.each([
    ['all pass', { iterations: [none, all] }, 'COMPLETED_ALL_PASSED'],
    ['it is canceled', { cancelRequested: true }, 'CANCELLED'],
    ['it timed out', { elapsedMs: 60_000 }, 'TIMEOUT'],
    ['something failed after its retries', { failure: 'The model is away.' }, 'ERROR'],
    ['more than half of the runs end in ERROR', { iterations: [errors] }, 'ERROR'],
    ['only unfixable scenarios are left', { unfixable: new Set(['b']) }, 'COMPLETED_PARTIAL'],
    ['nothing was found to fix', { planned: 0 }, 'STUCK'],
    [
      'two iterations in a row have the same failures',
      { iterations: [iteration('a+', 'b-0.4'), iteration('a+', 'b-0.409')] },
      'STUCK',
    ],
    ['the cap is reached and some pass', { maxIterations: 1 }, 'COMPLETED_PARTIAL'],
    ['the cap is reached and none passes', { maxIterations: 1, iterations: [none] }, 'STUCK'],
  ] as const)('ends when %s', (_when, more, state) => {
    expect(endState(standing(more))).toBe(state);
  });

  it.each([
    ['half of the runs in ERROR are not most', { iterations: [iteration('a!', 'b+')] }],
    ['a rising score is progress', { iterations: [iteration('a+', 'b-0.4'), iteration('a+', 'b-0.41')] }],
    [
      'another failed scenario is another state',
      { iterations: [iteration('a+', 'b-0.4'), iteration('a-0.4', 'b+')] },
    ],
    ['the cap waits for the plan', { maxIterations: 1, planned: null }],
    ['others fail besides the unfixable ones', { iterations: [none], unfixable: new Set(['b']) }],
  ] as const)('continues: %s', (_why, more) => {
    expect(endState(standing(more))).toBe(null);
  });

  it('ends with the first state that applies, in the order of the contract', () => {
    // All states apply at once; then they are removed one after the other.
    const everything: Partial<Standing> = {
      iterations: [all, all],
      cancelRequested: true,
      elapsedMs: 60_000,
      failure: 'The model is away.',
      unfixable: new Set(['a', 'b']),
      planned: 0,
      maxIterations: 2,
    };
    const steps: readonly [Partial<Standing>, string][] = [
      [{}, 'COMPLETED_ALL_PASSED'],
      [{ iterations: [none, none] }, 'CANCELLED'],
      [{ cancelRequested: false }, 'TIMEOUT'],
      [{ elapsedMs: 0 }, 'ERROR'],
      [{ failure: null }, 'COMPLETED_PARTIAL'],
      [{ unfixable: new Set() }, 'STUCK'],
      [{ iterations: [none, iteration('a+', 'b-0.4')], planned: 1 }, 'COMPLETED_PARTIAL'],
      [{ maxIterations: 3 }, 'null'],
    ];
    let present = standing(everything);
    for (const [change, state] of steps) {
      present = { ...present, ...change };
      expect(String(endState(present))).toBe(state);
    }
  });
});
