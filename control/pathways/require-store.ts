/** Looks up the pathways and versions of a request, or throws. */
import { ApiError } from '#shared/errors.ts';
import type { Db, PathwayRow, PathwayVersionRow } from '../db/index.ts';
import { findPathway, findVersion } from './store.ts';

/** Ids are compared as text, so a malformed one is simply not found (contract 1.4). @throws ApiError */
export async function requirePathway(db: Db, orgId: string, id: string): Promise<PathwayRow> {
  const row = await findPathway(db, orgId, id);
  if (!row) throw ApiError.of('PATHWAY_NOT_FOUND');
  return row;
}

/** @param version null: none in the path @throws ApiError VERSION_NOT_FOUND */
export async function requireVersion(
  db: Db,
  pathwayId: string,
  version: number | null,
): Promise<PathwayVersionRow> {
  const row = version === null ? undefined : await findVersion(db, pathwayId, version);
  if (!row) throw ApiError.of('VERSION_NOT_FOUND');
  return row;
}
