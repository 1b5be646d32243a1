/** Tests that name a version of a pathway by its number and have not ended: they would fail when they begin. */
import { sql } from 'kysely';
import { mostNamedUsers, type NamedVersion } from '../../catalogue/index.ts';
import type { Db } from '../../db/index.ts';

type Parent = 'batch_id' | 'simulation_set_id' | 'tornado_session_id';

function openRuns(db: Db, { orgId, pathwayId, version }: NamedVersion) {
  const open = (['PENDING', 'RUNNING'] as const).map((status) => sql.lit<typeof status>(status));
  return (
    db
      .selectFrom('test_runs')
      // Written out, because a partial index is not used for a parameter.
      .where(sql<boolean>`status in (${sql.join(open)})`)
      .where('org_id', '=', orgId)
      .where('pathway_id', '=', pathwayId)
      .where('version_number', '=', version)
  );
}

async function parentsOf(db: Db, named: NamedVersion, parent: Parent): Promise<string[]> {
  const rows = await openRuns(db, named)
    .select(sql<string>`${sql.ref(parent)}`.as('id'))
    .distinct()
    .where(parent, 'is not', null)
    .limit(mostNamedUsers)
    .execute();
  return rows.map(({ id }) => id).sort();
}

/** Runs of their own. */
export async function runsOfVersion(db: Db, named: NamedVersion): Promise<string[]> {
  const rows = await openRuns(db, named)
    .select('id')
    .where('batch_id', 'is', null)
    .where('simulation_set_id', 'is', null)
    .orderBy('id')
    .limit(mostNamedUsers)
    .execute();
  return rows.map(({ id }) => id);
}

/** Those of sessions are named by their session. */
export const batchesOfVersion = async (db: Db, named: NamedVersion): Promise<string[]> => {
  const ofSessions = await openRuns(db, named)
    .select('batch_id')
    .distinct()
    .where('tornado_session_id', 'is not', null)
    .execute();
  const left = new Set(ofSessions.map(({ batch_id }) => batch_id));
  return (await parentsOf(db, named, 'batch_id')).filter((id) => !left.has(id));
};

export const setsOfVersion = (db: Db, named: NamedVersion): Promise<string[]> =>
  parentsOf(db, named, 'simulation_set_id');

/** Running sessions that have tested the version: it may turn out to be their best one. */
export async function sessionsOfVersion(
  db: Db,
  { orgId, pathwayId, version }: NamedVersion,
): Promise<string[]> {
  const rows = await db
    .selectFrom('test_tornado_sessions as session')
    .innerJoin('test_tornado_iterations as iteration', 'iteration.session_id', 'session.id')
    .select('session.id')
    .distinct()
    .where('session.org_id', '=', orgId)
    .where('session.pathway_id', '=', pathwayId)
    .where('session.status', '=', 'RUNNING')
    .where('iteration.version_number', '=', version)
    .limit(mostNamedUsers)
    .execute();
  return rows.map(({ id }) => id);
}
