/** Creates, changes and deletes personas (contract 12). */
import type { PersonaCreate, PersonaUpdate } from '#shared/api/personas.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { type Actor, recordChange } from '../audit/index.ts';
import type { Altered } from '../catalogue/index.ts';
import { type Db, type PersonaRow, type PersonaVersionRow, toJson } from '../db/index.ts';
import { isoTime } from '../organizations/index.ts';
import { personaSource, setReferences } from '../pathways/index.ts';
import { dropPending } from '../promotion/index.ts';
import type { PersonaDeps } from './deps.ts';
import { checkReferences } from './references.ts';
import { changedContent, contentColumns, emptyContent, type PersonaContent, readContent } from './rules.ts';
import {
  findPersonaVersion,
  insertPersona,
  numbersOfPersona,
  requirePersona,
  updatePersona,
  updatePersonaVersion,
} from './store.ts';

/**
 * @param answer builds the response for the persona with this id, in the transaction that stores it
 * @throws ApiError PATHWAY_NOT_FOUND, TOOL_NOT_FOUND, INVALID_PARAMETER, QUOTA_EXCEEDED
 */
export function createPersona<T>(
  services: PersonaDeps,
  orgId: string,
  body: PersonaCreate,
  by: Actor,
  answer: (db: Db, id: string) => Promise<T>,
): Promise<T> {
  const now = isoTime(services.clock);
  const content = changedContent(emptyContent, body);
  const id = newId();
  const version = (type: PersonaVersionRow['version_type'], number: number): PersonaVersionRow => ({
    id: newId(),
    persona_id: id,
    version_type: type,
    version_number: number,
    ...contentColumns(content),
    promoted_from_version_id: null,
    promoted_at: type === 'production' ? now : null,
    created_at: now,
    updated_at: now,
  });
  const production = version('production', 1);
  const draft = version('draft', 2);
  const persona: PersonaRow = {
    id,
    org_id: orgId,
    name: body.name,
    role: body.role ?? null,
    description: body.description ?? null,
    tags: toJson(body.tags ?? []),
    production_version_id: production.id,
    draft_version_id: draft.id,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  };
  return services.catalogue.change(async (db, altered) => {
    await services.quotas.room(db, 'personas', orgId);
    await checkReferences(db, orgId, content);
    await insertPersona(db, persona, [production, draft]);
    await setReferences(db, orgId, personaSource(id), referencesOf(content), altered.pathways);
    await record(services, db, by, persona, 'create');
    return answer(db, id);
  });
}

function referencesOf(content: PersonaContent) {
  return content.pathway_conditions.map(({ pathway_id, pathway_version }) => ({
    pathwayId: pathway_id,
    version: pathway_version,
  }));
}

/** Name, role, description and tags take effect at once; everything else goes to the draft. */
export function alterPersona(
  services: PersonaDeps,
  orgId: string,
  id: string,
  body: PersonaUpdate,
  by: Actor,
): Promise<void> {
  const now = isoTime(services.clock);
  return services.catalogue.change(async (db, altered) => {
    const persona = await requirePersona(db, orgId, id);
    const draft = await findPersonaVersion(db, persona.draft_version_id);
    const before = readContent(draft);
    const content = changedContent(before, body);
    if (body.pathway_conditions !== undefined || body.default_tools !== undefined) {
      await checkReferences(db, orgId, content);
    }
    const { content_hash, ...columns } = contentColumns(content);
    if (content_hash !== draft.content_hash) {
      await updatePersonaVersion(db, draft.id, { ...columns, content_hash, updated_at: now });
    }
    if (Object.keys(body).length === 0) return;
    const { name, role, description, tags } = body;
    await updatePersona(db, id, {
      ...(name !== undefined && { name }),
      ...(role !== undefined && { role }),
      ...(description !== undefined && { description }),
      ...(tags !== undefined && { tags: toJson(tags ?? []) }),
      updated_at: now,
    });
    await record(services, db, by, persona, 'update', Object.keys(body).sort());
    // Name and role are part of the edges' configuration.
    if (name !== undefined || role !== undefined) await markNumbersAltered(db, altered, id);
  });
}

async function markNumbersAltered(db: Db, altered: Altered, personaId: string): Promise<void> {
  for (const number of await numbersOfPersona(db, personaId)) altered.numbers.add(number);
}

/** @throws ApiError PERSONA_NOT_FOUND, PERSONA_IN_USE */
export async function removePersona(
  services: PersonaDeps,
  orgId: string,
  id: string,
  by: Actor,
): Promise<void> {
  await services.catalogue.change(async (db, altered) => {
    const persona = await requirePersona(db, orgId, id);
    const phone_numbers = await numbersOfPersona(db, id);
    const others = await services.catalogue.usersOf(db, { kind: 'persona', id });
    if (phone_numbers.length + others.count > 0) {
      throw ApiError.of('PERSONA_IN_USE', { phone_numbers, ...others.ids });
    }
    await setReferences(db, orgId, personaSource(id), [], altered.pathways);
    const now = isoTime(services.clock);
    await dropPending(db, 'persona', id);
    await updatePersona(db, id, { deleted_at: now });
    await record(services, db, by, persona, 'delete');
    await services.catalogue.removed(db, altered, { kind: 'persona', id }, now);
  });
}

function record(
  { clock }: PersonaDeps,
  db: Db,
  by: Actor,
  { id: subject, org_id: orgId }: PersonaRow,
  action: string,
  fields: string[] = [],
): Promise<void> {
  return recordChange(db, clock, by, { orgId, area: 'personas', subject, action, fields });
}
