/** Keys over HTTP (contract 14.5): shown once, listed, rotated with an overlap, revoked at once, never the last of an admin. */
import { describe, expect, it } from 'vitest';
import { AuditPage } from '#shared/api/audit.ts';
import { KeyList, KeyMade, KeyOne, KeyRotated } from '#shared/api/keys.ts';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { keyOfRole } from '../../test/kit/control/sessions.ts';
import { createApiKey, listApiKeys } from './store.ts';

const url = '/v1/org/keys';

const test = routesOfFile({ RATE_LIMIT_PER_MINUTE: '1000000' });

const create = async (role: string, name = 'Ada') =>
  (await test.call('POST', url, { body: { name, role } })).read(KeyMade).data;
const keys = async (query = '') => (await test.call('GET', `${url}?${query}`)).read(KeyList).data;
const works = async (key: string) => (await test.call('GET', '/v1/pathway', { key })).status === 200;
const hour = 60 * 60 * 1000;

async function entries(): Promise<string[]> {
  const page = await test.call('GET', '/v1/org/audit?area=keys');
  return page.read(AuditPage).data.entries.map(({ action, subject_id }) => `${action} ${subject_id}`);
}

describe('a key', () => {
  it('is shown once, and works with its role', async () => {
    const made = await create('read', 'Reports');
    expect(made.secret).toMatch(/^tk_[A-Za-z0-9_-]{43}$/);
    expect(made.key).toMatchObject({
      name: 'Reports',
      role: 'read',
      state: 'active',
      begins: made.secret.slice(0, 9),
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
    });
    expect(await works(made.secret)).toBe(true);
    const refused = await test.call('POST', '/v1/pathway/create', { key: made.secret, body: { name: 'p' } });
    expect(refused.body).toMatchObject({
      status: 'error',
      message: 'This endpoint needs a key with the role member or higher; the role of this one is read.',
      errors: [{ code: 'ROLE_TOO_LOW', details: { role: 'read', least_role: 'member' } }],
    });
    const listed = await test.call('GET', url);
    expect(listed.text).not.toContain(made.secret);
    const one = (await test.call('GET', `${url}/${made.key.id}`)).read(KeyOne).data.key;
    expect(one).toEqual({ ...made.key, last_used_at: expect.any(String) });
    expect(await entries()).toEqual([`create ${made.key.id}`]);
  });

  it('made before there were roles may do everything, as it could', async () => {
    const { db } = test.control.services.database;
    const [before] = await listApiKeys(db, test.orgId);
    expect(before?.role).toBe('admin');
    expect((await test.call('PATCH', '/v1/org/settings', { body: { alert_emails: [] } })).status).toBe(200);
  });

  it('is one of the three roles, with a name', async () => {
    for (const body of [
      { name: 'a', role: 'operator' },
      { name: '', role: 'read' },
      { role: 'read' },
      { name: 'a' },
    ]) {
      expect((await test.call('POST', url, { body })).codes).toEqual(['INVALID_PARAMETER']);
    }
  });

  it('is made once for one Idempotency-Key, and the repeated answer shows it again', async () => {
    const ask = () =>
      test.call('POST', url, { body: { name: 'a', role: 'read' }, headers: { 'idempotency-key': 'one' } });
    const [first, again] = [await ask(), await ask()];
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await keys()).total_count).toBe(2);
  });
});

describe('the list', () => {
  it('has pages, newest first, with the total, and tells keys that work from ended ones', async () => {
    const made = [];
    for (const name of ['a', 'b', 'c']) {
      test.clock.advance(1000);
      made.push(await create('member', name));
    }
    const [first, second, third] = made;
    expect((await keys('limit=2')).keys.map(({ name }) => name)).toEqual(['c', 'b']);
    const rest = await keys('limit=2&offset=2');
    expect(rest.keys.map(({ name }) => name)).toEqual(['a', 'test']);
    expect(rest.total_count).toBe(4);
    await test.call('DELETE', `${url}/${first?.key.id}`);
    test.clock.advance(1000);
    await test.call('POST', `${url}/${second?.key.id}/rotate`, { body: { overlap_seconds: 60 } });
    test.clock.advance(61_000);
    const ended = await keys('state=ended');
    expect(ended.keys.map(({ name, state }) => `${name} ${state}`)).toEqual(['b expired', 'a revoked']);
    const active = await keys('state=active');
    expect(active.keys.map(({ name }) => name)).toEqual(['b', 'c', 'test']);
    expect(active.keys.map(({ id }) => id)).toContain(third?.key.id);
  });

  it('ends at 100 keys that work, and forgets the oldest of 500 ended ones', async () => {
    const { db } = test.control.services.database;
    const { clock, orgId } = test;
    for (let index = 0; index < 99; index++)
      await createApiKey(db, clock, { kind: 'customer', orgId, role: 'read' }, 'many');
    const refused = await test.call('POST', url, { body: { name: 'one more', role: 'read' } });
    expect([refused.status, refused.codes, refused.errors[0]?.details]).toEqual([
      409,
      ['QUOTA_EXCEEDED'],
      { quota: 'keys', limit: 100 },
    ]);
    const { keys: active } = await keys('limit=100');
    const last = active.find(({ name }) => name === 'many');
    // Rotated without an overlap it takes no more room.
    const rotated = await test.call('POST', `${url}/${last?.id}/rotate`, { body: { overlap_seconds: 0 } });
    expect(rotated.status).toBe(200);
    await db
      .updateTable('api_keys')
      .set({ revoked_at: '2030-01-01T00:00:00.000Z' })
      .where('name', '=', 'many')
      .where('org_id', '=', orgId)
      .execute();
    for (let index = 0; index < 450; index++) {
      await createApiKey(db, clock, { kind: 'customer', orgId, role: 'read' }, 'old');
    }
    await db
      .updateTable('api_keys')
      .set({ revoked_at: '2020-01-01T00:00:00.000Z', created_at: '2020-01-01T00:00:00.000Z' })
      .where('name', '=', 'old')
      .where('org_id', '=', orgId)
      .execute();
    await create('read');
    expect((await keys('state=ended')).total_count).toBe(500);
  });
});

describe('a rotated key', () => {
  it('works beside its successor for the overlap, and then no more', async () => {
    const made = await create('member', 'App');
    const { key, secret, former } = (
      await test.call('POST', `${url}/${made.key.id}/rotate`, { body: { overlap_seconds: 3600 } })
    ).read(KeyRotated).data;
    expect(key).toMatchObject({ name: 'App', role: 'member', state: 'active', expires_at: null });
    expect(key.id).not.toBe(made.key.id);
    expect(former).toMatchObject({
      id: made.key.id,
      state: 'active',
      expires_at: new Date(test.clock.now() + hour).toISOString(),
    });
    expect([await works(made.secret), await works(secret)]).toEqual([true, true]);
    test.clock.advance(hour - 1);
    expect(await works(made.secret)).toBe(true);
    test.clock.advance(1);
    expect([await works(made.secret), await works(secret)]).toEqual([false, true]);
    expect((await entries()).toSorted()).toEqual(
      [`create ${made.key.id}`, `create ${key.id}`, `rotate ${made.key.id}`].toSorted(),
    );
  });

  it('stops at once without an overlap, has a day without a word of it, and at most 30 days', async () => {
    const made = await create('read');
    const ended = (
      await test.call('POST', `${url}/${made.key.id}/rotate`, { body: { overlap_seconds: 0 } })
    ).read(KeyRotated).data;
    expect(ended.former).toMatchObject({ state: 'revoked', expires_at: null });
    expect([await works(made.secret), await works(ended.secret)]).toEqual([false, true]);
    const long = `${url}/${ended.key.id}/rotate`;
    const body = { overlap_seconds: 30 * 24 * 3600 + 1 };
    expect((await test.call('POST', long, { body })).codes).toEqual(['INVALID_PARAMETER']);
    const usual = (await test.call('POST', long)).read(KeyRotated).data;
    expect(usual.former.expires_at).toBe(new Date(test.clock.now() + 24 * hour).toISOString());
  });

  it('can be rotated again, which lets it work no longer than before', async () => {
    const made = await create('read');
    const rotate = async (overlap_seconds: number) =>
      (await test.call('POST', `${url}/${made.key.id}/rotate`, { body: { overlap_seconds } })).read(
        KeyRotated,
      ).data.former.expires_at;
    const first = await rotate(60);
    expect(await rotate(3600)).toBe(first);
    expect(Date.parse((await rotate(30)) ?? '')).toBe(test.clock.now() + 30_000);
  });
});

describe('a revoked key', () => {
  it('stops at once, and cannot be revoked or rotated again', async () => {
    const made = await create('admin');
    const revoked = (await test.call('DELETE', `${url}/${made.key.id}`)).read(KeyOne).data.key;
    expect(revoked).toMatchObject({ state: 'revoked', revoked_at: new Date(test.clock.now()).toISOString() });
    expect(await works(made.secret)).toBe(false);
    for (const answer of [
      await test.call('DELETE', `${url}/${made.key.id}`),
      await test.call('POST', `${url}/${made.key.id}/rotate`),
    ]) {
      expect([answer.status, answer.codes]).toEqual([409, ['KEY_NOT_ACTIVE']]);
    }
    expect(await entries()).toEqual(
      expect.arrayContaining([`revoke ${made.key.id}`, `create ${made.key.id}`]),
    );
  });

  it('is never the last admin key that does not expire', async () => {
    const [{ id = '' } = {}] = (await keys()).keys;
    await keyOfRole(test, 'member');
    const refused = await test.call('DELETE', `${url}/${id}`);
    expect([refused.status, refused.codes]).toEqual([409, ['LAST_ADMIN_KEY']]);
    expect(await works(test.key)).toBe(true);
    const { key, secret } = (await test.call('POST', `${url}/${id}/rotate`)).read(KeyRotated).data;
    // The former one still works, but not for long.
    const next = await test.call('DELETE', `${url}/${key.id}`, { key: secret });
    expect(next.codes).toEqual(['LAST_ADMIN_KEY']);
    expect((await test.call('DELETE', `${url}/${id}`, { key: secret })).status).toBe(200);
    expect(await works(test.key)).toBe(false);
  });

  it('is one of two that admins revoke at the same time, not both', async () => {
    const other = await create('admin');
    const [{ id = '' } = {}] = (await keys()).keys.filter((one) => one.id !== other.key.id);
    const answers = await Promise.all([
      test.call('DELETE', `${url}/${other.key.id}`),
      test.call('DELETE', `${url}/${id}`, { key: other.secret }),
    ]);
    const statuses = answers.map(({ status }) => status).toSorted();
    // The second one is refused: its key was revoked, or is the last.
    expect(statuses[0]).toBe(200);
    expect([401, 409]).toContain(statuses[1]);
  });
});
