/** Forks: versions of the pathway that a session makes, and what becomes of them. The base is never altered. */

import { recordChange, systemActor } from '../../audit/index.ts';
import type { Altered } from '../../catalogue/index.ts';
import type { Db, TestTornadoSessionRow } from '../../db/index.ts';
import { isoTime } from '../../organizations/index.ts';
import {
  acceptGraph,
  contentHash,
  deleteVersion,
  findPathway,
  graphSource,
  insertVersion,
  numbersUsingVersion,
  requirePathway,
  setReferences,
  transferReferences,
  versionsReferredTo,
} from '../../pathways/index.ts';
import type { RawGraph } from '../analysis/edits.ts';
import type { TestingDeps } from '../common/deps.ts';

type Parts = Pick<TestingDeps, 'clock' | 'allowedTargets'>;

/** Whether a graph may be kept as a version. */
export function acceptable({ allowedTargets }: Parts, { nodes, edges }: RawGraph): boolean {
  try {
    acceptGraph([...nodes], [...edges], allowedTargets);
    return true;
  } catch {
    return false;
  }
}

/**
 * Keeps a graph as a new version, in the transaction of a change of the edges' configuration. Returns its number.
 * @throws ApiError PATHWAY_NOT_FOUND, INVALID_GRAPH, TARGET_NOT_ALLOWED
 */
export async function insertFork(
  parts: Parts,
  db: Db,
  altered: Altered,
  session: Pick<TestTornadoSessionRow, 'org_id' | 'pathway_id' | 'base_version' | 'current_iteration'>,
  { nodes, edges }: RawGraph,
): Promise<number> {
  const { org_id: orgId, pathway_id: pathwayId, base_version, current_iteration } = session;
  const { id } = await requirePathway(db, orgId, pathwayId);
  const graph = acceptGraph([...nodes], [...edges], parts.allowedTargets);
  const of = base_version === 0 ? 'the live graph' : `version ${base_version}`;
  const number = await insertVersion(db, id, {
    name: `Tornado: ${of}, fixed after iteration ${current_iteration}`,
    ...graph,
    content_hash: contentHash(graph),
    created_at: isoTime(parts.clock),
  });
  await setReferences(db, orgId, graphSource(id, number), transferReferences(graph), altered.pathways);
  const change = { orgId, area: 'pathways', subject: id, action: 'version_create' };
  await recordChange(db, parts.clock, systemActor, change);
  return number;
}

/** Deletes forks, in the same kind of transaction; those that somebody has come to use stay. */
export async function deleteForks(
  db: Db,
  altered: Altered,
  { org_id: orgId, pathway_id: pathwayId }: Pick<TestTornadoSessionRow, 'org_id' | 'pathway_id'>,
  versions: readonly number[],
): Promise<void> {
  const pathway = await findPathway(db, orgId, pathwayId);
  if (!pathway) return;
  const referred = new Set(await versionsReferredTo(db, pathwayId));
  for (const version of versions) {
    const published = pathway.production_version === version || pathway.staging_version === version;
    const answering = await numbersUsingVersion(db, pathwayId, version);
    if (published || answering.length > 0 || referred.has(String(version))) continue;
    await setReferences(db, orgId, graphSource(pathwayId, version), [], altered.pathways);
    await deleteVersion(db, pathwayId, version);
    altered.pathways.add(pathwayId);
  }
}
