/** Agents that are not ours, as stored. */
import { ApiError } from '#shared/errors.ts';
import type { Db, TestAgentRow } from '../../db/index.ts';

/** Of one organization. */
export const mostAgents = 100;

export function findForeignAgent(db: Db, orgId: string, id: string): Promise<TestAgentRow | undefined> {
  return db
    .selectFrom('test_agents')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
}

/** @throws ApiError TEST_AGENT_NOT_FOUND */
export async function requireForeignAgent(db: Db, orgId: string, id: string): Promise<TestAgentRow> {
  const row = await findForeignAgent(db, orgId, id);
  if (!row) throw ApiError.of('TEST_AGENT_NOT_FOUND');
  return row;
}

export async function pageOfForeignAgents(
  db: Db,
  orgId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: TestAgentRow[]; total: number }> {
  const all = db.selectFrom('test_agents').where('org_id', '=', orgId);
  const { total } = await all.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await all
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total: Number(total) };
}

/** Call it in the transaction that writes. @throws ApiError QUOTA_EXCEEDED */
export async function agentRoom(db: Db, orgId: string): Promise<void> {
  const { count } = await db
    .selectFrom('test_agents')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow();
  if (Number(count) < mostAgents) return;
  throw ApiError.of(
    'QUOTA_EXCEEDED',
    { quota: 'test_agents', limit: mostAgents },
    `An organization has at most ${mostAgents} agents of others for tests: delete one.`,
  );
}

/** @throws ApiError TEST_AGENT_IN_USE. Call it in the transaction that deletes. */
export async function requireUnused(db: Db, id: string): Promise<void> {
  const scenarios = await db
    .selectFrom('test_scenarios')
    .select('id')
    .where('agent_id', '=', id)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(20)
    .execute();
  if (scenarios.length > 0)
    throw ApiError.of('TEST_AGENT_IN_USE', { scenario_ids: scenarios.map((row) => row.id) });
}
