/** Discoveries and test calls as stored. */
import type { Clock } from '#shared/clock.ts';
import type { ReportBody, TestCallState } from '#shared/edge-protocol/reports.ts';
import { builtOnce, type Db, type DiscoveryRow, fromJson, type TestCallRow, toJson } from '../db/index.ts';
import { changeAndRecord, type Happening, recordEvents } from '../events/index.ts';
import { discoveryView } from './rules.ts';

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

export function insertTestCall(db: Db, row: TestCallRow): Promise<void> {
  return changeAndRecord(db, async (trx) => {
    await trx.insertInto('test_calls').values(row).execute();
    return [ofTestCall(row, row.created_at)];
  });
}

/** @param now ISO */
export function setTestCall(db: Db, id: string, state: TestCallState, now: string): Promise<void> {
  return changeAndRecord(db, async (trx) => {
    const changed = await trx
      .updateTable('test_calls')
      .set({ state: toJson(state) })
      .where('id', '=', id)
      .returningAll()
      .execute();
    return changed.map((row) => ofTestCall(row, now));
  });
}

function ofTestCall({ id, org_id: orgId, state }: TestCallRow, at: string): Happening {
  const now = fromJson(state);
  const type = now.result === 'pending' ? 'test_call.updated' : 'test_call.ended';
  const subject = { test_call_id: id };
  return { orgId, type, at, subject, data: { test_call: { call_id: id, ...now } } };
}

function ofDiscovery(row: DiscoveryRow, at: string): Happening {
  const { completed_at, id, org_id: orgId } = row;
  const type = completed_at === null ? 'discovery.updated' : 'discovery.ended';
  const discovery = discoveryView(row, Date.parse(at));
  return { orgId, type, at, subject: { discovery_id: id }, data: { discovery } };
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
      .where('completed_at', 'is', null)
      .returningAll(),
);

const saveTestCall = builtOnce(
  (db, { id, state, updated_at }: Pick<TestCallRow, 'id' | 'state' | 'updated_at'>) =>
    db.updateTable('test_calls').set({ state, updated_at }).where('id', '=', id).returningAll(),
);

/** Stores a report of a discovery or a test call; a report without its row is dropped. */
export async function storeCheck(db: Db, body: CheckBody, now: string): Promise<void> {
  if (body.type === 'discovery') {
    const completed_at = body.result.status === 'running' ? null : now;
    const saved = await saveDiscovery(db, {
      id: body.discovery_id,
      result: toJson(body.result),
      completed_at,
    });
    return recordEvents(
      db,
      saved.map((row) => ofDiscovery(row, now)),
    );
  }
  const { type: _, test_call_id, ...state } = body;
  const saved = await saveTestCall(db, { id: test_call_id, state: toJson(state), updated_at: now });
  await recordEvents(
    db,
    saved.map((row) => ofTestCall(row, now)),
  );
}
