/** Numbers that a run may call: those that answer with the tested version. */
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import type { Db } from '../../db/index.ts';
import { findNumber } from '../../numbers/index.ts';
import { findPathway, resolveVersion } from '../../pathways/index.ts';
import { findConfigurations } from '../../trunks/index.ts';
import type { Subject } from '../scenarios/rules.ts';
import { testedVersion } from './agent-store.ts';

/**
 * @returns the number in E.164
 * @throws ApiError NUMBER_NOT_TESTABLE with the reason, INVALID_PARAMETER for an invalid number
 */
export async function requireTestableNumber(
  db: Db,
  orgId: string,
  subject: Subject,
  version: number,
  phoneNumber: string | undefined,
): Promise<string> {
  if (phoneNumber === undefined) throw ApiError.invalid('/phone_number', 'is required with transport sip');
  const number = toE164(phoneNumber);
  if (number === null) throw ApiError.invalid('/phone_number', 'must be a phone number in E.164 form');
  const obstacle = await obstacleTo(db, orgId, subject, version, number);
  // The message includes the reason: for a queued run it is all that is stored.
  if (obstacle !== null) throw ApiError.of('NUMBER_NOT_TESTABLE', { reason: obstacle }, obstacle);
  return number;
}

async function obstacleTo(
  db: Db,
  orgId: string,
  subject: Subject,
  version: number,
  number: string,
): Promise<string | null> {
  const row = await findNumber(db, orgId, number);
  const configurations = row ? await findConfigurations(db, orgId, number) : [];
  if (!row || !configurations.some(({ direction }) => direction === 'inbound')) {
    return `${number} is not an inbound number.`;
  }
  const answers = subject.kind === 'pathway' ? row.pathway_id : row.persona_id;
  if (answers !== subject.id) return `${number} is not answered by the tested ${subject.kind}.`;
  const inForce =
    subject.kind === 'pathway'
      ? await pathwayVersion(db, orgId, subject.id, row.pathway_version)
      : (await testedVersion(db, orgId, subject)).number;
  return inForce === version ? null : `${number} is answered by version ${inForce}, not ${version}.`;
}

async function pathwayVersion(db: Db, orgId: string, id: string, wanted: string | null): Promise<number> {
  const pathway = await findPathway(db, orgId, id);
  const published = pathway && { production: pathway.production_version, staging: pathway.staging_version };
  return resolveVersion(wanted, published ?? null);
}
