/** What the operator decides about edges and their proxies. Edges get it with their configuration. */
import { isIP } from 'node:net';
import type { EdgePatch } from '#shared/api/edges.ts';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { plainAddress } from '#shared/networks.ts';
import { type Actor, changedFields, recordChange } from '../audit/index.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Db, EdgeRow } from '../db/index.ts';
import { removedEdges } from '../fleet/index.ts';
import type { Bus } from '../replicas/index.ts';

interface Parts {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
}

/** By id. Every edge that ever connected is listed. */
export function listEdges(db: Db, page: { readonly limit: number; readonly offset: number }) {
  return db.selectFrom('edges').selectAll().orderBy('id').limit(page.limit).offset(page.offset).execute();
}

export function findEdge(db: Db, id: string): Promise<EdgeRow | undefined> {
  return db.selectFrom('edges').selectAll().where('id', '=', id).executeTakeFirst();
}

/**
 * Stores a change and publishes it in the same transaction; the edge acts on it as soon as it has it.
 * @returns undefined when no such edge ever connected
 */
export function changeEdge(
  { catalogue, clock }: Parts,
  id: string,
  patch: EdgePatch,
  by: Actor,
): Promise<EdgeRow | undefined> {
  return catalogue.change(async (db, altered) => {
    const before = await findEdge(db, id);
    if (!before) return undefined;
    const { draining, region = before.region, weight = before.weight } = patch;
    const now = new Date(clock.now()).toISOString();
    const since = before.draining_since;
    // A second order to drain keeps the time of the first.
    const draining_since = draining === undefined ? since : draining ? (since ?? now) : null;
    const change = { region, weight, draining_since };
    const fields = changedFields(before, change);
    if (fields.length === 0) return before;
    await db.updateTable('edges').set(change).where('id', '=', id).execute();
    altered.edges.add(id);
    await recordChange(db, clock, by, { orgId: null, area: 'edges', subject: id, action: 'update', fields });
    return { ...before, ...change };
  });
}

/** How long an edge must have been away to be removed, ms: a connected one is seen every 10 s. */
const awayMs = 30_000;

/**
 * Removes an edge that is gone for good: it is known no more, and its running calls are closed. The marks of its reports
 * stay: if it comes back after all, it is a new edge, and nothing that it reported before is stored twice.
 * @param isConnected whether it is linked to some control plane
 * @returns false when no such edge ever connected @throws ApiError EDGE_CONNECTED
 */
export function removeEdge(
  { bus, catalogue, clock }: Parts & { readonly bus: Bus },
  id: string,
  by: Actor,
  isConnected: boolean,
): Promise<boolean> {
  return catalogue.change(async (db, altered) => {
    const edge = await findEdge(db, id);
    if (!edge) return false;
    const now = clock.now();
    const seen = Date.parse(edge.last_seen_at);
    if (isConnected || seen > now - awayMs) throw ApiError.of('EDGE_CONNECTED');
    await catalogue.removed(db, altered, { kind: 'edge', id }, new Date(now).toISOString());
    await db.deleteFrom('edges').where('id', '=', id).execute();
    await removedEdges(bus).publish(db, id);
    altered.edges.add(id);
    await recordChange(db, clock, by, { orgId: null, area: 'edges', subject: id, action: 'delete' });
    return true;
  });
}

export async function listProxies(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('sip_proxies').select('address').orderBy('address').execute();
  return rows.map(({ address }) => address);
}

/**
 * Replaces the list of trusted proxies.
 * @returns it, without repetitions
 * @throws ApiError INVALID_PARAMETER for an entry that is not an address
 */
export function setProxies(
  { catalogue, clock }: Parts,
  addresses: readonly string[],
  by: Actor,
): Promise<string[]> {
  const wanted = addresses.map((entry, index) => checkedAddress(entry, `/addresses/${index}`));
  return catalogue.change(async (db, altered) => {
    const created_at = new Date(clock.now()).toISOString();
    const known = new Set(await listProxies(db));
    const next = [...new Set(wanted)].sort();
    const added = next.filter((address) => !known.has(address));
    const removed = [...known].filter((address) => !next.includes(address));
    for (const address of added) await db.insertInto('sip_proxies').values({ address, created_at }).execute();
    if (removed.length > 0) await db.deleteFrom('sip_proxies').where('address', 'in', removed).execute();
    altered.proxies = true;
    for (const [action, subjects] of [['create', added] as const, ['delete', removed] as const])
      for (const subject of subjects)
        await recordChange(db, clock, by, { orgId: null, area: 'proxies', subject, action });
    return next;
  });
}

/** A network would trust every host in it to name any source. */
function checkedAddress(entry: string, path: string): string {
  const address = plainAddress(entry.trim());
  if (isIP(address) === 0)
    throw ApiError.invalid(path, 'must be one IP address, for example 192.0.2.7, without a prefix length');
  return address;
}
