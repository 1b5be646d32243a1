/** /v1/org/keys: the organization's API keys (contract 14.5). */
import { plain } from '#shared/api/common.ts';
import {
  KeyCreate,
  KeyList,
  KeyMade,
  KeyOne,
  KeyPath,
  KeyQuery,
  KeyRotate,
  KeyRotated,
  type KeyView,
  overlapOf,
} from '#shared/api/keys.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf, recordChange } from '../audit/index.ts';
import type { ApiKeyRow, Db } from '../db/index.ts';
import { type App, keepAnswer, orgOf } from '../http/index.ts';
import type { OrganizationDeps } from './deps.ts';
import { keyRoom, letExpire, pageOfKeys, requireKey, requireOtherAdmin, stateOf } from './key-store.ts';
import { addApiKey, isoTime, revokeApiKey } from './store.ts';

const defaultPage = 100;
/** Somebody may put the key itself where its id belongs: logs do not show it. */
const one = { access: 'admin', secretPath: true } as const;
const rates = [{ scope: 'new_keys', limit: 20, windowSeconds: 60 }];

export function keyRoutes(app: App, services: OrganizationDeps): void {
  const { clock, database, quotas } = services;
  const { db } = database;
  const view = (row: ApiKeyRow): KeyView => ({
    id: row.id,
    name: row.name,
    role: row.role,
    begins: row.prefix,
    state: stateOf(row, clock),
    created_at: row.created_at,
    last_used_at: row.last_used_at,
    expires_at: row.expires_at,
    revoked_at: row.revoked_at,
  });
  /** @throws ApiError KEY_NOT_FOUND, KEY_NOT_ACTIVE */
  const requireActive = async (trx: Db, orgId: string, id: string) => {
    const row = await requireKey(trx, orgId, id);
    if (stateOf(row, clock) !== 'active') throw ApiError.of('KEY_NOT_ACTIVE');
    return row;
  };
  const room = (trx: Db, orgId: string) => quotas.counting('keys', () => keyRoom(trx, clock, orgId));

  app.route({
    method: 'GET',
    url: '/v1/org/keys',
    config: { access: 'admin' },
    schema: {
      summary: 'Keys of the organization, newest first',
      querystring: KeyQuery,
      response: { 200: KeyList },
    },
    handler: async (request) => {
      const { limit = defaultPage, offset = 0, state } = request.query;
      const { rows, total } = await pageOfKeys(db, clock, orgOf(request), { limit, offset, state });
      return plain({ keys: rows.map(view), total_count: total });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/org/keys/:id',
    config: { ...one, errors: ['KEY_NOT_FOUND'] },
    schema: { summary: 'One key', params: KeyPath, response: { 200: KeyOne } },
    handler: async (request) => plain({ key: view(await requireKey(db, orgOf(request), request.params.id)) }),
  });

  app.route({
    method: 'POST',
    url: '/v1/org/keys',
    config: {
      access: 'admin',
      atomic: true,
      limits: rates,
      errors: ['QUOTA_EXCEEDED'],
    },
    schema: {
      summary: 'Create a key',
      description: 'The key is shown in this response only.',
      body: KeyCreate,
      response: { 200: KeyMade },
    },
    handler: (request) =>
      database.db.transaction().execute(async (trx) => {
        const orgId = orgOf(request);
        const { name, role } = request.body;
        await room(trx, orgId);
        const made = await addApiKey(trx, clock, { kind: 'customer', orgId, role }, name);
        await recordChange(trx, clock, actorOf(request), {
          ...changeOf(made.row),
          action: 'create',
          fields: ['name', 'role'],
        });
        return keepAnswer(trx, request, plain({ key: view(made.row), secret: made.key }));
      }),
  });

  app.route({
    method: 'POST',
    url: '/v1/org/keys/:id/rotate',
    config: {
      ...one,
      atomic: true,
      limits: rates,
      errors: ['KEY_NOT_FOUND', 'KEY_NOT_ACTIVE', 'QUOTA_EXCEEDED'],
    },
    schema: {
      summary: 'Replace a key by a new one with its name and role',
      description:
        'The new key is shown in this response only. The former one works for overlap_seconds more, and the sessions it began with it.',
      params: KeyPath,
      body: KeyRotate,
      response: { 200: KeyRotated },
    },
    handler: (request) =>
      database.db.transaction().execute(async (trx) => {
        const orgId = orgOf(request);
        const row = await requireActive(trx, orgId, request.params.id);
        const overlap = overlapOf(request.body);
        const by = actorOf(request);
        if (overlap === 0) await revokeApiKey(trx, clock, row.id);
        const former =
          overlap === 0
            ? { ...row, revoked_at: isoTime(clock) }
            : await letExpire(trx, row, new Date(clock.now() + overlap * 1000).toISOString());
        await room(trx, orgId);
        const { name, role } = row;
        const made = await addApiKey(trx, clock, { kind: 'customer', orgId, role }, name);
        const fields = [overlap === 0 ? 'revoked_at' : 'expires_at'];
        await recordChange(trx, clock, by, { ...changeOf(row), action: 'rotate', fields });
        await recordChange(trx, clock, by, { ...changeOf(made.row), action: 'create' });
        const answer = { key: view(made.row), secret: made.key, former: view(former) };
        return keepAnswer(trx, request, plain(answer));
      }),
  });

  app.route({
    method: 'DELETE',
    url: '/v1/org/keys/:id',
    config: { ...one, errors: ['KEY_NOT_FOUND', 'KEY_NOT_ACTIVE', 'LAST_ADMIN_KEY'] },
    schema: {
      summary: 'Revoke a key at once, with the sessions it began',
      description: 'The last admin key that does not expire cannot be revoked.',
      params: KeyPath,
      response: { 200: KeyOne },
    },
    handler: (request) =>
      database.db.transaction().execute(async (trx) => {
        const row = await requireActive(trx, orgOf(request), request.params.id);
        await requireOtherAdmin(trx, row);
        await revokeApiKey(trx, clock, row.id);
        await recordChange(trx, clock, actorOf(request), { ...changeOf(row), action: 'revoke' });
        return plain({ key: view({ ...row, revoked_at: isoTime(clock) }) });
      }),
  });
}

function changeOf({ id, org_id }: Pick<ApiKeyRow, 'id' | 'org_id'>) {
  return { orgId: org_id, area: 'keys', subject: id };
}
