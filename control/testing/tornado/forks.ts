/** Forks: versions of the pathway created by a session. The base is never changed. */

import { systemActor } from '../../audit/index.ts';
import type { Altered } from '../../catalogue/index.ts';
import type { Db, TestTornadoSessionRow } from '../../db/index.ts';
import { acceptGraph, dropVersion, findPathway, keepVersion, versionUsers } from '../../pathways/index.ts';
import type { RawGraph } from '../analysis/edits.ts';
import type { TestingDeps } from '../common/deps.ts';

/** Whether a graph may be kept as a version. */
export function acceptable(
  { allowedTargets }: Pick<TestingDeps, 'allowedTargets'>,
  { nodes, edges }: RawGraph,
): boolean {
  try {
    acceptGraph([...nodes], [...edges], allowedTargets);
    return true;
  } catch {
    return false;
  }
}

/**
 * Stores a graph as a new version, in the transaction of a change of the edges' configuration. Returns its number.
 * @throws ApiError PATHWAY_NOT_FOUND, INVALID_GRAPH, TARGET_NOT_ALLOWED
 */
export async function insertFork(
  parts: Pick<TestingDeps, 'clock' | 'quotas' | 'allowedTargets'>,
  db: Db,
  altered: Altered,
  session: Pick<TestTornadoSessionRow, 'org_id' | 'pathway_id' | 'base_version' | 'current_iteration'>,
  { nodes, edges }: RawGraph,
): Promise<number> {
  const { org_id: orgId, pathway_id: pathwayId, base_version, current_iteration } = session;
  const graph = acceptGraph([...nodes], [...edges], parts.allowedTargets);
  const of = base_version === 0 ? 'the live graph' : `version ${base_version}`;
  const name = `Tornado: ${of}, fixed after iteration ${current_iteration}`;
  const { number } = await keepVersion(parts, db, altered, systemActor, { orgId, pathwayId, name, graph });
  return number;
}

/** Deletes forks, in the same kind of transaction; those in use by others stay. */
export async function deleteForks(
  { catalogue }: Pick<TestingDeps, 'catalogue'>,
  db: Db,
  altered: Altered,
  { org_id: orgId, pathway_id: pathwayId }: Pick<TestTornadoSessionRow, 'org_id' | 'pathway_id'>,
  versions: readonly number[],
): Promise<void> {
  const pathway = await findPathway(db, orgId, pathwayId);
  if (!pathway) return;
  for (const version of versions) {
    if (pathway.production_version === version || pathway.staging_version === version) continue;
    const { count } = await versionUsers(catalogue, db, { orgId, pathwayId, version });
    if (count === 0) await dropVersion(db, altered, pathway, version);
  }
}
