/** Runs that a crash, another process or a broken database has left to the queue. */
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { QueuedRuns } from '../../../test/kit/control/queued-runs.ts';
import { failUpdatesTo } from '../../../test/kit/db/failing-writes.ts';
import { HopelessRun } from './failures.ts';
import type { RunQueue } from './queue.ts';

let runs: QueuedRuns;
beforeEach(async () => {
  runs = await QueuedRuns.open();
});
afterEach(() => runs.close());

const later = '2031-01-01T00:00:00.000Z';
/** A database fault: no run can get this status. */
const failTurnTo = (status: string) => failUpdatesTo(runs.database.db, 'test_runs', 'status', status);

describe('after a restart', () => {
  const broken = { status: 'RUNNING', worker: 'killed', lease_until: '2031-01-01T00:00:00.000Z' };
  const givenBack = { status: 'RUNNING', worker: null, lease_until: null };

  it('what another process gave back is resumed at once, before waiting runs', async () => {
    const [waits] = await runs.waiting('a');
    const [id = ''] = await runs.waiting('b', 1, { ...givenBack, attempts: 1 });
    runs.start({ concurrent: 1 });
    await runs.begin(1);
    // The fixture stores attempts as 0, as insertRun does.
    expect(runs.begun[0]?.work.run).toMatchObject({ id, attempts: 1, worker: 'me' });
    runs.begun[0]?.done();
    await runs.begin(2);
    expect(runs.begun[1]?.work.run.id).toBe(waits);
  });

  it('interrupted runs wait and restart one after the other, and others run meanwhile', async () => {
    const died = await runs.waiting('b', 2, broken);
    const [waits] = await runs.waiting('a');
    runs.start();
    await runs.begin(1);
    expect(runs.begun[0]?.work.run.id).toBe(waits);
    expect(runs.queue.running).toBe(1);
    runs.clock.advance(5_000);
    await runs.begin(2);
    expect(runs.begun[1]?.work.run).toMatchObject({ id: died[0], attempts: 1, worker: 'me' });
    expect(runs.queue.running).toBe(2);
    runs.clock.advance(200);
    await runs.begin(3);
    expect(runs.begun[2]?.work.run.id).toBe(died[1]);
  });

  it('a run that crashes the process each time does not start at once, and ends in ERROR after three attempts', async () => {
    const [id = ''] = await runs.waiting('a');
    const dead: RunQueue[] = [];
    for (let death = 1; death <= 3; death++) {
      // Nothing closes it: its process is dead, and does nothing more.
      runs.start({}, `process ${death}`);
      if (death > 1) {
        await runs.found(1);
        expect(runs.begun).toHaveLength(death - 1);
        runs.clock.advance(5_000);
      }
      await runs.begin(death);
      dead.push(runs.queue);
    }
    runs.start({}, 'last');
    await runs.found(1);
    runs.clock.advance(5_000);
    expect(await runs.turned(id, 'ERROR')).toMatchObject({ attempts: 4 });
    expect(runs.begun).toHaveLength(3);
    for (const one of dead) await one.close();
  });

  it('a run interrupted three times ends in ERROR', async () => {
    const [id = ''] = await runs.waiting('a', 1, broken);
    await runs.database.db.updateTable('test_runs').set({ attempts: 3 }).where('id', '=', id).execute();
    runs.start();
    await runs.found(1);
    runs.clock.advance(5_000);
    expect(await runs.turned(id, 'ERROR')).toMatchObject({ attempts: 4 });
    expect(runs.begun).toEqual([]);
  });

  it('a process that lost its claim ends nothing', async () => {
    const [id = ''] = await runs.waiting('a');
    const first = runs.start({}, 'first');
    await runs.begin(1);
    const second = runs.start({}, 'second');
    await runs.found(1);
    runs.clock.advance(5_000);
    await runs.begin(2);
    runs.begun[0]?.done({ score: 0.1 });
    await first.close();
    runs.begun[1]?.done({ score: 0.9 });
    expect(await runs.turned(id, 'PASSED')).toMatchObject({ overall_score: 0.9, attempts: 2 });
    runs.queue = second;
  });

  it('a run aborted by an orderly shutdown has not used up an attempt', async () => {
    const [id = ''] = await runs.waiting('a');
    const first = runs.start({}, 'first');
    await runs.begin(1);
    await first.close();
    expect(await runs.rowOf(id)).toMatchObject({ status: 'RUNNING', worker: null, attempts: 0 });
    runs.start({}, 'second');
    await runs.begin(2);
    expect(runs.begun[1]?.work.run).toMatchObject({ id, attempts: 1 });
  });
});

describe('a run whose worker is gone', () => {
  it('is resumed after a pause, also when it is found later', async () => {
    runs.start();
    const [id] = await runs.waiting('a', 1, { status: 'RUNNING', worker: 'gone', lease_until: later });
    runs.clock.advance(30_000);
    await runs.found(1);
    runs.clock.advance(5_000);
    await runs.begin(1);
    expect(runs.begun[0]?.work.run).toMatchObject({ id, worker: 'me' });
  });
});

/** Time also passes between two readings. */
class RestlessClock extends FakeClock {
  override now(): number {
    this.jump(30);
    return super.now();
  }
}

it('loses no run whose pause after a crash ends while the pauses are checked', async () => {
  await runs.database.close();
  runs = await QueuedRuns.open(new RestlessClock());
  const ids = await runs.waiting('a', 8, { status: 'RUNNING', worker: 'killed', lease_until: later });
  runs.start();
  await runs.found(8);
  for (let second = 1; second <= 20; second++) {
    runs.clock.advance(1000);
    await expect.poll(() => runs.queue.held + runs.begun.length).toBe(8);
  }
  // Those that are started now have not all begun.
  await runs.begin(8);
  expect(runs.begun.map(({ work }) => work.run.id).sort()).toEqual(ids.sort());
});

describe('a database that fails for a while', () => {
  const passing = (statement: string) => sql.raw(statement).execute(runs.database.db);

  it('does not hide anything left by a crash', async () => {
    const [broken] = await runs.waiting('a', 1, { status: 'RUNNING', worker: 'killed', lease_until: later });
    const [given] = await runs.waiting('b', 1, { status: 'RUNNING', worker: null, lease_until: null });
    await passing('alter table test_runs rename to away');
    runs.start();
    await runs.failures(1);
    await passing('alter table away rename to test_runs');
    runs.clock.advance(5_000);
    await runs.begin(1);
    expect(runs.begun[0]?.work.run.id).toBe(given);
    await runs.found(1);
    runs.clock.advance(5_000);
    await runs.begin(2);
    expect(runs.begun[1]?.work.run.id).toBe(broken);
  });

  it('loses no run whose claim could not be written', async () => {
    const [given] = await runs.waiting('a', 1, { status: 'RUNNING', worker: null, lease_until: null });
    const succeed = await failTurnTo('RUNNING');
    runs.start();
    await runs.failures(1);
    await succeed();
    runs.clock.advance(5_000);
    await runs.begin(1);
    expect(runs.begun[0]?.work.run.id).toBe(given);
  });

  it('loses no run whose end could not be written', async () => {
    const [id = ''] = await runs.waiting('a');
    runs.start();
    await runs.begin(1);
    const succeed = await failTurnTo('ERROR');
    runs.begun[0]?.fail(new HopelessRun('Invalid start_node_id'));
    await runs.failures(1);
    await succeed();
    runs.clock.advance(30_000);
    await runs.begin(2);
    runs.begun[1]?.done();
    expect(await runs.turned(id, 'PASSED')).toMatchObject({ attempts: 2 });
  });
});
