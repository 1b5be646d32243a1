import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { storeFinishedRun } from '../../../test/kit/control/agent-testing.ts';
import { releaseAll } from '../../../test/kit/fakes/release.ts';
import { type Database, openDatabase } from '../../db/open.ts';
import { Announcements } from '../../edge-link/announcements.ts';
import { runSubject } from '../records/subjects.ts';
import { cancelledEnd, finishRun, type RunEnd } from '../records/write.ts';
import { type Executed, HopelessRun, type Work } from './execute.ts';
import { LiveRuns } from './live.ts';
import { testRunsSubject } from './plan.ts';
import { RunQueue } from './queue.ts';

const timeoutMs = 600_000;

let database: Database;
let clock: FakeClock;
let announcements: Announcements;
let queue: RunQueue;
let made = 0;
/** Lines of the log. */
let failed = 0;

/** Running runs, in order of their start; a test decides how each continues. */
let begun: {
  work: Work;
  signal: AbortSignal;
  done: (end?: Partial<RunEnd>) => void;
  fail: (error: Error) => void;
}[];
let news: PromiseWithResolvers<void>;

beforeEach(async () => {
  database = await openDatabase(':memory:');
  clock = new FakeClock();
  announcements = new Announcements(clock);
  begun = [];
  failed = 0;
  news = Promise.withResolvers();
});
afterEach(() =>
  releaseAll(
    () => queue.close(),
    () => expect(clock.pending).toBe(0),
    () => database.close(),
  ),
);

const passed: RunEnd = {
  ...cancelledEnd('2030-01-01T00:00:00.000Z'),
  status: 'PASSED',
  score: 1,
};

function start(limits: { perOrganization?: number; concurrent?: number } = {}, worker = 'me'): RunQueue {
  queue = new RunQueue({
    db: database.db,
    clock,
    log: { error: () => failed++ },
    announcements,
    worker,
    limits: { perOrganization: 20, concurrent: 64, timeoutMs, ...limits },
    live: new LiveRuns((id) => announcements.announce(runSubject(id))),
    metrics: { began: () => undefined, ended: () => undefined },
    execute: (work, signal) =>
      new Promise<Executed>((resolve, reject) => {
        const done = (end: Partial<RunEnd> = {}) =>
          resolve({ end: { ...passed, ...end }, contentHash: null });
        begun.push({ work, signal, done, fail: reject });
        news.resolve();
      }),
    onEnd: () => undefined,
  });
  return queue;
}

/** Waits until this many runs have started. */
async function begin(count: number): Promise<void> {
  while (begun.length < count) {
    await news.promise;
    news = Promise.withResolvers();
  }
}

async function waiting(orgId: string, count = 1, more: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    made++;
    const createdAt = new Date(Date.UTC(2030, 0, 1) + made).toISOString();
    const run = { status: 'PENDING', started_at: null, ...more } as const;
    ids.push(await storeFinishedRun(database.db, { orgId, scenarioId: 's', createdAt, more: run }));
  }
  return ids;
}

/** Waits until the queue has found what a crash has left. */
const found = (count: number) => expect.poll(() => queue.held, { timeout: 10_000 }).toBe(count);

const failures = (count: number) => expect.poll(() => failed, { timeout: 10_000 }).toBe(count);
const later = '2031-01-01T00:00:00.000Z';
/** A database fault: no run can get this status. */
const refusal = (status: string) =>
  `create trigger refused before update on test_runs when new.status = '${status}' begin select raise(abort, 'no room'); end`;

const rowOf = (id: string) =>
  database.db.selectFrom('test_runs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** The row once it has this status. */
async function turned(id: string, status: string) {
  for (;;) {
    const told = Promise.withResolvers<void>();
    const stop = announcements.on(runSubject(id), told.resolve);
    const row = await rowOf(id);
    if (row.status === status) {
      stop();
      return row;
    }
    await told.promise;
    stop();
  }
}

const organizations = () => begun.map(({ work }) => work.run.org_id);

describe('the queue', () => {
  it("gives organizations turns one after the other, and runs each one's oldest first", async () => {
    const many = await waiting('a', 5);
    await waiting('b', 2);
    await waiting('c', 1);
    start({ concurrent: 1 });
    for (let count = 1; count <= 8; count++) {
      await begin(count);
      begun[count - 1]?.done();
    }
    expect(organizations()).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'a', 'a']);
    const ofA = begun.filter(({ work }) => work.run.org_id === 'a').map(({ work }) => work.run.id);
    expect(ofA).toEqual(many);
  });

  it("limits an organization's concurrent runs, and starts more as they end", async () => {
    await waiting('a', 30);
    await waiting('b', 1);
    start({ perOrganization: 20 });
    await begin(21);
    expect(organizations().filter((org) => org === 'a')).toHaveLength(20);
    expect(queue.running).toBe(21);
    begun.find(({ work }) => work.run.org_id === 'a')?.done();
    await begin(22);
    expect(begun[21]?.work.run.org_id).toBe('a');
    expect(queue.running).toBe(21);
  });

  it('limits all concurrent runs', async () => {
    for (const org of ['a', 'b', 'c', 'd', 'e']) await waiting(org);
    start({ concurrent: 3 });
    await begin(3);
    expect(organizations()).toEqual(['a', 'b', 'c']);
    begun[1]?.done();
    await begin(4);
    expect(organizations().at(-1)).toBe('d');
  });

  it('starts later additions when notified', async () => {
    start();
    const [id] = await waiting('a');
    announcements.announce(testRunsSubject);
    await begin(1);
    expect(begun[0]?.work.run).toMatchObject({ id, status: 'RUNNING', attempts: 1, worker: 'me' });
  });
});

describe('a run', () => {
  it('ends in ERROR when it exceeds its timeout', async () => {
    const [id = ''] = await waiting('a');
    start();
    await begin(1);
    clock.advance(timeoutMs - 1);
    expect((await rowOf(id)).status).toBe('RUNNING');
    clock.advance(1);
    const row = await turned(id, 'ERROR');
    expect(begun[0]?.signal.aborted).toBe(true);
    expect(row.attempts).toBe(1);
    const record = await database.db
      .selectFrom('test_run_records')
      .selectAll()
      .where('run_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(record.error_message).toBe('The run took longer than 10 minutes.');
  });

  it('is retried twice when the engine fails, and then is an ERROR', async () => {
    const [id = ''] = await waiting('a');
    start();
    for (let attempt = 1; attempt <= 3; attempt++) {
      await begin(attempt);
      expect((await rowOf(id)).attempts).toBe(attempt);
      begun[attempt - 1]?.fail(new Error('broken'));
    }
    expect(await turned(id, 'ERROR')).toMatchObject({ attempts: 3 });
    expect(begun).toHaveLength(3);
  });

  it('passes when a retry does', async () => {
    const [id = ''] = await waiting('a');
    start();
    await begin(1);
    begun[0]?.fail(new Error('broken'));
    await begin(2);
    begun[1]?.done();
    expect(await turned(id, 'PASSED')).toMatchObject({ attempts: 2, overall_score: 1 });
  });

  it('is not retried when that is useless', async () => {
    const [id = ''] = await waiting('a');
    start();
    await begin(1);
    begun[0]?.fail(new HopelessRun('Invalid start_node_id'));
    expect(await turned(id, 'ERROR')).toMatchObject({ attempts: 1 });
  });

  it("that was canceled stays canceled, whatever its conversation's result", async () => {
    const [id = ''] = await waiting('a');
    start();
    await begin(1);
    const end = cancelledEnd('2030-01-01T00:00:01.000Z');
    await database.db.transaction().execute((db) => finishRun(db, id, end));
    queue.stop(id);
    expect(begun[0]?.signal.aborted).toBe(true);
    begun[0]?.done();
    await waiting('a');
    announcements.announce(testRunsSubject);
    await begin(2);
    expect(await rowOf(id)).toMatchObject({ status: 'CANCELLED', completed_at: end.completedAt });
  });
});

describe('after a restart', () => {
  const broken = { status: 'RUNNING', worker: 'killed', lease_until: '2031-01-01T00:00:00.000Z' };
  const givenBack = { status: 'RUNNING', worker: null, lease_until: null };

  it('what another process gave back is resumed at once, before waiting runs', async () => {
    const [waits] = await waiting('a');
    const [id = ''] = await waiting('b', 1, { ...givenBack, attempts: 1 });
    start({ concurrent: 1 });
    await begin(1);
    // The fixture stores attempts as 0, as insertRun does.
    expect(begun[0]?.work.run).toMatchObject({ id, attempts: 1, worker: 'me' });
    begun[0]?.done();
    await begin(2);
    expect(begun[1]?.work.run.id).toBe(waits);
  });

  it('interrupted runs wait and restart one after the other, and others run meanwhile', async () => {
    const died = await waiting('b', 2, broken);
    const [waits] = await waiting('a');
    start();
    await begin(1);
    expect(begun[0]?.work.run.id).toBe(waits);
    expect(queue.running).toBe(1);
    clock.advance(5_000);
    await begin(2);
    expect(begun[1]?.work.run).toMatchObject({ id: died[0], attempts: 1, worker: 'me' });
    expect(queue.running).toBe(2);
    clock.advance(200);
    await begin(3);
    expect(begun[2]?.work.run.id).toBe(died[1]);
  });

  it('a run that crashes the process each time does not start at once, and ends in ERROR after three attempts', async () => {
    const [id = ''] = await waiting('a');
    const dead: RunQueue[] = [];
    for (let death = 1; death <= 3; death++) {
      // Nothing closes it: its process is dead, and does nothing more.
      start({}, `process ${death}`);
      if (death > 1) {
        await found(1);
        expect(begun).toHaveLength(death - 1);
        clock.advance(5_000);
      }
      await begin(death);
      dead.push(queue);
    }
    start({}, 'last');
    await found(1);
    clock.advance(5_000);
    expect(await turned(id, 'ERROR')).toMatchObject({ attempts: 4 });
    expect(begun).toHaveLength(3);
    for (const one of dead) await one.close();
  });

  it('a run interrupted three times ends in ERROR', async () => {
    const [id = ''] = await waiting('a', 1, broken);
    await database.db.updateTable('test_runs').set({ attempts: 3 }).where('id', '=', id).execute();
    start();
    await found(1);
    clock.advance(5_000);
    expect(await turned(id, 'ERROR')).toMatchObject({ attempts: 4 });
    expect(begun).toEqual([]);
  });

  it('a process that lost its claim ends nothing', async () => {
    const [id = ''] = await waiting('a');
    const first = start({}, 'first');
    await begin(1);
    const second = start({}, 'second');
    await found(1);
    clock.advance(5_000);
    await begin(2);
    begun[0]?.done({ score: 0.1 });
    await first.close();
    begun[1]?.done({ score: 0.9 });
    expect(await turned(id, 'PASSED')).toMatchObject({ overall_score: 0.9, attempts: 2 });
    queue = second;
  });

  it('a run aborted by an orderly shutdown has not used up an attempt', async () => {
    const [id = ''] = await waiting('a');
    const first = start({}, 'first');
    await begin(1);
    await first.close();
    expect(await rowOf(id)).toMatchObject({ status: 'RUNNING', worker: null, attempts: 0 });
    start({}, 'second');
    await begin(2);
    expect(begun[1]?.work.run).toMatchObject({ id, attempts: 1 });
  });
});

describe('a draining program', () => {
  it('starts no more runs, and leaves failed ones claimed, because they may have caused the fault', async () => {
    const [failing = '', passing = ''] = await waiting('a', 2);
    start({ perOrganization: 2 });
    await begin(2);
    queue.hold();
    const [waits = ''] = await waiting('a');
    announcements.announce(testRunsSubject);
    clock.advance(30_000);
    begun[0]?.fail(new Error('broken'));
    begun[1]?.done();
    expect((await turned(passing, 'PASSED')).attempts).toBe(1);
    await failures(1);
    await expect.poll(() => queue.running, { timeout: 10_000 }).toBe(0);
    expect(await rowOf(failing)).toMatchObject({ status: 'RUNNING', worker: 'me', attempts: 1 });
    expect(await rowOf(waits)).toMatchObject({ status: 'PENDING', attempts: 0 });
    expect(begun).toHaveLength(2);
  });
});

describe('a run whose worker is gone', () => {
  it('is resumed when its lease expires', async () => {
    start();
    const lease_until = new Date(clock.now() + 10_000).toISOString();
    const [id] = await waiting('a', 1, { status: 'RUNNING', worker: 'gone', lease_until });
    clock.advance(30_000);
    await begin(1);
    expect(begun[0]?.work.run).toMatchObject({ id, worker: 'me' });
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
  clock = new RestlessClock();
  const ids = await waiting('a', 8, { status: 'RUNNING', worker: 'killed', lease_until: later });
  start();
  await found(8);
  for (let second = 1; second <= 20; second++) {
    clock.advance(1000);
    await expect.poll(() => queue.held + begun.length, { timeout: 10_000 }).toBe(8);
  }
  expect(begun.map(({ work }) => work.run.id).sort()).toEqual(ids.sort());
});

describe('a database that fails for a while', () => {
  const passing = (statement: string) => sql.raw(statement).execute(database.db);

  it('does not hide anything left by a crash', async () => {
    const [broken] = await waiting('a', 1, { status: 'RUNNING', worker: 'killed', lease_until: later });
    const [given] = await waiting('b', 1, { status: 'RUNNING', worker: null, lease_until: null });
    await passing('alter table test_runs rename to away');
    start();
    await failures(1);
    await passing('alter table away rename to test_runs');
    clock.advance(5_000);
    await begin(1);
    expect(begun[0]?.work.run.id).toBe(given);
    await found(1);
    clock.advance(5_000);
    await begin(2);
    expect(begun[1]?.work.run.id).toBe(broken);
  });

  it('loses no run whose claim could not be written', async () => {
    const [given] = await waiting('a', 1, { status: 'RUNNING', worker: null, lease_until: null });
    await passing(refusal('RUNNING'));
    start();
    await failures(1);
    await passing('drop trigger refused');
    clock.advance(5_000);
    await begin(1);
    expect(begun[0]?.work.run.id).toBe(given);
  });

  it('loses no run whose end could not be written', async () => {
    const [id = ''] = await waiting('a');
    start();
    await begin(1);
    await passing(refusal('ERROR'));
    begun[0]?.fail(new HopelessRun('Invalid start_node_id'));
    await failures(1);
    await passing('drop trigger refused');
    clock.advance(30_000);
    await begin(2);
    begun[1]?.done();
    expect(await turned(id, 'PASSED')).toMatchObject({ attempts: 2 });
  });
});
