/** Results of runs: kept for a time, without request or response data. */
import { type Db, deleteInBatches, type ToolRunRow } from '../db/index.ts';
import { countRows } from '../http/index.ts';

export async function insertRun(db: Db, row: ToolRunRow): Promise<void> {
  await db.insertInto('tool_runs').values(row).execute();
}

/** One page, newest first. */
export async function listRuns(
  db: Db,
  toolId: string,
  page: number,
  limit: number,
): Promise<{ readonly rows: ToolRunRow[]; readonly total: number }> {
  const all = db.selectFrom('tool_runs').selectAll().where('tool_id', '=', toolId);
  const rows = await all
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset((page - 1) * limit)
    .execute();
  return { rows, total: await countRows(all) };
}

/** Deletes runs that began before a time. Returns how many. */
export function deleteRunsBefore(db: Db, time: string): Promise<number> {
  return deleteInBatches((limit) => {
    const old = db.selectFrom('tool_runs').select('id').where('started_at', '<', time).limit(limit);
    return db.deleteFrom('tool_runs').where('id', 'in', old).executeTakeFirst();
  });
}
