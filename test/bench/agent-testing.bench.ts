/**
 * How fast the embedded rules run tests: from the request that starts a simulation set to its end, through the API, the
 * queue and a database on disk.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pino } from 'pino';
import { createApp } from '../../control/app.ts';
import { createApiKey, createOrganization } from '../../control/organizations/store.ts';
import { readControlConfig } from '../../control/settings/config.ts';
import { grouped, valueTable } from '../../scripts/bench/table.ts';
import { systemClock } from '../../shared/clock.ts';
import { bookingGraph, bookingPersona } from '../kit/control/test-runs.ts';

export interface AgentTestingResult {
  readonly runs: number;
  readonly turns: number;
  readonly seconds: number;
  readonly runsPerSecond: number;
  /** CPU seconds of the process per 1,000 runs. */
  readonly cpuSecondsPerThousandRuns: number;
  /** Longest time that the event loop was blocked, ms. */
  readonly longestPauseMs: number;
}

export async function runAgentTestingBench(
  options: { readonly runs?: number } = {},
): Promise<AgentTestingResult> {
  const runs = options.runs ?? 1000;
  const folder = mkdtempSync(join(tmpdir(), 'agent-testing-'));
  const config = readControlConfig({ TRUNKLINE_DATA: folder, LOG_LEVEL: 'silent' });
  const control = await createApp({ config, logger: pino({ level: 'silent' }) });
  await control.begin();
  const { database, secrets, announcements } = control.services;
  const key = await database.db.transaction().execute(async (db) => {
    const orgId = await createOrganization(db, systemClock, secrets, {
      name: 'Bench',
      region: 'local',
      sipEnabled: false,
    });
    return createApiKey(db, systemClock, { kind: 'customer', orgId }, 'bench');
  });
  const call = async (method: 'GET' | 'POST', url: string, payload?: object) => {
    const headers = { authorization: key };
    const response = await control.app.inject({ method, url, headers, ...(payload && { payload }) });
    if (response.statusCode !== 200) throw new Error(response.body);
    return response.json();
  };
  try {
    const { pathway_id } = await call('POST', '/v1/pathway/create', { name: 'Bench' });
    await call('POST', `/v1/pathway/${pathway_id}`, bookingGraph);
    const scenario_ids: string[] = [];
    for (let index = 0; index < 10; index++) {
      const { id } = await call('POST', '/v1/agent-testing/scenarios', {
        pathway_id,
        name: `Scenario ${index}`,
        category: index % 2 === 0 ? 'HAPPY_PATH' : 'CONFUSED_CALLER',
        tester_persona_prompt: bookingPersona,
        assertions: [
          { type: 'NODE_REACHED', config: { node_id: 'done' } },
          { type: 'VARIABLE_EXTRACTED', config: { variable_name: 'day', expected_value: '2030-05-04' } },
          { type: 'REGEX_MATCH', config: { pattern: 'booked', target: 'agent' } },
        ],
      });
      scenario_ids.push(id);
    }
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const cpu = process.cpuUsage();
    const begun = performance.now();
    const { simulation_set_id } = await call('POST', '/v1/agent-testing/simulation-sets', {
      scenario_ids,
      simulations_per_scenario: runs / scenario_ids.length,
      seed: 1,
    });
    for (let ended = false; !ended; ) {
      const news = announcements.wait('webhooks', 1000);
      const set = await database.db
        .selectFrom('test_simulation_sets')
        .select('completed_at')
        .where('id', '=', simulation_set_id)
        .executeTakeFirstOrThrow();
      ended = set.completed_at !== null;
      if (ended) news.cancel();
      await news.ended;
    }
    const seconds = (performance.now() - begun) / 1000;
    const used = process.cpuUsage(cpu);
    delay.disable();
    const { turns } = await database.db
      .selectFrom('test_runs')
      .select((eb) => eb.fn.sum<number>('turn_count').as('turns'))
      .executeTakeFirstOrThrow();
    return {
      runs,
      turns,
      seconds: Math.round(seconds * 100) / 100,
      runsPerSecond: Math.round(runs / seconds),
      cpuSecondsPerThousandRuns: (used.user + used.system) / 1e6 / (runs / 1000),
      longestPauseMs: Math.round(delay.max / 1e6),
    };
  } finally {
    await control.close();
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) console.log(await runAgentTestingBench());

export function formatAgentTestingBench(result: AgentTestingResult): string {
  return valueTable([
    ['runs', grouped(result.runs)],
    ['turns', grouped(result.turns)],
    ['time, s', grouped(result.seconds)],
    ['runs, runs/s', grouped(result.runsPerSecond)],
    ['CPU, s per 1,000 runs', grouped(result.cpuSecondsPerThousandRuns)],
    ['longest pause, ms', grouped(result.longestPauseMs)],
  ]);
}
