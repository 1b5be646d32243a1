/** The elements of the edges' configuration: built from the areas' rows, stored with their versions. */
import type { OrgConfig, PathwayConfig } from '#shared/edge-protocol/config.ts';
import type { Altered } from '../catalogue/index.ts';
import {
  type Db,
  type EdgeConfigItemRow,
  fromJson,
  type Json,
  type NumberRow,
  type PathwayRow,
  toJson,
} from '../db/index.ts';
import { readSettings } from '../numbers/index.ts';
import {
  type PublishedVersions,
  resolveVersion,
  versionsReferredTo,
  withTransferVersions,
} from '../pathways/index.ts';
import { personaAgent } from '../personas/index.ts';
import { phonesOf, type StoredPhones } from '../phone-sessions/index.ts';
import { currentRecordingKey } from '../recording-keys/index.ts';
import { agentTools, nodeTools } from '../tools/index.ts';
import { numberConfig, type Speaking } from './rules.ts';

const versionCounter = 'edge_config_version';

export interface Item {
  readonly kind: EdgeConfigItemRow['kind'];
  readonly key: string;
  /** JSON text with sealed secrets; null: to be removed. */
  readonly content: Json | null;
}

/** The ceiling (JSON) is combined with the deployment's, and keys of phones are derived, when the element is sent to an edge. */
export type StoredOrganization = Omit<OrgConfig, 'phones'> & {
  readonly call_ceiling?: Json;
  readonly phones?: StoredPhones;
};

export async function organizationItem(db: Db, id: string): Promise<Item> {
  const row = await db
    .selectFrom('organizations')
    .select([
      'signing_secret',
      'call_limits',
      'call_ceiling',
      'recording',
      'realtime',
      'pronunciations',
      'key_terms',
    ])
    .where('id', '=', id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  if (!row) return { kind: 'organization', key: id, content: null };
  const { signing_secret, call_ceiling, call_limits, recording, realtime, pronunciations, key_terms } = row;
  const key = await currentRecordingKey(db);
  const phones = await phonesOf(db, id);
  const content: StoredOrganization = {
    org_id: id,
    signing_secret,
    ...(call_limits !== null && { call_limits: fromJson(call_limits) }),
    ...(call_ceiling !== null && { call_ceiling }),
    ...(key && { recording: { ...key, ...(recording !== null && { choice: fromJson(recording) }) } }),
    ...(realtime !== null && { realtime: fromJson(realtime) }),
    ...(pronunciations !== null && { pronunciations: fromJson(pronunciations) }),
    ...(key_terms !== null && { key_terms: fromJson(key_terms) }),
    ...(phones && { phones }),
  };
  return { kind: 'organization', key: id, content: toJson(content) };
}

export async function numberItem(db: Db, number: string): Promise<{ item: Item; pathwayId: string | null }> {
  const row = await db
    .selectFrom('numbers')
    .innerJoin('organizations', 'organizations.id', 'numbers.org_id')
    .selectAll('numbers')
    .where('numbers.number', '=', number)
    .where('numbers.archived_at', 'is', null)
    .where('organizations.disabled_at', 'is', null)
    .executeTakeFirst();
  if (!row) return { item: { kind: 'number', key: number, content: null }, pathwayId: null };
  const configurations = await db
    .selectFrom('sip_configurations')
    .selectAll()
    .where('org_id', '=', row.org_id)
    .where('number', '=', number)
    .orderBy('priority')
    .execute();
  const published = row.pathway_id === null ? null : await publishedVersions(db, row.pathway_id);
  const content = toJson(numberConfig(row, configurations, published, await speakingFor(db, row)));
  return { item: { kind: 'number', key: number, content }, pathwayId: row.pathway_id };
}

/** What the operator decided about an edge. The edge itself gets only whether it drains; control uses all of it. */
export async function edgeItem(db: Db, id: string): Promise<Item> {
  const row = await db
    .selectFrom('edges')
    .select(['draining_since', 'region', 'weight'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return { kind: 'edge', key: id, content: null };
  const { draining_since, ...plan } = row;
  return { kind: 'edge', key: id, content: toJson({ draining: draining_since !== null, ...plan }) };
}

export async function proxiesItem(db: Db): Promise<Item> {
  const rows = await db.selectFrom('sip_proxies').select('address').orderBy('address').execute();
  return { kind: 'proxies', key: 'deployment', content: toJson(rows.map(({ address }) => address)) };
}

async function speakingFor(db: Db, { org_id, persona_id, settings }: NumberRow): Promise<Speaking> {
  const own = readSettings(settings);
  if (persona_id !== null) return { persona: await personaAgent(db, org_id, persona_id, own) };
  return { tools: await agentTools(db, org_id, own.tools ?? []) };
}

async function publishedVersions(db: Db, pathwayId: string): Promise<PublishedVersions | null> {
  const row = await db
    .selectFrom('pathways')
    .select(['production_version', 'staging_version'])
    .where('id', '=', pathwayId)
    .executeTakeFirst();
  return row ? { production: row.production_version, staging: row.staging_version } : null;
}

/**
 * The versions of a pathway that calls may use: the live graph, the published ones, and those referenced by numbers,
 * personas, other pathways, phone sessions and calls in progress.
 */
export async function pathwayItems(db: Db, pathwayId: string): Promise<Item[]> {
  const row = await db.selectFrom('pathways').selectAll().where('id', '=', pathwayId).executeTakeFirst();
  const items = row ? await graphItems(db, row) : [];
  const kept = new Set(items.map((item) => item.key));
  const stored = await storedItems(db, pathwayId).execute();
  for (const { key } of stored) if (!kept.has(key)) items.push({ kind: 'pathway', key, content: null });
  return items;
}

function storedItems(db: Db, pathwayId: string) {
  return db
    .selectFrom('edge_config_items')
    .select('key')
    .where('kind', '=', 'pathway')
    .where('key', '>=', `${pathwayId}@`)
    .where('key', '<', `${pathwayId}A`);
}

/** The versions that edges have. */
async function sentVersions(db: Db, pathwayId: string): Promise<number[]> {
  const rows = await storedItems(db, pathwayId).where('content', 'is not', null).execute();
  return rows.map(({ key }) => Number(key.slice(key.lastIndexOf('@') + 1)));
}

async function graphItems(db: Db, row: PathwayRow): Promise<Item[]> {
  const published = { production: row.production_version, staging: row.staging_version };
  const wanted = await db
    .selectFrom('numbers')
    .select('pathway_version')
    .distinct()
    .where('pathway_id', '=', row.id)
    .where('archived_at', 'is', null)
    .execute();
  const versions = new Set(wanted.map((number) => resolveVersion(number.pathway_version, published)));
  for (const version of await versionsReferredTo(db, row.id))
    versions.add(resolveVersion(version, published));
  for (const version of [published.production, published.staging])
    if (version !== null) versions.add(version);
  const called = await db
    .selectFrom('calls')
    .select(['pathway_id', 'pathway_version'])
    .distinct()
    .where('org_id', '=', row.org_id)
    .where('outcome', '=', 'in_progress')
    .execute();
  for (const { pathway_id, pathway_version } of called)
    if (pathway_id === row.id && pathway_version !== null) versions.add(pathway_version);
  // Listed for a day after their end, which is longer than any of them may call.
  const talked = await db
    .selectFrom('phone_sessions')
    .select('pathway_version')
    .distinct()
    .where('pathway_id', '=', row.id)
    .execute();
  for (const { pathway_version } of talked) if (pathway_version !== null) versions.add(pathway_version);
  // A call in progress may still continue in a version that its persona or another pathway referred to when it began.
  if (called.length > 0) for (const version of await sentVersions(db, row.id)) versions.add(version);
  versions.delete(0);
  const items = [await graphItem(db, row, 0, row)];
  if (versions.size === 0) return items;
  const graphs = await db
    .selectFrom('pathway_versions')
    .selectAll()
    .where('pathway_id', '=', row.id)
    .where('version_number', 'in', [...versions])
    .execute();
  for (const graph of graphs) items.push(await graphItem(db, row, graph.version_number, graph));
  return items;
}

async function graphItem(
  db: Db,
  row: PathwayRow,
  version: number,
  graph: Pick<PathwayRow, 'nodes' | 'edges'>,
): Promise<Item> {
  const nodes = await withTransferVersions(db, row.org_id, fromJson(graph.nodes));
  const tools = await nodeTools(db, row.org_id, nodes);
  const content: PathwayConfig = {
    pathway_id: row.id,
    version,
    org_id: row.org_id,
    name: row.name,
    nodes,
    edges: fromJson(graph.edges),
    ...(tools.length > 0 && { tools }),
  };
  return { kind: 'pathway', key: `${row.id}@${version}`, content: toJson(content) };
}

export async function storedContent(db: Db, item: Item): Promise<string | null> {
  const row = await db
    .selectFrom('edge_config_items')
    .select('content')
    .where('kind', '=', item.kind)
    .where('key', '=', item.key)
    .executeTakeFirst();
  return row?.content ?? null;
}

export async function nextVersion(db: Db): Promise<number> {
  const row = await db
    .insertInto('counters')
    .values({ name: versionCounter, value: 1 })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((eb) => ({ value: eb('counters.value', '+', 1) })),
    )
    .returning('value')
    .executeTakeFirstOrThrow();
  return row.value;
}

export async function storeItem(db: Db, { kind, key, content }: Item, version: number): Promise<void> {
  await db
    .insertInto('edge_config_items')
    .values({ kind, key, content, version })
    .onConflict((conflict) => conflict.columns(['kind', 'key']).doUpdateSet({ content, version }))
    .execute();
}

/** The newest version; 0 before the first element. */
export async function newestVersion(db: Db): Promise<number> {
  const row = await db
    .selectFrom('counters')
    .select('value')
    .where('name', '=', versionCounter)
    .executeTakeFirst();
  return row?.value ?? 0;
}

/** What may have changed. */
export type AlteredKeys = Pick<
  Altered,
  'edges' | 'numbers' | 'organizations' | 'pathways' | 'proxies' | 'settings'
>;

/** All that a release may publish in another form. */
export async function everything(db: Db): Promise<AlteredKeys> {
  const items = await db.selectFrom('edge_config_items').select(['kind', 'key']).execute();
  const organizations = await db.selectFrom('organizations').select('id').execute();
  const numbers = await db.selectFrom('numbers').select('number').where('archived_at', 'is', null).execute();
  const pathways = await db.selectFrom('pathways').select('id').execute();
  const keys = (kind: Item['kind']) => items.filter((item) => item.kind === kind).map(({ key }) => key);
  return {
    organizations: new Set(organizations.map(({ id }) => id)),
    numbers: new Set([...numbers.map(({ number }) => number), ...keys('number')]),
    pathways: new Set([...pathways.map(({ id }) => id), ...keys('pathway').map(pathwayOf)]),
    edges: new Set(),
    proxies: false,
    settings: true,
  };
}

/** The pathway of an element with one of its versions. */
export const pathwayOf = (key: string) => key.slice(0, key.lastIndexOf('@'));
