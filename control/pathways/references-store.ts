/**
 * References to pathways, except those of numbers: Transfer Pathway nodes, and the conditions of personas in
 * production. Edges get every referenced version.
 */
import type { Db } from '../db/index.ts';

export interface PathwayReference {
  readonly pathwayId: string;
  /** An integer, `production` or `staging`, as text; null: production. */
  readonly version: string | null;
}

export const graphSource = (pathwayId: string, version: number) => `pathway:${pathwayId}@${version}`;
export const personaSource = (personaId: string) => `persona:${personaId}`;

/**
 * Replaces the references of `source`; pathways of other organizations are left out. Adds the previous and new pathways
 * to `altered`.
 */
export async function setReferences(
  db: Db,
  orgId: string,
  source: string,
  references: readonly PathwayReference[],
  altered: Set<string>,
): Promise<void> {
  const before = await db
    .deleteFrom('pathway_references')
    .where('source', '=', source)
    .returning('pathway_id')
    .execute();
  for (const { pathway_id } of before) altered.add(pathway_id);
  if (references.length === 0) return;
  const ids = [...new Set(references.map(({ pathwayId }) => pathwayId))];
  const own = await db
    .selectFrom('pathways')
    .select('id')
    .where('org_id', '=', orgId)
    .where('id', 'in', ids)
    .execute();
  const known = new Set(own.map(({ id }) => id));
  for (const { pathwayId, version } of references) {
    if (!known.has(pathwayId)) continue;
    altered.add(pathwayId);
    await db.insertInto('pathway_references').values({ source, pathway_id: pathwayId, version }).execute();
  }
}

/** Deletes a pathway's references: those of its graphs, and those to it. */
export async function dropReferences(db: Db, pathwayId: string, altered: Set<string>): Promise<void> {
  const left = await db
    .deleteFrom('pathway_references')
    .where('source', '>=', `pathway:${pathwayId}@`)
    .where('source', '<', `pathway:${pathwayId}A`)
    .returning('pathway_id')
    .execute();
  for (const { pathway_id } of left) altered.add(pathway_id);
  await db.deleteFrom('pathway_references').where('pathway_id', '=', pathwayId).execute();
}

/** The referenced versions of a pathway, as the references name them. */
export async function versionsReferredTo(db: Db, pathwayId: string): Promise<(string | null)[]> {
  const rows = await db
    .selectFrom('pathway_references')
    .select('version')
    .distinct()
    .where('pathway_id', '=', pathwayId)
    .execute();
  return rows.map(({ version }) => version);
}

/**
 * Pathways with a graph, live or a version, that leads to this one.
 * @param version only graphs that name this version, other than the version itself
 */
export async function graphsLeadingTo(db: Db, pathwayId: string, version?: number): Promise<string[]> {
  let query = db
    .selectFrom('pathway_references')
    .select('source')
    .distinct()
    .where('pathway_id', '=', pathwayId);
  if (version !== undefined) {
    query = query
      .where('version', '=', String(version))
      .where('source', '!=', graphSource(pathwayId, version));
  }
  const ids = (await query.execute()).flatMap(
    ({ source }) => /^pathway:(.*)@[0-9]+$/.exec(source)?.[1] ?? [],
  );
  return [...new Set(ids)].sort();
}

/** Numbers whose agent depends on what of a pathway is published: its own, and those of personas that lead to it. */
export async function numbersLeadingTo(db: Db, pathwayId: string): Promise<string[]> {
  const direct = await db
    .selectFrom('numbers')
    .select('number')
    .where('pathway_id', '=', pathwayId)
    .where('archived_at', 'is', null)
    .execute();
  const sources = await db
    .selectFrom('pathway_references')
    .select('source')
    .distinct()
    .where('pathway_id', '=', pathwayId)
    .execute();
  const prefix = personaSource('');
  const personas = sources.flatMap(({ source }) =>
    source.startsWith(prefix) ? [source.slice(prefix.length)] : [],
  );
  if (personas.length === 0) return direct.map(({ number }) => number);
  const led = await db
    .selectFrom('numbers')
    .select('number')
    .where('persona_id', 'in', personas)
    .where('archived_at', 'is', null)
    .execute();
  return [...direct, ...led].map(({ number }) => number);
}
