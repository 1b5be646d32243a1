import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QueuedRuns, runTimeoutMs } from '../../../test/kit/control/queued-runs.ts';
import { CallFailure } from '../over-call/talk.ts';
import { cancelledEnd, finishRun } from '../records/write.ts';
import { HopelessRun } from './failures.ts';
import { testRunsSubject } from './plan.ts';

let runs: QueuedRuns;
beforeEach(async () => {
  runs = await QueuedRuns.open();
});
afterEach(() => runs.close());

async function whyBroken(id: string): Promise<string | null> {
  const record = await runs.database.db
    .selectFrom('test_run_records')
    .select('error_message')
    .where('run_id', '=', id)
    .executeTakeFirstOrThrow();
  return record.error_message;
}

describe('the queue', () => {
  it("gives organizations turns one after the other, and runs each one's oldest first", async () => {
    const many = await runs.waiting('a', 5);
    await runs.waiting('b', 2);
    await runs.waiting('c', 1);
    runs.start({ concurrent: 1 });
    for (let count = 1; count <= 8; count++) {
      await runs.begin(count);
      runs.begun[count - 1]?.done();
    }
    expect(runs.organizations()).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'a', 'a']);
    const ofA = runs.begun.filter(({ work }) => work.run.org_id === 'a').map(({ work }) => work.run.id);
    expect(ofA).toEqual(many);
  });

  it("limits an organization's concurrent runs, and starts more as they end", async () => {
    await runs.waiting('a', 30);
    await runs.waiting('b', 1);
    runs.start({ perOrganization: 20 });
    await runs.begin(21);
    expect(runs.organizations().filter((org) => org === 'a')).toHaveLength(20);
    expect(runs.queue.running).toBe(21);
    runs.begun.find(({ work }) => work.run.org_id === 'a')?.done();
    await runs.begin(22);
    expect(runs.begun[21]?.work.run.org_id).toBe('a');
    expect(runs.queue.running).toBe(21);
  });

  it('limits all concurrent runs', async () => {
    for (const org of ['a', 'b', 'c', 'd', 'e']) await runs.waiting(org);
    runs.start({ concurrent: 3 });
    await runs.begin(3);
    expect(runs.organizations()).toEqual(['a', 'b', 'c']);
    runs.begun[1]?.done();
    await runs.begin(4);
    expect(runs.organizations().at(-1)).toBe('d');
  });

  it('starts later additions when notified', async () => {
    runs.start();
    const [id] = await runs.waiting('a');
    runs.announcements.announce(testRunsSubject);
    await runs.begin(1);
    expect(runs.begun[0]?.work.run).toMatchObject({ id, status: 'RUNNING', attempts: 1, worker: 'me' });
  });
});

describe('a run', () => {
  it('ends in ERROR when it exceeds its timeout', async () => {
    const [id = ''] = await runs.waiting('a');
    runs.start();
    await runs.begin(1);
    runs.clock.advance(runTimeoutMs - 1);
    expect((await runs.rowOf(id)).status).toBe('RUNNING');
    runs.clock.advance(1);
    const row = await runs.turned(id, 'ERROR');
    expect(runs.begun[0]?.signal.aborted).toBe(true);
    expect(row.attempts).toBe(1);
    expect(await whyBroken(id)).toBe('The run took longer than 10 minutes.');
  });

  it('is retried twice when the engine fails, and then is an ERROR', async () => {
    const [id = ''] = await runs.waiting('a');
    runs.start();
    for (let attempt = 1; attempt <= 3; attempt++) {
      await runs.begin(attempt);
      expect((await runs.rowOf(id)).attempts).toBe(attempt);
      runs.begun[attempt - 1]?.fail(new Error('broken'));
    }
    expect(await runs.turned(id, 'ERROR')).toMatchObject({ attempts: 3 });
    expect(runs.begun).toHaveLength(3);
  });

  it('tells what the attempts before failed of, when that was something else', async () => {
    const [id = ''] = await runs.waiting('a');
    runs.start();
    for (const [at, why] of ['The agent was not ready.', 'Nobody answers.', 'Nobody answers.'].entries()) {
      await runs.begin(at + 1);
      runs.begun[at]?.fail(new CallFailure(why));
    }
    await runs.turned(id, 'ERROR');
    expect(await whyBroken(id)).toBe(
      'Nobody answers. Attempts before failed otherwise: The agent was not ready.',
    );
  });

  it('passes when a retry does', async () => {
    const [id = ''] = await runs.waiting('a');
    runs.start();
    await runs.begin(1);
    runs.begun[0]?.fail(new Error('broken'));
    await runs.begin(2);
    runs.begun[1]?.done();
    expect(await runs.turned(id, 'PASSED')).toMatchObject({ attempts: 2, overall_score: 1 });
  });

  it('is not retried when that is useless', async () => {
    const [id = ''] = await runs.waiting('a');
    runs.start();
    await runs.begin(1);
    runs.begun[0]?.fail(new HopelessRun('Invalid start_node_id'));
    expect(await runs.turned(id, 'ERROR')).toMatchObject({ attempts: 1 });
  });

  it("that was canceled stays canceled, whatever its conversation's result", async () => {
    const [id = ''] = await runs.waiting('a');
    runs.start();
    await runs.begin(1);
    const end = cancelledEnd('2030-01-01T00:00:01.000Z');
    await runs.database.db.transaction().execute((db) => finishRun(db, id, end));
    runs.queue.stop(id);
    expect(runs.begun[0]?.signal.aborted).toBe(true);
    runs.begun[0]?.done();
    await runs.waiting('a');
    runs.announcements.announce(testRunsSubject);
    await runs.begin(2);
    expect(await runs.rowOf(id)).toMatchObject({ status: 'CANCELLED', completed_at: end.completedAt });
  });
});

describe('a draining program', () => {
  it('starts no more runs, and leaves failed ones claimed, because they may have caused the fault', async () => {
    const [failing = '', passing = ''] = await runs.waiting('a', 2);
    runs.start({ perOrganization: 2 });
    await runs.begin(2);
    runs.queue.hold();
    const [waits = ''] = await runs.waiting('a');
    runs.announcements.announce(testRunsSubject);
    runs.clock.advance(30_000);
    runs.begun[0]?.fail(new Error('broken'));
    runs.begun[1]?.done();
    expect((await runs.turned(passing, 'PASSED')).attempts).toBe(1);
    await runs.failures(1);
    await expect.poll(() => runs.queue.running).toBe(0);
    expect(await runs.rowOf(failing)).toMatchObject({ status: 'RUNNING', worker: 'me', attempts: 1 });
    expect(await runs.rowOf(waits)).toMatchObject({ status: 'PENDING', attempts: 0 });
    expect(runs.begun).toHaveLength(2);
  });
});
