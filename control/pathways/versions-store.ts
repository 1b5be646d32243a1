/** Stores and deletes versions of a pathway, for HTTP requests and test sessions alike. */
import { type Actor, recordChange } from '../audit/index.ts';
import type { Altered, Catalogue, NamedVersion } from '../catalogue/index.ts';
import type { Db, PathwayRow } from '../db/index.ts';
import { graphBytes, isoTime } from '../organizations/index.ts';
import type { PathwayDeps } from './deps.ts';
import { graphSource, graphsLeadingTo, setReferences } from './references-store.ts';
import { requirePathway } from './require-store.ts';
import { contentHash, type StoredGraph, transferReferences } from './rules.ts';
import { deleteVersion, insertVersion, numbersUsingVersion, updatePathway } from './store.ts';
import { alterLeading } from './transfers-store.ts';

interface NewVersion {
  readonly orgId: string;
  readonly pathwayId: string;
  readonly name: string;
  readonly graph: StoredGraph;
}

/**
 * Keeps an accepted graph as the next version of a pathway, in the transaction of a change.
 * @throws ApiError PATHWAY_NOT_FOUND, QUOTA_EXCEEDED
 */
export async function keepVersion(
  { clock, quotas }: Pick<PathwayDeps, 'clock' | 'quotas'>,
  db: Db,
  altered: Altered,
  by: Actor,
  { orgId, pathwayId, name, graph }: NewVersion,
): Promise<{ number: number; created_at: string }> {
  const { id } = await requirePathway(db, orgId, pathwayId);
  await quotas.versionRoom(db, id);
  await quotas.graphRoom(db, orgId, graphBytes(graph));
  const created_at = isoTime(clock);
  const number = await insertVersion(db, id, {
    name,
    ...graph,
    content_hash: contentHash(graph),
    created_at,
  });
  await setReferences(db, orgId, graphSource(id, number), transferReferences(graph), altered.pathways);
  await recordChange(db, clock, by, { orgId, area: 'pathways', subject: id, action: 'version_create' });
  return { number, created_at };
}

/**
 * Everybody who names a version by its number, by the name that they have in an error. Without it they would fail
 * later, when they begin to talk.
 */
export async function versionUsers(
  catalogue: Catalogue,
  db: Db,
  named: NamedVersion,
): Promise<{ ids: Readonly<Record<string, readonly string[]>>; count: number }> {
  const { pathwayId, version } = named;
  const phone_numbers = await numbersUsingVersion(db, pathwayId, version);
  const pathway_ids = await graphsLeadingTo(db, pathwayId, version);
  const others = await catalogue.usersOfVersion(db, named);
  const count = phone_numbers.length + pathway_ids.length + others.count;
  return { ids: { phone_numbers, pathway_ids, ...others.ids }, count };
}

/** Deletes a version that is not in production and that nobody names; it leaves staging. */
export async function dropVersion(
  db: Db,
  altered: Altered,
  pathway: Pick<PathwayRow, 'id' | 'org_id' | 'staging_version'>,
  version: number,
): Promise<void> {
  const { id, org_id, staging_version } = pathway;
  if (staging_version === version) {
    await updatePathway(db, id, { staging_version: null });
    await alterLeading(db, altered, id);
  }
  await setReferences(db, org_id, graphSource(id, version), [], altered.pathways);
  await deleteVersion(db, id, version);
  altered.pathways.add(id);
}
