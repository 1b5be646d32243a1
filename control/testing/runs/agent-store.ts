/** Resolves the tested version of a pathway or persona, and its agent. */

import { ApiError } from '#shared/errors.ts';
import { pathwayTextAgent, personaTextAgent, type TextAgent } from '../../conversations/index.ts';
import type { Db } from '../../db/index.ts';
import { contentHash, findPathway, findVersion } from '../../pathways/index.ts';
import { findPersonaVersion, findPersonaVersionByNumber, requirePersona } from '../../personas/index.ts';
import { foreignHash, isSpoken, settingsOf } from '../foreign/rules.ts';
import { requireForeignAgent } from '../foreign/store.ts';
import type { AnySubject, Subject } from '../scenarios/rules.ts';

/** A version, and the hash of its current content. */
export interface TestedVersion {
  readonly number: number;
  readonly contentHash: string;
  /** An agent of others that is reached over a call. */
  readonly spoken?: true;
}

/**
 * @param wanted default: the version in production; for a pathway without one its live graph, 0
 * @throws ApiError PATHWAY_NOT_FOUND, PERSONA_NOT_FOUND, TEST_AGENT_NOT_FOUND, VERSION_NOT_FOUND
 */
export async function testedVersion(
  db: Db,
  orgId: string,
  subject: AnySubject,
  wanted?: number,
): Promise<TestedVersion> {
  if (subject.kind === 'agent') {
    const agent = await requireForeignAgent(db, orgId, subject.id);
    if (wanted !== undefined && wanted !== 0) throw ApiError.of('VERSION_NOT_FOUND');
    const spoken = isSpoken(settingsOf(agent)) && { spoken: true as const };
    return { number: 0, contentHash: foreignHash(agent), ...spoken };
  }
  if (subject.kind === 'persona') {
    const { number, contentHash: hash } = await personaVersion(db, orgId, subject.id, wanted);
    return { number, contentHash: hash };
  }
  const pathway = await findPathway(db, orgId, subject.id);
  if (!pathway) throw ApiError.of('PATHWAY_NOT_FOUND');
  const number = wanted ?? pathway.production_version ?? 0;
  if (number === 0) return { number, contentHash: contentHash(pathway) };
  const version = await findVersion(db, subject.id, number);
  if (!version) throw ApiError.of('VERSION_NOT_FOUND');
  return { number, contentHash: version.content_hash };
}

async function personaVersion(db: Db, orgId: string, personaId: string, wanted: number | undefined) {
  const persona = await requirePersona(db, orgId, personaId);
  const row =
    wanted === undefined
      ? await findPersonaVersion(db, persona.production_version_id)
      : await findPersonaVersionByNumber(db, personaId, wanted);
  if (!row) throw ApiError.of('VERSION_NOT_FOUND');
  return { id: row.id, number: row.version_number, contentHash: row.content_hash };
}

/**
 * @param version undefined: the one in production
 * @throws ApiError PATHWAY_NOT_FOUND, PERSONA_NOT_FOUND, VERSION_NOT_FOUND
 */
export async function testedAgent(
  db: Db,
  orgId: string,
  subject: Subject,
  version: number | undefined,
): Promise<TextAgent> {
  if (subject.kind === 'pathway') return pathwayTextAgent(db, orgId, { pathwayId: subject.id, version });
  const { id } = await personaVersion(db, orgId, subject.id, version);
  return personaTextAgent(db, orgId, subject.id, {}, id);
}
