/** Promotes a draft to production, in the transaction of a change of the edges' configuration (contract 12). */
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import type { Altered } from '../catalogue/index.ts';
import type { Db, PersonaRow } from '../db/index.ts';
import { isoTime } from '../organizations/index.ts';
import { personaSource, setReferences } from '../pathways/index.ts';
import { readContent } from './rules.ts';
import {
  deleteOldVersions,
  findPersonaVersion,
  numbersOfPersona,
  updatePersona,
  updatePersonaVersion,
} from './store.ts';

/** Most versions of a persona, including draft and production; each may have 200 KB. */
const mostVersions = 200;

/** The draft becomes the production version and keeps its id and number; a new draft with the same content follows. */
export async function promoteDraft(
  db: Db,
  altered: Altered,
  persona: PersonaRow,
  clock: Clock,
): Promise<void> {
  const now = isoTime(clock);
  const draft = await findPersonaVersion(db, persona.draft_version_id);
  await updatePersonaVersion(db, draft.id, {
    version_type: 'production',
    promoted_from_version_id: draft.id,
    promoted_at: now,
    updated_at: now,
  });
  const next = {
    ...draft,
    id: newId(),
    version_number: draft.version_number + 1,
    created_at: now,
    updated_at: now,
  };
  await db.insertInto('persona_versions').values(next).execute();
  await deleteOldVersions(db, persona.id, next.version_number - mostVersions);
  await updatePersona(db, persona.id, {
    production_version_id: draft.id,
    draft_version_id: next.id,
    updated_at: now,
  });
  const references = readContent(draft).pathway_conditions.map(({ pathway_id, pathway_version }) => ({
    pathwayId: pathway_id,
    version: pathway_version,
  }));
  await setReferences(db, persona.org_id, personaSource(persona.id), references, altered.pathways);
  for (const number of await numbersOfPersona(db, persona.id)) altered.numbers.add(number);
}
