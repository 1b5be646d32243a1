/** Pathways and their versions. */
import { sql } from 'kysely';
import type { Db, PathwayRow, PathwayVersionRow } from '../db/index.ts';
import { countRows } from '../http/index.ts';
import type { StoredGraph } from './rules.ts';

export function findPathway(db: Db, orgId: string, id: string): Promise<PathwayRow | undefined> {
  return db
    .selectFrom('pathways')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
}

/** The ids of one page, newest first, and the total. */
export async function pageOfPathways(
  db: Db,
  orgId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ ids: string[]; total: number }> {
  const all = db.selectFrom('pathways').where('org_id', '=', orgId);
  const { total } = await all.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await all
    .select('id')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { ids: rows.map(({ id }) => id), total };
}

/** A pathway of a list; its graph is omitted when it has more than `most` bytes. */
export async function listedPathway(
  db: Db,
  orgId: string,
  id: string,
  most: number,
): Promise<{ row: PathwayRow; cut: readonly string[] } | undefined> {
  const size = await db
    .selectFrom('pathways')
    .select(sql<number>`octet_length(nodes) + octet_length(edges)`.as('bytes'))
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  if (!size) return undefined;
  const isLarge = size.bytes > most;
  const graph = (column: 'nodes' | 'edges') =>
    isLarge
      ? sql<PathwayRow['nodes']>`'[]'`.as(column)
      : sql<PathwayRow['nodes']>`${sql.ref(column)}`.as(column);
  const row = await db
    .selectFrom('pathways')
    .select([...lineColumns, graph('nodes'), graph('edges')])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return { row, cut: isLarge ? ['edges', 'nodes'] : [] };
}

/** Pathways of a list without their graphs, by id. @param ids those of {@link pageOfPathways} */
export async function pathwayLines(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { row: PathwayRow; cut: readonly string[] }>> {
  if (ids.length === 0) return new Map();
  const none = (column: 'nodes' | 'edges') => sql<PathwayRow['nodes']>`'[]'`.as(column);
  const rows = await db
    .selectFrom('pathways')
    .select([...lineColumns, none('nodes'), none('edges')])
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.id, { row, cut: ['edges', 'nodes'] }]));
}

const lineColumns = [
  'id',
  'org_id',
  'name',
  'description',
  'last_version',
  'production_version',
  'staging_version',
  'publications',
  'created_at',
  'updated_at',
] as const;

export interface NewPathway extends StoredGraph {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly description: string | null;
  readonly now: string;
}

export async function insertPathway(db: Db, pathway: NewPathway): Promise<void> {
  const { id, orgId, name, description, nodes, edges, now } = pathway;
  await db
    .insertInto('pathways')
    .values({
      id,
      org_id: orgId,
      name,
      description,
      nodes,
      edges,
      last_version: 0,
      production_version: null,
      staging_version: null,
      publications: 0,
      created_at: now,
      updated_at: now,
    })
    .execute();
}

export async function updatePathway(
  db: Db,
  id: string,
  change: Partial<Omit<PathwayRow, 'id' | 'org_id' | 'last_version' | 'created_at'>>,
): Promise<void> {
  await db.updateTable('pathways').set(change).where('id', '=', id).execute();
}

export async function deletePathway(db: Db, id: string): Promise<void> {
  await db.deleteFrom('pathways').where('id', '=', id).execute();
}

/** Numbers that use a pathway, without archived ones. */
export async function numbersUsing(db: Db, pathwayId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('numbers')
    .select('number')
    .where('pathway_id', '=', pathwayId)
    .where('archived_at', 'is', null)
    .orderBy('number')
    .execute();
  return rows.map((row) => row.number);
}

export type VersionLine = Omit<PathwayVersionRow, 'nodes' | 'edges'>;

/** One page, newest first, without their graphs. */
export async function pageOfVersions(
  db: Db,
  pathwayId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly versions: VersionLine[]; readonly total: number }> {
  const all = db
    .selectFrom('pathway_versions')
    .select(['pathway_id', 'version_number', 'name', 'created_at', 'content_hash'])
    .where('pathway_id', '=', pathwayId);
  const versions = await all
    .orderBy('version_number', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { versions, total: await countRows(all) };
}

export function findVersion(
  db: Db,
  pathwayId: string,
  version: number,
): Promise<PathwayVersionRow | undefined> {
  return db
    .selectFrom('pathway_versions')
    .selectAll()
    .where('pathway_id', '=', pathwayId)
    .where('version_number', '=', version)
    .executeTakeFirst();
}

/** Stores a snapshot under the pathway's next number. Call it in a transaction. Returns the number. */
export async function insertVersion(
  db: Db,
  pathwayId: string,
  snapshot: Omit<PathwayVersionRow, 'pathway_id' | 'version_number'>,
): Promise<number> {
  const { last_version } = await db
    .updateTable('pathways')
    .set((eb) => ({ last_version: eb('last_version', '+', 1) }))
    .where('id', '=', pathwayId)
    .returning('last_version')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('pathway_versions')
    .values({ ...snapshot, pathway_id: pathwayId, version_number: last_version })
    .execute();
  return last_version;
}

/** Replaces the graph of a version. */
export async function updateVersion(
  db: Db,
  pathwayId: string,
  version: number,
  change: Pick<PathwayVersionRow, 'name' | 'nodes' | 'edges' | 'content_hash'>,
): Promise<void> {
  await db
    .updateTable('pathway_versions')
    .set(change)
    .where('pathway_id', '=', pathwayId)
    .where('version_number', '=', version)
    .execute();
}

export async function deleteVersion(db: Db, pathwayId: string, version: number): Promise<void> {
  await db
    .deleteFrom('pathway_versions')
    .where('pathway_id', '=', pathwayId)
    .where('version_number', '=', version)
    .execute();
}

/** The highest number of an existing version; 0 if there is none. */
export async function latestVersion(db: Db, pathwayId: string): Promise<number> {
  const row = await db
    .selectFrom('pathway_versions')
    .select('version_number')
    .where('pathway_id', '=', pathwayId)
    .orderBy('version_number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.version_number ?? 0;
}

/** Numbers that use a version of a pathway by its number, without archived ones. */
export async function numbersUsingVersion(db: Db, pathwayId: string, version: number): Promise<string[]> {
  const rows = await db
    .selectFrom('numbers')
    .select('number')
    .where('pathway_id', '=', pathwayId)
    .where('pathway_version', '=', String(version))
    .where('archived_at', 'is', null)
    .orderBy('number')
    .execute();
  return rows.map((row) => row.number);
}
