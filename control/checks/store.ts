/** Discoveries and test calls as stored. */
import type { Clock } from '#shared/clock.ts';
import type { ReportBody, TestCallState } from '#shared/edge-protocol/reports.ts';
import { builtOnce, type Db, type DiscoveryRow, type TestCallRow, toJson } from '../db/index.ts';

/** Contract 3.1: kept after completion. */
export const discoveryKeptMs = 10 * 60 * 1000;
/** Contract 3.2. */
const testCallKeptMs = 24 * 60 * 60 * 1000;

export function findDiscovery(db: Db, orgId: string, id: string): Promise<DiscoveryRow | undefined> {
  return db
    .selectFrom('discoveries')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
}

/** An organization's unfinished discoveries. */
export function openDiscoveries(db: Db, orgId: string): Promise<DiscoveryRow[]> {
  return db
    .selectFrom('discoveries')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('completed_at', 'is', null)
    .execute();
}

export async function insertDiscovery(db: Db, row: DiscoveryRow): Promise<void> {
  await db.insertInto('discoveries').values(row).execute();
}

export async function deleteDiscovery(db: Db, id: string): Promise<void> {
  await db.deleteFrom('discoveries').where('id', '=', id).execute();
}

export function findTestCall(
  db: Db,
  clock: Clock,
  orgId: string,
  id: string,
): Promise<TestCallRow | undefined> {
  return db
    .selectFrom('test_calls')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .where('created_at', '>', new Date(clock.now() - testCallKeptMs).toISOString())
    .executeTakeFirst();
}

export async function insertTestCall(db: Db, row: TestCallRow): Promise<void> {
  await db.insertInto('test_calls').values(row).execute();
}

export async function setTestCall(db: Db, id: string, state: TestCallState): Promise<void> {
  await db
    .updateTable('test_calls')
    .set({ state: toJson(state) })
    .where('id', '=', id)
    .execute();
}

/** Deletes checks that are no longer shown. Returns how many rows were deleted. */
export async function pruneChecks(db: Db, clock: Clock): Promise<number> {
  const before = (ms: number) => new Date(clock.now() - ms).toISOString();
  // A discovery ends within a minute, so its start is close enough to its age.
  const discoveries = await db
    .deleteFrom('discoveries')
    .where('started_at', '<', before(discoveryKeptMs + 60_000))
    .executeTakeFirst();
  const calls = await db
    .deleteFrom('test_calls')
    .where('created_at', '<=', before(testCallKeptMs))
    .executeTakeFirst();
  return Number(discoveries.numDeletedRows + calls.numDeletedRows);
}

type CheckBody = Extract<ReportBody, { type: 'discovery' | 'test_call' }>;

const saveDiscovery = builtOnce(
  (db, { id, result, completed_at }: Pick<DiscoveryRow, 'id' | 'result' | 'completed_at'>) =>
    db
      .updateTable('discoveries')
      .set({ result, completed_at })
      .where('id', '=', id)
      .where('completed_at', 'is', null),
);

const saveTestCall = builtOnce(
  (db, { id, state, updated_at }: Pick<TestCallRow, 'id' | 'state' | 'updated_at'>) =>
    db.updateTable('test_calls').set({ state, updated_at }).where('id', '=', id),
);

/** Stores a report of a discovery or a test call; a report without its row is dropped. */
export async function storeCheck(db: Db, body: CheckBody, now: string): Promise<void> {
  if (body.type === 'discovery') {
    const completed_at = body.result.status === 'running' ? null : now;
    await saveDiscovery(db, { id: body.discovery_id, result: toJson(body.result), completed_at });
    return;
  }
  const { type: _, test_call_id, ...state } = body;
  await saveTestCall(db, { id: test_call_id, state: toJson(state), updated_at: now });
}
