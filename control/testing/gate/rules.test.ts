import { describe, expect, it } from 'vitest';
import { blockedBy } from './rules.ts';

const scenario = { id: 's', name: 'S', updated_at: '2030-01-02T00:00:00.000Z', promotion_repeats: 3 };
let number = 0;
const run = (status: 'PASSED' | 'FAILED' | 'ERROR' | 'CANCELLED' | 'RUNNING', seed: number, day = 3) => ({
  id: `run ${++number}`,
  status,
  seed,
  overall_score: status === 'PASSED' ? 1 : 0,
  created_at: `2030-01-0${day}T00:00:00.000Z`,
});
const reasonOf = (...runs: ReturnType<typeof run>[]) => {
  const blocked = blockedBy(scenario, runs);
  return blocked && [blocked.reason, blocked.runs_passed, blocked.latest_run_id];
};

describe('a scenario that wants three passes', () => {
  it('is not blocked when the newest runs of three seeds have passed, whatever came before', () => {
    expect(reasonOf(run('PASSED', 1), run('PASSED', 2), run('PASSED', 3), run('FAILED', 4))).toBeNull();
  });

  it('is blocked by one failure among them, even while others run', () => {
    const failed = run('FAILED', 3);
    expect(reasonOf(run('PASSED', 1), run('RUNNING', 2), failed)).toEqual(['RUN_FAILED', 1, failed.id]);
    const broken = run('ERROR', 2);
    expect(reasonOf(run('RUNNING', 1), broken, run('CANCELLED', 3))).toEqual(['RUN_ERROR', 0, broken.id]);
  });

  it('counts runs of one seed once: the newest', () => {
    const newest = run('PASSED', 1);
    expect(reasonOf(newest, run('PASSED', 1), run('PASSED', 2), run('PASSED', 1))).toEqual([
      'TOO_FEW_RUNS',
      2,
      newest.id,
    ]);
    expect(reasonOf(run('PASSED', 1), run('FAILED', 1), run('PASSED', 2), run('PASSED', 3))).toBeNull();
  });

  it('counts no run from before its last change', () => {
    const before = run('PASSED', 2, 1);
    expect(reasonOf(run('PASSED', 1), before, run('PASSED', 3, 1))?.slice(0, 2)).toEqual(['TOO_FEW_RUNS', 1]);
    expect(reasonOf(before)).toEqual(['SCENARIO_CHANGED', 0, before.id]);
    expect(reasonOf()).toEqual(['NO_RUN', 0, null]);
  });
});
