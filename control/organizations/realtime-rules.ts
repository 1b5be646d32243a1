/** The organization's connections to model servers: as the API takes them, stores them and shows them (contract 14.1). */
import type { BlockList } from 'node:net';
import type { RealtimeConnections } from '#shared/api/realtime.ts';
import type { RealtimeConnection } from '#shared/edge-protocol/agents.ts';
import { ApiError } from '#shared/errors.ts';
import type { SecretBox } from '../db/index.ts';
import { checkUrl } from './rules.ts';

/** As stored and published: `api_key` is sealed. */
export type StoredConnections = readonly RealtimeConnection[];

/** The sealing context of a connection's key (db/secrets.ts). */
const keyContext = (orgId: string, name: string) => `organization:${orgId}:realtime:${name}`;

/**
 * The new connections of an organization. A key that is left out stays, as long as it goes to the same host.
 * @throws ApiError INVALID_PARAMETER, TARGET_NOT_ALLOWED
 */
export function readConnections(
  given: RealtimeConnections,
  before: StoredConnections,
  { orgId, secrets, allowedTargets }: { orgId: string; secrets: SecretBox; allowedTargets: BlockList },
): StoredConnections {
  const names = new Set<string>();
  return given.map(({ name, protocol, url, model, api_key }, index) => {
    const path = `/realtime/${index}`;
    if (names.has(name)) throw ApiError.invalid(`${path}/name`, 'there is another connection with this name');
    names.add(name);
    checkUrl(url, 'wss:', `${path}/url`, allowedTargets);
    const known = before.find(({ id }) => id === name) ?? null;
    if (api_key === undefined && known?.api_key && new URL(known.url).host !== new URL(url).host)
      throw ApiError.invalid(`${path}/api_key`, 'required, or null: the stored key is for another host');
    const sealed = api_key ? secrets.seal(api_key, keyContext(orgId, name)) : null;
    return {
      id: name,
      protocol,
      url,
      model,
      api_key: api_key === undefined ? (known?.api_key ?? null) : sealed,
    };
  });
}

/** With their keys; for the edge link only. */
export function openConnections(
  stored: StoredConnections,
  orgId: string,
  secrets: SecretBox,
): RealtimeConnection[] {
  return stored.map((connection) => {
    const { id, api_key } = connection;
    return { ...connection, api_key: api_key && secrets.open(api_key, keyContext(orgId, id)) };
  });
}

export function connectionsView(stored: StoredConnections) {
  return stored.map(({ id, protocol, url, model, api_key }) => ({
    name: id,
    protocol,
    url,
    model,
    has_api_key: api_key !== null,
  }));
}

/** @throws ApiError INVALID_PARAMETER at `path` when the organization has no such connection */
export function requireConnection(
  stored: StoredConnections,
  name: string,
  path = '/realtime/connection',
): void {
  if (stored.some(({ id }) => id === name)) return;
  throw ApiError.invalid(path, `the organization has no realtime connection "${name}"`);
}
