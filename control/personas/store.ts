/** Persona rows and their versions. Deleted personas are kept, but not found. */
import { sql } from 'kysely';
import type { PathwayCondition } from '#shared/api/personas.ts';
import { ApiError } from '#shared/errors.ts';
import type { NamedVersion } from '../catalogue/index.ts';
import { type Db, fromJson, type PersonaRow, type PersonaVersionRow } from '../db/index.ts';
import { countRows, type NewestPage, newestPage } from '../http/index.ts';
import { readSettings } from '../numbers/index.ts';
import type { WholePersona } from './rules.ts';

export function findPersona(db: Db, orgId: string, id: string): Promise<PersonaRow | undefined> {
  return db
    .selectFrom('personas')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** @throws ApiError PERSONA_NOT_FOUND */
export async function requirePersona(db: Db, orgId: string, id: string): Promise<PersonaRow> {
  const row = await findPersona(db, orgId, id);
  if (!row) throw ApiError.of('PERSONA_NOT_FOUND');
  return row;
}

export function findPersonaVersion(db: Db, id: string): Promise<PersonaVersionRow> {
  return db.selectFrom('persona_versions').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

export function findPersonaVersionByNumber(
  db: Db,
  personaId: string,
  number: number,
): Promise<PersonaVersionRow | undefined> {
  return db
    .selectFrom('persona_versions')
    .selectAll()
    .where('persona_id', '=', personaId)
    .where('version_number', '=', number)
    .executeTakeFirst();
}

/** The ids of one page, newest first. */
export async function pageOfPersonaVersions(
  db: Db,
  personaId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly ids: string[]; readonly total: number }> {
  const all = db.selectFrom('persona_versions').select('id').where('persona_id', '=', personaId);
  const rows = await all.orderBy('version_number', 'desc').limit(page.limit).offset(page.offset).execute();
  return { ids: rows.map(({ id }) => id), total: await countRows(all) };
}

/** Personas whose production or draft has a condition that references a pathway. */
export async function personasUsingPathway(db: Db, pathwayId: string): Promise<string[]> {
  const rows = await leadingTo(db, pathwayId).execute();
  return rows.map(({ id }) => id);
}

/** Those of them with a condition that names a version by its number. */
export async function personasUsingVersion(db: Db, { pathwayId, version }: NamedVersion): Promise<string[]> {
  const rows = await leadingTo(db, pathwayId).select('persona_versions.pathway_conditions').execute();
  const naming = rows.filter(({ pathway_conditions }) =>
    fromJson<PathwayCondition[]>(pathway_conditions).some(
      (condition) =>
        condition.pathway_id === pathwayId && String(condition.pathway_version) === String(version),
    ),
  );
  return [...new Set(naming.map(({ id }) => id))];
}

function leadingTo(db: Db, pathwayId: string) {
  return (
    db
      .selectFrom('pathways')
      .innerJoin('personas', 'personas.org_id', 'pathways.org_id')
      .innerJoin('persona_versions', (join) =>
        join.on((eb) =>
          eb.or([
            eb('persona_versions.id', '=', eb.ref('personas.production_version_id')),
            eb('persona_versions.id', '=', eb.ref('personas.draft_version_id')),
          ]),
        ),
      )
      .select('personas.id')
      .distinct()
      .where('pathways.id', '=', pathwayId)
      .where('personas.deleted_at', 'is', null)
      // Ids hold no character that JSON escapes or LIKE takes for another.
      .where(sql<boolean>`persona_versions.pathway_conditions like ${`%"pathway_id":"${pathwayId}"%`}`)
      .orderBy('personas.id')
  );
}

/** One page, newest first. @param page from 1 */
export function pageOfPersonas(
  db: Db,
  orgId: string,
  page: number,
  limit: number,
): Promise<NewestPage<PersonaRow>> {
  const all = db
    .selectFrom('personas')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null);
  return newestPage(all, { limit, offset: (page - 1) * limit });
}

/** Personas with their two current versions and their numbers, in the same order. */
export async function withVersions(db: Db, rows: readonly PersonaRow[]): Promise<WholePersona[]> {
  if (rows.length === 0) return [];
  const versions = await db
    .selectFrom('persona_versions')
    .selectAll()
    .where(
      'id',
      'in',
      rows.flatMap((row) => [row.production_version_id, row.draft_version_id]),
    )
    .execute();
  const byId = new Map(versions.map((version) => [version.id, version]));
  const numbers = await db
    .selectFrom('numbers')
    .select(['number', 'persona_id', 'settings'])
    .where(
      'persona_id',
      'in',
      rows.map((row) => row.id),
    )
    .where('archived_at', 'is', null)
    .orderBy('number')
    .execute();
  return rows.flatMap((row) => {
    const production = byId.get(row.production_version_id);
    const draft = byId.get(row.draft_version_id);
    if (!production || !draft) throw new Error(`persona ${row.id} lacks one of its versions`);
    const own = numbers
      .filter((number) => number.persona_id === row.id)
      .map(({ number, settings }) => ({ number, label: readSettings(settings).label ?? null }));
    return [{ row, production, draft, numbers: own }];
  });
}

export async function insertPersona(
  db: Db,
  persona: PersonaRow,
  versions: readonly PersonaVersionRow[],
): Promise<void> {
  await db.insertInto('personas').values(persona).execute();
  await db
    .insertInto('persona_versions')
    .values([...versions])
    .execute();
}

export async function updatePersona(
  db: Db,
  id: string,
  change: Partial<Omit<PersonaRow, 'id' | 'org_id' | 'created_at'>>,
): Promise<void> {
  await db.updateTable('personas').set(change).where('id', '=', id).execute();
}

export async function updatePersonaVersion(
  db: Db,
  id: string,
  change: Partial<Omit<PersonaVersionRow, 'id' | 'persona_id'>>,
): Promise<void> {
  await db.updateTable('persona_versions').set(change).where('id', '=', id).execute();
}

/** Deletes the versions of a persona up to a number. */
export async function deleteOldVersions(db: Db, personaId: string, upTo: number): Promise<void> {
  await db
    .deleteFrom('persona_versions')
    .where('persona_id', '=', personaId)
    .where('version_number', '<=', upTo)
    .execute();
}

/** Numbers that a persona answers, without archived ones. */
export async function numbersOfPersona(db: Db, personaId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('numbers')
    .select('number')
    .where('persona_id', '=', personaId)
    .where('archived_at', 'is', null)
    .orderBy('number')
    .execute();
  return rows.map(({ number }) => number);
}
