/** Deletes the rows of elements that were removed, once every edge knows of the removal. */
import type { Clock } from '#shared/clock.ts';
import { type Db, deleteInBatches, mostDeletedAtOnce } from '../db/index.ts';
import { newestVersion } from './items.ts';

/**
 * How long a removal is kept at least, ms. An edge that connects has read the configuration some moments before its link is
 * stored, and gets the removals in between from these rows.
 */
const keptMs = 10 * 60_000;

/** The newest version at some moment, and that moment: removals up to it are deleted `keptMs` later. */
const marks = { version: 'edge_config_removed_until', at: 'edge_config_removed_at' } as const;

/**
 * Deletes a bounded number of them; those that an edge which is linked to some replica may not know of stay.
 * @returns how many
 */
export async function pruneRemoved(db: Db, clock: Clock): Promise<number> {
  const { version, at } = await readMark(db);
  if (at !== null && clock.now() - at < keptMs) return 0;
  const before = await newestVersion(db);
  const deleted = at === null ? 0 : await deleteInBatches((limit) => deleteSome(db, version, limit));
  // A full batch has others behind it, which the next round deletes.
  if (deleted < mostDeletedAtOnce) await writeMark(db, before, clock.now());
  return deleted;
}

function deleteSome(db: Db, upTo: number, limit: number) {
  return db
    .deleteFrom('edge_config_items')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('kind', 'key'),
        'in',
        selectFrom('edge_config_items as removed')
          .select(['removed.kind', 'removed.key'])
          .where('removed.content', 'is', null)
          .where('removed.version', '<=', upTo)
          .where((of) =>
            of.not(
              of.exists(
                of
                  .selectFrom('edges')
                  .select('edges.id')
                  .where('edges.replica_id', 'is not', null)
                  .whereRef('edges.applied_version', '<', 'removed.version'),
              ),
            ),
          )
          .orderBy('removed.version')
          .limit(limit)
          .$asTuple('kind', 'key'),
      ),
    )
    .executeTakeFirst();
}

async function readMark(db: Db): Promise<{ readonly version: number; readonly at: number | null }> {
  const rows = await db
    .selectFrom('counters')
    .selectAll()
    .where('name', 'in', Object.values(marks))
    .execute();
  const of = (name: string) => rows.find((row) => row.name === name)?.value;
  return { version: of(marks.version) ?? 0, at: of(marks.at) ?? null };
}

async function writeMark(db: Db, version: number, at: number): Promise<void> {
  await db
    .insertInto('counters')
    .values([
      { name: marks.version, value: version },
      { name: marks.at, value: at },
    ])
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })),
    )
    .execute();
}
