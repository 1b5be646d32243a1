import { ApiError } from '#shared/errors.ts';
import type { Db, WidgetRow } from '../db/index.ts';
import { requirePathway, requireVersion, resolveVersion } from '../pathways/index.ts';
import { findPersona } from '../personas/index.ts';

/** What naming who is to answer can be refused with. */
export const agentErrors = ['PATHWAY_NOT_FOUND', 'PERSONA_NOT_FOUND', 'VERSION_NOT_FOUND'] as const;

/** Whether who is to answer is there. @throws ApiError PATHWAY_NOT_FOUND, VERSION_NOT_FOUND, PERSONA_NOT_FOUND */
export async function checkAgent(
  db: Db,
  widget: Pick<WidgetRow, 'org_id' | 'pathway_id' | 'pathway_version' | 'persona_id'>,
): Promise<void> {
  const { org_id, pathway_id, pathway_version, persona_id } = widget;
  if (persona_id !== null && !(await findPersona(db, org_id, persona_id))) {
    throw ApiError.of('PERSONA_NOT_FOUND');
  }
  if (pathway_id === null) return;
  const pathway = await requirePathway(db, org_id, pathway_id);
  const published = { production: pathway.production_version, staging: pathway.staging_version };
  const version = resolveVersion(pathway_version, published);
  if (version !== 0) await requireVersion(db, pathway_id, version);
}
