/** Organizations, API keys, operator keys and edge tokens. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import type { SecretBox } from '../db/secrets.ts';
import type { ApiKeyRow, Db, EdgeTokenRow, OrganizationRow } from '../db/tables.ts';
import { hashKey, makeKey, sameHash } from './rules.ts';

export interface NewOrganization {
  readonly name: string;
  readonly region: string;
  readonly sipEnabled: boolean;
  /** Who is told of alerts until somebody says otherwise (contract 14.1). */
  readonly ownerEmail?: string;
}

export function isoTime(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

/** Makes an organization with a signing secret of its own. Returns its id. */
export async function createOrganization(
  db: Db,
  clock: Clock,
  secrets: SecretBox,
  organization: NewOrganization,
): Promise<string> {
  const id = newId();
  await db
    .insertInto('organizations')
    .values({
      id,
      name: organization.name,
      region: organization.region,
      sip_enabled: organization.sipEnabled ? 1 : 0,
      signing_secret: secrets.seal(randomBytes(32).toString('hex'), signingSecretContext(id)),
      created_at: isoTime(clock),
      alert_emails: JSON.stringify(organization.ownerEmail === undefined ? [] : [organization.ownerEmail]),
      alert_sms_numbers: '[]',
      event_webhook_url: null,
      call_limits: null,
    })
    .execute();
  return id;
}

/** What an organization's signing secret is sealed for (db/secrets.ts). */
export function signingSecretContext(orgId: string): string {
  return `organization:${orgId}:signing_secret`;
}

/** @throws Error when there is no such organization */
export function findOrganization(db: Db, orgId: string): Promise<OrganizationRow> {
  return db.selectFrom('organizations').selectAll().where('id', '=', orgId).executeTakeFirstOrThrow();
}

export type OrganizationChange = Partial<
  Pick<
    OrganizationRow,
    'signing_secret' | 'alert_emails' | 'alert_sms_numbers' | 'event_webhook_url' | 'call_limits'
  >
>;

export async function updateOrganization(db: Db, orgId: string, change: OrganizationChange): Promise<void> {
  await db.updateTable('organizations').set(change).where('id', '=', orgId).execute();
}

export function listOrganizations(db: Db): Promise<OrganizationRow[]> {
  return db.selectFrom('organizations').selectAll().orderBy('created_at').orderBy('id').execute();
}

/** Whether there was such an organization. */
export async function setSipEnabled(db: Db, orgId: string, enabled: boolean): Promise<boolean> {
  const result = await db
    .updateTable('organizations')
    .set({ sip_enabled: enabled ? 1 : 0 })
    .where('id', '=', orgId)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Makes an API key. Returns it: it is stored hashed, so this is the only time it can be read. */
export async function createApiKey(
  db: Db,
  clock: Clock,
  owner: { kind: 'customer'; orgId: string } | { kind: 'operator' },
  name: string,
): Promise<string> {
  const { key, prefix, hash } = makeKey(owner.kind);
  await db
    .insertInto('api_keys')
    .values({
      id: newId(),
      kind: owner.kind,
      org_id: owner.kind === 'customer' ? owner.orgId : null,
      name,
      prefix,
      hash,
      created_at: isoTime(clock),
      revoked_at: null,
    })
    .execute();
  return key;
}

/** @param orgId null lists the operator keys */
export function listApiKeys(db: Db, orgId: string | null): Promise<ApiKeyRow[]> {
  return db
    .selectFrom('api_keys')
    .selectAll()
    .where('org_id', orgId === null ? 'is' : '=', orgId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Whether there was such a key that was not yet revoked. */
export async function revokeApiKey(db: Db, clock: Clock, id: string): Promise<boolean> {
  const result = await db
    .updateTable('api_keys')
    .set({ revoked_at: isoTime(clock) })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Makes an edge token. Returns it: it is stored hashed. */
export async function createEdgeToken(db: Db, clock: Clock, name: string): Promise<string> {
  const { key, prefix, hash } = makeKey('edge');
  await db
    .insertInto('edge_tokens')
    .values({ id: newId(), name, prefix, hash, created_at: isoTime(clock), revoked_at: null })
    .execute();
  return key;
}

export function listEdgeTokens(db: Db): Promise<EdgeTokenRow[]> {
  return db.selectFrom('edge_tokens').selectAll().orderBy('created_at').orderBy('id').execute();
}

export async function revokeEdgeToken(db: Db, clock: Clock, id: string): Promise<boolean> {
  const result = await db
    .updateTable('edge_tokens')
    .set({ revoked_at: isoTime(clock) })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * The key's row with what its organization may do, or null when it is unknown or revoked. Found by its hash,
 * which tells nothing of the key in how long the look-up takes.
 */
export async function findApiKey(
  db: Db,
  key: string,
): Promise<{ id: string; kind: ApiKeyRow['kind']; org_id: string | null; sip_enabled: boolean } | null> {
  const hash = hashKey(key);
  const row = await db
    .selectFrom('api_keys')
    .leftJoin('organizations', 'organizations.id', 'api_keys.org_id')
    .select(['api_keys.id', 'api_keys.kind', 'api_keys.org_id', 'api_keys.hash', 'organizations.sip_enabled'])
    .where('api_keys.hash', '=', hash)
    .where('api_keys.revoked_at', 'is', null)
    .executeTakeFirst();
  if (!row || !sameHash(row.hash, hash)) return null;
  return { id: row.id, kind: row.kind, org_id: row.org_id, sip_enabled: row.sip_enabled === 1 };
}

export async function isEdgeToken(db: Db, token: string): Promise<boolean> {
  const hash = hashKey(token);
  const row = await db
    .selectFrom('edge_tokens')
    .select('hash')
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined && sameHash(row.hash, hash);
}
