/** POST /v1/pathway/{id}/publish: through the gate, or queued for it (contract 11.4 and 6.11). */
import type { Publish } from '#shared/api/pathways.ts';
import { ApiError } from '#shared/errors.ts';
import { type Actor, recordChange } from '../audit/index.ts';
import type { PathwayVersionRow } from '../db/index.ts';
import { isoTime } from '../organizations/index.ts';
import { insertPending } from '../promotion/index.ts';
import type { PathwayDeps } from './deps.ts';
import { type Environment, publishVersion, versionIn } from './publish-store.ts';
import { requirePathway, requireVersion } from './require-store.ts';

/** Null: published. Otherwise the batch that decides. */
export type Published = { readonly batchId: string } | null;

/** @throws ApiError PATHWAY_NOT_FOUND, VERSION_NOT_FOUND, PROMOTION_BLOCKED */
export async function publish(
  services: PathwayDeps,
  orgId: string,
  pathwayId: string,
  body: Publish,
  by: Actor,
): Promise<Published> {
  const { version_id, environment = 'production', publish_on_pass = false } = body;
  const { db } = services.database;
  const pathway = await requirePathway(db, orgId, pathwayId);
  const version = await requireVersion(db, pathwayId, version_id);
  if (versionIn(pathway, environment) === version_id) return null;
  if (environment === 'production') {
    const verdict = await services.promotionGates.judge({
      orgId,
      subject: { kind: 'pathway', pathwayId, version: version_id },
      contentHash: version.content_hash,
      startBatch: true,
    });
    if (!verdict.passed) {
      const { batchId, scenarios } = verdict;
      if (!publish_on_pass || batchId === null) {
        const what = { pathway_id: pathwayId, version_id, environment };
        throw ApiError.of('PROMOTION_BLOCKED', { ...what, batch_id: batchId, scenarios });
      }
      await insertPending(db, {
        batch_id: batchId,
        org_id: orgId,
        kind: 'pathway',
        subject_id: pathwayId,
        version: String(version_id),
        content_hash: version.content_hash,
        in_production: String(pathway.publications),
        created_at: isoTime(services.clock),
      });
      await services.promotionGates.awaited(batchId);
      return { batchId };
    }
  }
  const done = await publishJudged(services, by, orgId, version, environment);
  // Changed while it was checked: check the current content.
  return done ? null : publish(services, orgId, pathwayId, body, by);
}

/** @returns false when the version's content is no longer what was checked */
function publishJudged(
  services: PathwayDeps,
  by: Actor,
  orgId: string,
  judged: PathwayVersionRow,
  environment: Environment,
): Promise<boolean> {
  const { pathway_id: id, version_number, content_hash } = judged;
  return services.catalogue.change(async (db, altered) => {
    const pathway = await requirePathway(db, orgId, id);
    const version = await requireVersion(db, id, version_number);
    if (version.content_hash !== content_hash) return false;
    await publishVersion(db, altered, pathway, version_number, environment);
    const fields = [`${environment}_version`];
    await recordChange(db, services.clock, by, {
      orgId,
      area: 'pathways',
      subject: id,
      action: 'publish',
      fields,
    });
    return true;
  });
}
