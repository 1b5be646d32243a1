/** A load whose control plane is restarted or killed while its calls are under way. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { QueuedRuns } from '../../../../test/kit/control/queued-runs.ts';
import { type TestLoadRow, toJson } from '../../../db/index.ts';
import { beginLevel, levelsOf } from '../../records/load-store.ts';
import { insertRun } from '../../records/write.ts';

let runs: QueuedRuns;
beforeEach(async () => {
  runs = await QueuedRuns.open();
});
afterEach(() => runs.close());

const now = () => new Date(runs.clock.now()).toISOString();

/** Begins a load with these levels. */
async function begin(concurrencies: readonly number[], size: Partial<TestLoadRow>): Promise<void> {
  const { db } = runs.database;
  const run = {
    org_id: 'a',
    scenario_id: 's',
    pathway_id: null,
    persona_id: null,
    agent_id: null,
    batch_id: null,
    simulation_set_id: null,
    tornado_session_id: null,
    status: 'PENDING',
    trigger_source: 'load',
    version_number: 0,
    content_hash: '',
    transport: 'sip',
    phone_number: '+14155550100',
    request_data_override: null,
    webhook_url: null,
    worker: null,
    lease_until: null,
    cancel_requested_at: null,
    started_at: null,
    completed_at: null,
    duration_ms: null,
    overall_score: null,
  };
  const levels = concurrencies.map((concurrency) => ({
    concurrency,
    simulation_set_id: null,
    began_at: null,
    ended_at: null,
    figures: null,
  }));
  const row: TestLoadRow = {
    id: 'load',
    org_id: 'a',
    status: 'RUNNING',
    reason: null,
    scenario_ids: toJson(['s']),
    version_number: 0,
    phone_number: '+14155550100',
    runs_per_level: null,
    seconds_per_level: null,
    seed: 7,
    runs: 0,
    level: 0,
    levels: toJson(levels),
    planned: toJson([{ run, scenario: { id: 's' }, evaluator: {} }]),
    created_at: now(),
    completed_at: null,
    ...size,
  };
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('test_loads').values(row).execute();
    await beginLevel(trx, row, now(), insertRun);
  });
}

async function load() {
  const { db } = runs.database;
  const row = await db.selectFrom('test_loads').selectAll().executeTakeFirstOrThrow();
  const placed = await db
    .selectFrom('test_runs')
    .select(['seed', 'status', 'attempts'])
    .orderBy('seed')
    .execute();
  return { ...row, levels: levelsOf(row), placed };
}

/** The call of this place in the order of their beginnings ends, and its end is stored. */
async function ends(place: number): Promise<void> {
  await runs.begin(place + 1);
  const begun = runs.begun[place];
  begun?.done({ completedAt: now() });
  await runs.turned(begun?.work.run.id ?? '', 'PASSED');
}

it.each(['killed', 'shut down'])(
  'goes on when it is %s, and places no call beside those that it has',
  async (how) => {
    await begin([2, 1], { runs_per_level: 3 });
    const first = runs.start({}, 'first');
    await runs.begin(2);
    // One has ended and has been followed; two are under way.
    await ends(0);
    await runs.begin(3);
    if (how === 'shut down') await first.close();
    runs.start({}, 'second');
    if (how === 'killed') {
      await runs.found(2);
      runs.clock.advance(10_000);
    }
    await runs.begin(5);
    const interrupted = runs.begun.slice(1, 3).map(({ work }) => work.run.id);
    expect(
      runs.begun
        .slice(3)
        .map(({ work }) => work.run.id)
        .sort(),
    ).toEqual(interrupted.sort());
    // What is said of the dead one's calls after its end changes nothing.
    for (const place of [1, 2]) runs.begun[place]?.done({ completedAt: now() });
    if (how === 'killed') await first.close();
    expect((await load()).placed).toHaveLength(3);
    await ends(3);
    await ends(4);
    for (const place of [5, 6, 7]) await ends(place);
    const { levels, placed, reason, status } = await load();
    expect([status, reason]).toEqual(['COMPLETED', null]);
    expect(levels.map(({ figures }) => figures?.calls)).toEqual([3, 3]);
    // Each seed once in each level.
    expect(placed.map(({ seed, status: how }) => [seed, how])).toEqual(
      [7, 7, 8, 8, 9, 9].map((seed) => [seed, 'PASSED']),
    );
  },
);

it('of some seconds ends its level with the calls that were interrupted, when the time is over', async () => {
  await begin([1, 1], { seconds_per_level: 5 });
  const first = runs.start({}, 'first');
  await runs.begin(1);
  await first.close();
  runs.clock.advance(60_000);
  runs.start({}, 'second');
  await ends(1);
  await runs.begin(3);
  const { level, levels, placed } = await load();
  expect([level, levels.map(({ figures }) => figures?.calls), placed.length]).toEqual([1, [1, undefined], 2]);
  runs.clock.advance(5_000);
  await ends(2);
  expect((await load()).status).toBe('COMPLETED');
});

it('counts a call that was interrupted each time as one without a result, and goes on', async () => {
  await begin([1], { runs_per_level: 2 });
  const dead = [];
  for (let death = 1; death <= 3; death++) {
    dead.push(runs.start({}, `process ${death}`));
    if (death > 1) {
      await runs.found(1);
      runs.clock.advance(5_000);
    }
    await runs.begin(death);
  }
  runs.start({}, 'last');
  await runs.found(1);
  runs.clock.advance(5_000);
  await ends(3);
  const { levels, placed, status } = await load();
  expect(status).toBe('COMPLETED');
  expect(placed.map((one) => one.status)).toEqual(['ERROR', 'PASSED']);
  expect(levels[0]?.figures?.failures[0]?.reason).toContain('broken off 3 times');
  for (const one of dead) await one.close();
});
