/** Sessions and their iterations as stored. */
import { sql } from 'kysely';
import type { FixPlan } from '#shared/api/agent-testing/tornado.ts';
import {
  type Db,
  fromJson,
  type TestTornadoIterationRow,
  type TestTornadoSessionRow,
  toJson,
} from '../../db/index.ts';
import { type NewestPage, newestPage } from '../../http/index.ts';
import type { Fix } from './fixes.ts';

export async function insertSession(db: Db, row: TestTornadoSessionRow): Promise<void> {
  await db.insertInto('test_tornado_sessions').values(row).execute();
}

/** One page, newest first, and the total. */
export function listSessions(
  db: Db,
  orgId: string,
  pathwayId: string | undefined,
  page: { readonly limit: number; readonly offset: number },
): Promise<NewestPage<TestTornadoSessionRow>> {
  const all = db.selectFrom('test_tornado_sessions').selectAll().where('org_id', '=', orgId);
  return newestPage(pathwayId === undefined ? all : all.where('pathway_id', '=', pathwayId), page);
}

/** The session if it is running. */
export function findRunning(db: Db, id: string): Promise<TestTornadoSessionRow | undefined> {
  return db
    .selectFrom('test_tornado_sessions')
    .selectAll()
    .where('id', '=', id)
    .where('status', '=', 'RUNNING')
    .executeTakeFirst();
}

/** The newest running session of a pathway, or of the id given as persona. */
export function findActive(
  db: Db,
  orgId: string,
  column: 'pathway_id' | 'persona_id',
  id: string,
): Promise<TestTornadoSessionRow | undefined> {
  return db
    .selectFrom('test_tornado_sessions')
    .selectAll()
    .where('org_id', '=', orgId)
    .where(column, '=', id)
    .where('status', '=', sql.lit('RUNNING'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export function listRunning(db: Db): Promise<TestTornadoSessionRow[]> {
  return db
    .selectFrom('test_tornado_sessions')
    .selectAll()
    .where('status', '=', sql.lit('RUNNING'))
    .execute();
}

/** @returns false when the session has ended or is at another iteration: then nothing changes */
export async function updateSession(
  db: Db,
  { id, current_iteration }: Pick<TestTornadoSessionRow, 'id' | 'current_iteration'>,
  change: Partial<Omit<TestTornadoSessionRow, 'id' | 'org_id'>>,
): Promise<boolean> {
  const result = await db
    .updateTable('test_tornado_sessions')
    .set(change)
    .where('id', '=', id)
    .where('status', '=', 'RUNNING')
    .where('current_iteration', '=', current_iteration)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** @returns false when the session has ended */
export async function requestCancel(db: Db, id: string, now: string): Promise<boolean> {
  const result = await db
    .updateTable('test_tornado_sessions')
    .set({ cancel_requested_at: now })
    .where('id', '=', id)
    .where('status', '=', 'RUNNING')
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function insertIteration(db: Db, row: TestTornadoIterationRow): Promise<void> {
  await db.insertInto('test_tornado_iterations').values(row).execute();
}

export async function updateIteration(
  db: Db,
  sessionId: string,
  iteration: number,
  change: Partial<Omit<TestTornadoIterationRow, 'session_id' | 'iteration'>>,
): Promise<void> {
  await db
    .updateTable('test_tornado_iterations')
    .set(change)
    .where('session_id', '=', sessionId)
    .where('iteration', '=', iteration)
    .execute();
}

/** In order. */
export function listIterations(db: Db, sessionId: string): Promise<TestTornadoIterationRow[]> {
  return db
    .selectFrom('test_tornado_iterations')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('iteration')
    .execute();
}

/** Marks fixes as reverted in their plans, or as applied again. */
export async function markReverted(
  db: Db,
  sessionId: string,
  fixes: readonly Fix[],
  status: 'reverted' | 'applied' = 'reverted',
): Promise<void> {
  if (fixes.length === 0) return;
  const ids = new Set(fixes.map(({ id }) => id));
  for (const { iteration, fix_plan } of await listIterations(db, sessionId)) {
    if (fix_plan === null) continue;
    const plan: FixPlan = fromJson(fix_plan);
    const marked = plan.fixes.map((fix) => (ids.has(fix.id) ? { ...fix, status } : fix));
    await updateIteration(db, sessionId, iteration, {
      fix_plan: toJson({ ...plan, fixes: marked }),
    });
  }
}
