/** Audit entries of tests: scenarios, large starts, and all deletions. */

import { type Actor, recordChange } from '../../audit/index.ts';
import type { Db } from '../../db/index.ts';
import type { TestingDeps } from './deps.ts';

export interface TestingChange {
  readonly orgId: string;
  /** Id of the scenario, run, batch, simulation set, matrix, load, watch, noise, tornado session or agent of others. */
  readonly subject: string;
  readonly action:
    | 'scenario_create'
    | 'scenario_update'
    | 'scenario_delete'
    | 'run_delete'
    | 'batch_delete'
    | 'simulation_set_start'
    | 'simulation_set_delete'
    | 'matrix_start'
    | 'load_start'
    | 'load_cancel'
    | 'load_delete'
    | 'noise_create'
    | 'noise_delete'
    | 'watch_create'
    | 'watch_update'
    | 'watch_delete'
    | 'tornado_start'
    | 'tornado_cancel'
    | 'tornado_accept'
    | 'tornado_delete'
    | 'agent_create'
    | 'agent_update'
    | 'agent_delete'
    | 'agent_prove';
  readonly fields?: readonly string[];
}

/** @param db the transaction of the change */
export function recordTestingChange(
  db: Db,
  { clock }: Pick<TestingDeps, 'clock'>,
  by: Actor,
  change: TestingChange,
): Promise<void> {
  return recordChange(db, clock, by, { ...change, area: 'agent_testing' });
}
