/** SIP configurations of numbers. */

import type { Db, SecretBox, SipConfigurationRow } from '../db/index.ts';
import type { ConfigurationDraft } from './rules.ts';

/** Of one number: inbound first, then by priority. */
export function findConfigurations(db: Db, orgId: string, number: string): Promise<SipConfigurationRow[]> {
  return db
    .selectFrom('sip_configurations')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('number', '=', number)
    .orderBy('direction')
    .orderBy('priority')
    .execute();
}

/** Of all numbers, by number, then inbound first, then by priority. */
export function listConfigurations(db: Db, orgId: string): Promise<SipConfigurationRow[]> {
  return db
    .selectFrom('sip_configurations')
    .selectAll()
    .where('org_id', '=', orgId)
    .orderBy('number')
    .orderBy('direction')
    .orderBy('priority')
    .execute();
}

/** Configurations of one page of numbers, in order, and how many numbers have any. */
export async function pageOfConfigurations(
  db: Db,
  orgId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: SipConfigurationRow[]; total: number }> {
  const { total } = await db
    .selectFrom('sip_configurations')
    .select(({ fn }) => fn.count<number>('number').distinct().as('total'))
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow();
  const numbers = await db
    .selectFrom('sip_configurations')
    .select('number')
    .distinct()
    .where('org_id', '=', orgId)
    .orderBy('number')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  if (numbers.length === 0) return { rows: [], total };
  const rows = await db
    .selectFrom('sip_configurations')
    .selectAll()
    .where('org_id', '=', orgId)
    .where(
      'number',
      'in',
      numbers.map(({ number }) => number),
    )
    .orderBy('number')
    .orderBy('direction')
    .orderBy('priority')
    .execute();
  return { rows, total };
}

/** The sources that all organizations' numbers list, and whether very wide ones are permitted. */
export function listAllowedSources(db: Db) {
  return db
    .selectFrom('sip_configurations')
    .innerJoin('organizations', 'organizations.id', 'sip_configurations.org_id')
    .select(['org_id', 'number', 'allowed_ips', 'wide_sources'])
    .where('allowed_ips', 'is not', null)
    .orderBy('org_id')
    .orderBy('number')
    .execute();
}

/** Stores the differences between a number's stored records and their drafts. */
export async function saveDrafts(
  db: Db,
  secrets: SecretBox,
  stored: readonly SipConfigurationRow[],
  drafts: readonly ConfigurationDraft[],
): Promise<void> {
  for (const draft of drafts) {
    const old = stored.find((row) => row.id === draft.id);
    const row = sealedRow(secrets, draft, old);
    if (!old) await db.insertInto('sip_configurations').values(row).execute();
    else if (JSON.stringify(old) !== JSON.stringify(row)) {
      await db.updateTable('sip_configurations').set(row).where('id', '=', row.id).execute();
    }
  }
}

function sealedRow(
  secrets: SecretBox,
  { isNew: _, ...draft }: ConfigurationDraft,
  old: SipConfigurationRow | undefined,
): SipConfigurationRow {
  const { password } = draft;
  if (password === 'kept') return { ...draft, password: old?.password ?? null };
  return { ...draft, password: password && secrets.seal(password.plain, passwordContext(draft.id)) };
}

/** The password of a record in plain text; null if it has none. */
export function openPassword(
  secrets: SecretBox,
  row: Pick<SipConfigurationRow, 'id' | 'password'>,
): string | null {
  return row.password === null ? null : secrets.open(row.password, passwordContext(row.id));
}

function passwordContext(id: string): string {
  return `sip_configuration:${id}:password`;
}

export async function deleteConfigurations(db: Db, ids: readonly string[]): Promise<void> {
  await db
    .deleteFrom('registrations')
    .where('configuration_id', 'in', [...ids])
    .execute();
  await db
    .deleteFrom('trunk_endpoints')
    .where('configuration_id', 'in', [...ids])
    .execute();
  await db
    .deleteFrom('sip_configurations')
    .where('id', 'in', [...ids])
    .execute();
}
