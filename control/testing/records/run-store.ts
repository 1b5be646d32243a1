/** Reading, queueing and claiming runs. */
import { sql } from 'kysely';
import type { RunQuery } from '#shared/api/agent-testing/runs.ts';
import { ApiError } from '#shared/errors.ts';
import {
  type Db,
  isPresent,
  type TestAssertionResultRow,
  type TestRunRecordRow,
  type TestRunRow,
} from '../../db/index.ts';
import { inTransaction, recordEvents } from '../../events/index.ts';
import { happeningOfRun } from './happenings.ts';

export type RunWithName = TestRunRow & { readonly scenario_name: string };

function withName(db: Db) {
  return db
    .selectFrom('test_runs')
    .innerJoin('test_scenarios', 'test_scenarios.id', 'test_runs.scenario_id')
    .selectAll('test_runs')
    .select('test_scenarios.name as scenario_name');
}

export function findRun(db: Db, orgId: string, id: string): Promise<RunWithName | undefined> {
  return withName(db).where('test_runs.id', '=', id).where('test_runs.org_id', '=', orgId).executeTakeFirst();
}

/** @throws ApiError RUN_NOT_FOUND */
export async function requireRun(db: Db, orgId: string, id: string): Promise<RunWithName> {
  const row = await findRun(db, orgId, id);
  if (!row) throw ApiError.of('RUN_NOT_FOUND');
  return row;
}

export function findRecord(db: Db, runId: string): Promise<TestRunRecordRow> {
  return db.selectFrom('test_run_records').selectAll().where('run_id', '=', runId).executeTakeFirstOrThrow();
}

type Filter = Omit<RunQuery, 'limit' | 'offset'>;

/** One page, newest first, and the total. */
export async function listRuns(
  db: Db,
  orgId: string,
  filter: Filter,
  limit: number,
  offset: number,
): Promise<{ rows: RunWithName[]; total: number }> {
  const total = await countRuns(db, orgId, filter);
  // Contradictory filters need no search.
  if (total === 0) return { rows: [], total };
  let page = withName(db).where('test_runs.org_id', '=', orgId);
  for (const [column, value] of given(filter)) page = page.where(`test_runs.${column}`, '=', value);
  const rows = await page
    .orderBy('test_runs.created_at', 'desc')
    .orderBy('test_runs.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { rows, total };
}

/** Runs come from counters (test_run_counts), except those of a batch, which are few. */
async function countRuns(db: Db, orgId: string, { batch_id, agent_id, ...filter }: Filter): Promise<number> {
  if (batch_id !== undefined) {
    let runs = db.selectFrom('test_runs').where('org_id', '=', orgId).where('batch_id', '=', batch_id);
    for (const [column, value] of given({ ...filter, ...(agent_id !== undefined && { agent_id }) }))
      runs = runs.where(column, '=', value);
    const { total } = await runs
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return total;
  }
  let counts = db.selectFrom('test_run_counts').where('org_id', '=', orgId);
  for (const [column, value] of given(filter)) counts = counts.where(column, '=', value);
  if (agent_id !== undefined)
    counts = counts.where('scenario_id', 'in', (eb) =>
      eb
        .selectFrom('test_scenarios')
        .select('id')
        .where('agent_id', '=', agent_id)
        .where('org_id', '=', orgId),
    );
  const { total } = await counts
    .select(({ fn }) => fn.sum<number | null>('runs').as('total'))
    .executeTakeFirstOrThrow();
  return total ?? 0;
}

/** The requested columns and their values. */
function given<K extends string>(filter: { readonly [column in K]?: string }): [K, string][] {
  const entries = Object.entries<string | undefined>(filter) as [K, string | undefined][];
  return entries.flatMap(([column, value]): [K, string][] => (value === undefined ? [] : [[column, value]]));
}

/** The runs of a batch or a set, oldest first. */
export function runsOf(db: Db, group: 'batch_id' | 'simulation_set_id', id: string): Promise<RunWithName[]> {
  return withName(db)
    .where(`test_runs.${group}`, '=', id)
    .orderBy('test_runs.created_at')
    .orderBy('test_runs.seed')
    .orderBy('test_runs.id')
    .execute();
}

/** In the order of their assertions, by run. */
export async function resultsOf(
  db: Db,
  runIds: readonly string[],
): Promise<Map<string, TestAssertionResultRow[]>> {
  const rows: TestAssertionResultRow[] = [];
  // SQLite allows 32,766 parameters; a page of runs has far fewer, a simulation set up to 1,000.
  for (let from = 0; from < runIds.length; from += 500) {
    const ids = runIds.slice(from, from + 500);
    const some = await db
      .selectFrom('test_assertion_results')
      .selectAll()
      .where('run_id', 'in', ids)
      .orderBy('run_id')
      .orderBy('place')
      .execute();
    rows.push(...some);
  }
  return Map.groupBy(rows, ({ run_id }) => run_id);
}

/** Those of one run; none when they have more than `most` bytes, shown by `null`. */
export async function listedResults(
  db: Db,
  runId: string,
  most: number,
): Promise<TestAssertionResultRow[] | null> {
  const column = (name: string) => sql`coalesce(octet_length(${sql.ref(name)}), 0)`;
  const { bytes } = await db
    .selectFrom('test_assertion_results')
    .select(
      sql<number>`coalesce(sum(${column('reasoning')} + ${column('evidence')} + ${column('target')} + ${column(
        'expected',
      )}), 0)`.as('bytes'),
    )
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow();
  if (bytes > most) return null;
  return (await resultsOf(db, [runId])).get(runId) ?? [];
}

// ---------------------------------------------------------------- queue

/** Written out, because a partial index is not used for a parameter. */
const pending = sql.lit<'PENDING'>('PENDING');
const running = sql.lit<'RUNNING'>('RUNNING');

/** The next organization, by id, with a waiting run. @param after search from this id on; empty: the first one */
export async function nextWaitingOrganization(db: Db, after: string): Promise<string | null> {
  const row = await db
    .selectFrom('test_runs')
    .select('org_id')
    .where('status', '=', pending)
    .where('org_id', '>', after)
    .orderBy('org_id')
    .limit(1)
    .executeTakeFirst();
  return row?.org_id ?? null;
}

/** An organization's longest waiting run. */
export async function oldestWaiting(db: Db, orgId: string): Promise<TestRunRow | undefined> {
  return db
    .selectFrom('test_runs')
    .selectAll()
    .where('status', '=', pending)
    .where('org_id', '=', orgId)
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

/**
 * Runs that nobody runs: given back, or of a worker that has died. Also this worker's own; it knows which of these are
 * running, and which it abandoned because the database failed.
 */
export function orphans(db: Db, worker: string): Promise<TestRunRow[]> {
  return db
    .selectFrom('test_runs')
    .selectAll()
    .where('status', '=', running)
    .where((eb) =>
      eb.or([
        eb('worker', 'is', null),
        eb('worker', '=', worker),
        eb.not(isPresent(db, sql.ref('test_runs.worker'))),
      ]),
    )
    .orderBy('org_id')
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** How many runs living workers run, by organization. */
export async function countRunning(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('test_runs')
    .select(['org_id', (eb) => eb.fn.countAll<number>().as('runs')])
    .where('status', '=', running)
    .where('worker', 'is not', null)
    .where(isPresent(db, sql.ref('test_runs.worker')))
    .groupBy('org_id')
    .execute();
  return new Map(rows.map(({ org_id, runs }) => [org_id, runs]));
}

/** Which of these runs a worker still has. */
export async function stillClaimed(db: Db, worker: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('test_runs')
    .select('id')
    .where('id', 'in', [...ids])
    .where('status', '=', 'RUNNING')
    .where('worker', '=', worker)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

export async function countWaiting(db: Db): Promise<number> {
  const { waiting } = await db
    .selectFrom('test_runs')
    .select((eb) => eb.fn.countAll<number>().as('waiting'))
    .where('status', '=', pending)
    .executeTakeFirstOrThrow();
  return Number(waiting);
}

/** The claim on a run: while the row has it, nobody else ends the run. */
export interface Claim {
  readonly worker: string;
  readonly attempts: number;
}

/**
 * Claims a run as it was read. Returns undefined when another worker was faster, or it was canceled.
 * @param times ISO
 */
export function claimRun(
  db: Db,
  run: TestRunRow,
  worker: string,
  times: { readonly now: string; readonly leaseUntil: string },
): Promise<TestRunRow | undefined> {
  return inTransaction(db, async (trx) => {
    const claimed = await trx
      .updateTable('test_runs')
      .set({
        status: 'RUNNING',
        worker,
        lease_until: times.leaseUntil,
        attempts: run.attempts + 1,
        started_at: times.now,
      })
      .where('id', '=', run.id)
      .where('status', '=', run.status)
      .where('attempts', '=', run.attempts)
      .where('worker', run.worker === null ? 'is' : '=', run.worker)
      .returningAll()
      .executeTakeFirst();
    if (claimed) await recordEvents(trx, [happeningOfRun(claimed, times.now)]);
    return claimed;
  });
}

/** Whether the row still has the claim; check it in the transaction that ends the run. */
export async function holdsClaim(db: Db, id: string, { worker, attempts }: Claim): Promise<boolean> {
  const row = await db
    .selectFrom('test_runs')
    .select('id')
    .where('id', '=', id)
    .where('status', '=', 'RUNNING')
    .where('worker', '=', worker)
    .where('attempts', '=', attempts)
    .executeTakeFirst();
  return row !== undefined;
}

/** Gives back a run aborted through no fault of its own: the attempt does not count. */
export async function releaseRun(db: Db, id: string, { worker, attempts }: Claim): Promise<void> {
  await db
    .updateTable('test_runs')
    .set({ worker: null, lease_until: null, attempts: attempts - 1 })
    .where('id', '=', id)
    .where('status', '=', 'RUNNING')
    .where('worker', '=', worker)
    .where('attempts', '=', attempts)
    .execute();
}

export async function setContentHash(db: Db, id: string, content_hash: string): Promise<void> {
  await db.updateTable('test_runs').set({ content_hash }).where('id', '=', id).execute();
}
