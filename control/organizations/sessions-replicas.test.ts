/** Keys and sessions at two control planes on one database: what ends at one has ended at the other. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyList, KeyMade } from '#shared/api/keys.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { type Browser, signIn } from '../../test/kit/control/sessions.ts';
import { onSqlite, type TestDatabase, takeDatabase } from '../../test/kit/db/test-database.ts';

describe.skipIf(onSqlite)('two control planes', () => {
  let database: TestDatabase;
  let first: TestControl;
  let second: TestControl;
  const start = () => startControl({ DATABASE_URL: database.address });
  beforeEach(async () => {
    database = await takeDatabase();
    first = await start();
    second = await start();
  });
  afterEach(async () => {
    await first.close();
    await second.close();
    await database.release();
  });

  /** The status of a session at each of them. */
  const seen = async ({ cookie }: Browser) => {
    const ask = async (at: TestControl) =>
      (await at.call('GET', '/v1/session', { key: null, headers: { cookie } })).status;
    return [await ask(first), await ask(second)];
  };
  const through = (at: TestControl, { cookie, csrfToken }: Browser) => ({
    end: (id: string) =>
      at.call('DELETE', `/v1/sessions/${id}`, {
        key: null,
        headers: { cookie, 'x-csrf-token': csrfToken },
      }),
  });

  it('take the session and the CSRF token that the other gave, and end it for both at once', async () => {
    const [one, another] = [await signIn(first, first.key), await signIn(second, first.key)];
    expect([await seen(one), await seen(another)]).toEqual([
      [200, 200],
      [200, 200],
    ]);
    expect((await through(second, one).end(another.id)).status).toBe(200);
    expect([await seen(one), await seen(another)]).toEqual([
      [200, 200],
      [401, 401],
    ]);
  });

  it('stop a key and its sessions at once when the other revokes it', async () => {
    const body = { name: 'App', role: 'member' };
    const made = (await first.call('POST', '/v1/org/keys', { body })).read(KeyMade).data;
    const browser = await signIn(first, made.secret);
    expect(await seen(browser)).toEqual([200, 200]);
    await second.call('DELETE', `/v1/org/keys/${made.key.id}`, { key: first.key });
    expect(await seen(browser)).toEqual([401, 401]);
    for (const at of [first, second]) {
      expect((await at.call('GET', '/v1/pathway', { key: made.secret })).status).toBe(401);
    }
  });

  it('leave one admin key when two of them are revoked at both at the same time', async () => {
    const admin = { name: 'Second', role: 'admin' };
    const made = (await first.call('POST', '/v1/org/keys', { body: admin })).read(KeyMade).data;
    const { keys } = (await first.call('GET', '/v1/org/keys')).read(KeyList).data;
    const own = keys.find(({ id }) => id !== made.key.id)?.id;
    const answers = await Promise.all([
      first.call('DELETE', `/v1/org/keys/${made.key.id}`),
      second.call('DELETE', `/v1/org/keys/${own}`, { key: made.secret }),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});
