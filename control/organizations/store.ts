/** Organizations, API keys, operator keys and edge tokens. */
import { randomBytes } from 'node:crypto';
import type { KeyRole } from '#shared/api/keys.ts';
import type { ModelPrices } from '#shared/api/model-prices.ts';
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import {
  type ApiKeyRow,
  builtOnce,
  type Db,
  type EdgeTokenRow,
  fromJson,
  type OrganizationRow,
  type SecretBox,
  toJson,
} from '../db/index.ts';
import type { Bus } from '../replicas/index.ts';
import type { StoredConnections } from './realtime-rules.ts';
import { hashKey, makeKey, sameHash } from './rules.ts';

export interface NewOrganization {
  readonly name: string;
  readonly region: string;
  readonly sipEnabled: boolean;
  /** Who gets alerts until the setting is changed (contract 14.1). */
  readonly ownerEmails?: readonly string[];
}

export function isoTime(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

/** Creates an organization with its own signing secret. Returns its id. */
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
      alert_emails: toJson(organization.ownerEmails ?? []),
      alert_sms_numbers: toJson([]),
      event_webhook_url: null,
      call_limits: null,
      call_ceiling: null,
      recording: null,
      realtime: null,
      pronunciations: null,
      key_terms: null,
      model_prices: null,
      supervision_tone: 1,
      wide_sources: 0,
      disabled_at: null,
    })
    .execute();
  return id;
}

/** The sealing context of an organization's signing secret (db/secrets.ts). */
export function signingSecretContext(orgId: string): string {
  return `organization:${orgId}:signing_secret`;
}

/** @throws Error when the organization does not exist */
export function findOrganization(db: Db, orgId: string): Promise<OrganizationRow> {
  return db.selectFrom('organizations').selectAll().where('id', '=', orgId).executeTakeFirstOrThrow();
}

export function storedConnections({ realtime }: Pick<OrganizationRow, 'realtime'>): StoredConnections {
  return realtime === null ? [] : fromJson(realtime);
}

/** What an organization pays for language models; null: not known. */
export async function modelPricesOf(db: Db, orgId: string): Promise<ModelPrices | null> {
  const row = await db
    .selectFrom('organizations')
    .select('model_prices')
    .where('id', '=', orgId)
    .executeTakeFirst();
  return row?.model_prices ? fromJson(row.model_prices) : null;
}

export type OrganizationChange = Partial<
  Pick<
    OrganizationRow,
    | 'name'
    | 'region'
    | 'sip_enabled'
    | 'signing_secret'
    | 'alert_emails'
    | 'alert_sms_numbers'
    | 'event_webhook_url'
    | 'call_limits'
    | 'call_ceiling'
    | 'recording'
    | 'realtime'
    | 'pronunciations'
    | 'key_terms'
    | 'model_prices'
    | 'supervision_tone'
    | 'wide_sources'
  >
>;

export async function updateOrganization(db: Db, orgId: string, change: OrganizationChange): Promise<void> {
  await db.updateTable('organizations').set(change).where('id', '=', orgId).execute();
}

export function listOrganizations(db: Db): Promise<OrganizationRow[]> {
  return db.selectFrom('organizations').selectAll().orderBy('created_at').orderBy('id').execute();
}

/**
 * Disables an organization, or enables it again. Its rows stay; the caller republishes it and its numbers.
 * @returns whether that changed anything
 */
export async function setDisabled(db: Db, clock: Clock, orgId: string, disabled: boolean): Promise<boolean> {
  const result = await db
    .updateTable('organizations')
    .set({ disabled_at: disabled ? isoTime(clock) : null })
    .where('id', '=', orgId)
    .where('disabled_at', disabled ? 'is' : 'is not', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Whose a key is; one of an organization may do everything in it unless a role says less. */
export type KeyOwner =
  | { readonly kind: 'customer'; readonly orgId: string; readonly role?: KeyRole }
  | { readonly kind: 'operator' };

/** Creates an API key. Returns it: only its hash is stored, so it can be read only now. */
export async function createApiKey(db: Db, clock: Clock, owner: KeyOwner, name: string): Promise<string> {
  return (await addApiKey(db, clock, owner, name)).key;
}

/** The same with its row. */
export async function addApiKey(
  db: Db,
  clock: Clock,
  owner: KeyOwner,
  name: string,
): Promise<{ readonly key: string; readonly row: ApiKeyRow }> {
  const { key, prefix, hash } = makeKey(owner.kind);
  const row: ApiKeyRow = {
    id: newId(),
    kind: owner.kind,
    org_id: owner.kind === 'customer' ? owner.orgId : null,
    name,
    prefix,
    hash,
    role: (owner.kind === 'customer' ? owner.role : undefined) ?? 'admin',
    created_at: isoTime(clock),
    revoked_at: null,
    expires_at: null,
    last_used_at: null,
  };
  await db.insertInto('api_keys').values(row).execute();
  return { key, row };
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

/** Whether the key existed and was not yet revoked. */
export async function revokeApiKey(db: Db, clock: Clock, id: string): Promise<boolean> {
  const result = await db
    .updateTable('api_keys')
    .set({ revoked_at: isoTime(clock) })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Creates an edge token. Returns it: only its hash is stored. */
export async function createEdgeToken(db: Db, clock: Clock, name: string): Promise<string> {
  const { key, prefix, hash } = makeKey('edge');
  await db
    .insertInto('edge_tokens')
    .values({
      id: newId(),
      name,
      prefix,
      hash,
      created_at: isoTime(clock),
      revoked_at: null,
      last_used_at: null,
    })
    .execute();
  return key;
}

export function listEdgeTokens(db: Db): Promise<EdgeTokenRow[]> {
  return db.selectFrom('edge_tokens').selectAll().orderBy('created_at').orderBy('id').execute();
}

/** Told to replicas: they close the connections of edges with revoked tokens. */
export const revokedTokensTopic = (bus: Bus) => bus.topic<null>('edge-tokens-revoked');

export async function revokeEdgeToken(db: Db, clock: Clock, id: string): Promise<boolean> {
  const result = await db
    .updateTable('edge_tokens')
    .set({ revoked_at: isoTime(clock) })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export interface FoundKey
  extends Pick<ApiKeyRow, 'id' | 'kind' | 'org_id' | 'prefix' | 'role' | 'last_used_at'> {
  readonly sip_enabled: boolean;
}

const findKeyInForce = builtOnce((db, hash: string, now: string) =>
  db
    .selectFrom('api_keys')
    .leftJoin('organizations', 'organizations.id', 'api_keys.org_id')
    .select(['api_keys.id', 'api_keys.kind', 'api_keys.org_id', 'api_keys.prefix', 'api_keys.hash'])
    .select('api_keys.role')
    .select(['api_keys.last_used_at', 'organizations.sip_enabled'])
    .where('api_keys.hash', '=', hash)
    .where('api_keys.revoked_at', 'is', null)
    .where((eb) => eb.or([eb('api_keys.expires_at', 'is', null), eb('api_keys.expires_at', '>', now)]))
    .where('organizations.disabled_at', 'is', null),
);

/**
 * The key with its organization's permissions; null when it is unknown, expired or revoked, or its organization is
 * disabled.
 * Looked up by hash, so the look-up time reveals nothing about the key.
 */
export async function findApiKey(db: Db, clock: Clock, key: string): Promise<FoundKey | null> {
  const hash = hashKey(key);
  const [row] = await findKeyInForce(db, hash, isoTime(clock));
  if (!row || !sameHash(row.hash, hash)) return null;
  const { id, kind, org_id, prefix, role, last_used_at } = row;
  return { id, kind, org_id, prefix, role, last_used_at, sip_enabled: row.sip_enabled === 1 };
}

/** Precision of a key's last use, so that not every request writes. */
export const useKeptEveryMs = 60_000;

/** Records that a key is used now, unless that was recorded within the last minute. */
export async function noteKeyUse(
  db: Db,
  clock: Clock,
  key: Pick<ApiKeyRow, 'id' | 'last_used_at'>,
): Promise<void> {
  if (key.last_used_at !== null && Date.parse(key.last_used_at) > clock.now() - useKeptEveryMs) return;
  await db
    .updateTable('api_keys')
    .set({ last_used_at: isoTime(clock) })
    .where('id', '=', key.id)
    .execute();
}

/** The row of a key of any kind, even a revoked one. */
export async function findKeyRow(db: Db, key: string): Promise<{ id: string } | undefined> {
  const hash = hashKey(key);
  const of = (table: 'api_keys' | 'edge_tokens') =>
    db.selectFrom(table).select('id').where('hash', '=', hash).executeTakeFirst();
  return (await of('api_keys')) ?? (await of('edge_tokens'));
}

/** The id of a valid token, whose use is recorded; null for any other text. */
export async function findEdgeToken(db: Db, clock: Clock, token: string): Promise<string | null> {
  const row = await tokenInForce(db, token);
  if (!row) return null;
  await db
    .updateTable('edge_tokens')
    .set({ last_used_at: isoTime(clock) })
    .where('id', '=', row.id)
    .execute();
  return row.id;
}

async function tokenInForce(db: Db, token: string): Promise<{ id: string } | undefined> {
  const hash = hashKey(token);
  const row = await db
    .selectFrom('edge_tokens')
    .select(['id', 'hash'])
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row && sameHash(row.hash, hash) ? row : undefined;
}

/** The revoked ones of these tokens. */
export async function revokedTokens(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('edge_tokens')
    .select('id')
    .where('id', 'in', [...ids])
    .where('revoked_at', 'is not', null)
    .execute();
  return new Set(rows.map((row) => row.id));
}
