/** Completes publications that waited for a batch of test runs (contract 6.11). */

import { recordChange, systemActor } from '../../audit/index.ts';
import type { PendingPromotionRow } from '../../db/index.ts';
import { findPathway, findVersion, publishVersion } from '../../pathways/index.ts';
import { findPersona, findPersonaVersion, promoteDraft } from '../../personas/index.ts';
import { listPending, type PromotionSubject, takePending } from '../../promotion/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { markPublished } from './store.ts';

/** The result of one publication. */
export interface Settled {
  readonly orgId: string;
  readonly subject: PromotionSubject;
  readonly published: boolean;
}

/**
 * Call when a batch has ended, with any result; a second call changes nothing. What waited for it is published when the
 * gate is open, unless it was changed or something else was published meanwhile.
 */
export async function settlePromotions(services: TestingDeps, batchId: string): Promise<Settled[]> {
  const settled: Settled[] = [];
  for (const pending of await listPending(services.database.db, batchId)) {
    const subject = subjectOf(pending);
    const { org_id: orgId, content_hash: contentHash } = pending;
    const { passed } = await services.promotionGates.judge({
      orgId,
      subject,
      contentHash,
      startBatch: false,
    });
    settled.push({ orgId, subject, published: await settle(services, pending, passed) });
  }
  return settled;
}

function subjectOf({ kind, subject_id, version }: PendingPromotionRow): PromotionSubject {
  return kind === 'pathway'
    ? { kind, pathwayId: subject_id, version: Number(version) }
    : { kind, personaId: subject_id, versionId: version };
}

function settle(services: TestingDeps, pending: PendingPromotionRow, passed: boolean): Promise<boolean> {
  const { kind, org_id, subject_id, content_hash, in_production } = pending;
  return services.catalogue.change(async (db, altered) => {
    if (!(await takePending(db, pending)) || !passed) return false;
    if (kind === 'pathway') {
      const number = Number(pending.version);
      const pathway = await findPathway(db, org_id, subject_id);
      const version = await findVersion(db, subject_id, number);
      if (!pathway || version?.content_hash !== content_hash) return false;
      if (String(pathway.publications) !== in_production) return false;
      await publishVersion(db, altered, pathway, number, 'production');
      await recordChange(db, services.clock, systemActor, {
        orgId: org_id,
        area: 'pathways',
        subject: subject_id,
        action: 'publish',
        fields: ['production_version'],
      });
      await markPublished(db, pending.batch_id);
      return true;
    }
    const persona = await findPersona(db, org_id, subject_id);
    if (!persona || persona.draft_version_id !== pending.version) return false;
    const draft = await findPersonaVersion(db, persona.draft_version_id);
    if (draft.content_hash !== content_hash || persona.production_version_id !== in_production) return false;
    await promoteDraft(db, altered, persona, services.clock);
    const change = { orgId: org_id, area: 'personas', subject: subject_id, action: 'promote' };
    await recordChange(db, services.clock, systemActor, change);
    await markPublished(db, pending.batch_id);
    return true;
  });
}
