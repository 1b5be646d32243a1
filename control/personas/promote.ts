/** POST /v1/personas/{id}/versions/promote: through the gate of 6.11. */
import { ApiError } from '#shared/errors.ts';
import { type Actor, recordChange } from '../audit/index.ts';
import type { PersonaRow } from '../db/index.ts';
import { isoTime } from '../organizations/index.ts';
import { insertPending } from '../promotion/index.ts';
import type { PersonaDeps } from './deps.ts';
import { promoteDraft } from './promote-store.ts';
import { findPersonaVersion, requirePersona } from './store.ts';

/**
 * @returns null when the draft is in production now, else the batch that decides
 * @throws ApiError PERSONA_NOT_FOUND, PROMOTION_BLOCKED
 */
export async function promote(
  services: PersonaDeps,
  orgId: string,
  id: string,
  publishOnPass: boolean,
  by: Actor,
): Promise<{ readonly batchId: string } | null> {
  const { db } = services.database;
  const persona = await requirePersona(db, orgId, id);
  const draft = await findPersonaVersion(db, persona.draft_version_id);
  const verdict = await services.promotionGates.judge({
    orgId,
    subject: { kind: 'persona', personaId: id, versionId: draft.id },
    contentHash: draft.content_hash,
    startBatch: true,
  });
  if (!verdict.passed) {
    const { batchId, scenarios } = verdict;
    if (!publishOnPass || batchId === null) {
      const what = { persona_id: id, version_id: draft.id, environment: 'production' };
      throw ApiError.of('PROMOTION_BLOCKED', { ...what, batch_id: batchId, scenarios });
    }
    await insertPending(db, {
      batch_id: batchId,
      org_id: orgId,
      kind: 'persona',
      subject_id: id,
      version: draft.id,
      content_hash: draft.content_hash,
      in_production: persona.production_version_id,
      created_at: isoTime(services.clock),
    });
    await services.promotionGates.awaited(batchId);
    return { batchId };
  }
  const done = await promoteJudged(services, by, persona, draft.content_hash);
  // Changed while it was checked: check the current content.
  return done ? null : promote(services, orgId, id, publishOnPass, by);
}

/** @returns false when the draft's content is no longer what was checked */
function promoteJudged(services: PersonaDeps, by: Actor, judged: PersonaRow, hash: string): Promise<boolean> {
  return services.catalogue.change(async (db, altered) => {
    const persona = await requirePersona(db, judged.org_id, judged.id);
    const draft = await findPersonaVersion(db, persona.draft_version_id);
    if (draft.id !== judged.draft_version_id || draft.content_hash !== hash) return false;
    await promoteDraft(db, altered, persona, services.clock);
    const { id: subject, org_id: orgId } = persona;
    await recordChange(db, services.clock, by, { orgId, area: 'personas', subject, action: 'promote' });
    return true;
  });
}
