/** Every route holds to the least role that it states: by a key, and by a session that the key began. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { keyRoles } from '#shared/api/keys.ts';
import { startControl } from '../../test/kit/control/harness.ts';
import { type ServedRoute, servedRoutes } from '../../test/kit/control/routes.ts';
import { type Browser, keyOfRole, signIn } from '../../test/kit/control/sessions.ts';
import { requireStatedAccess } from '../organizations/guard.ts';
import { createBase } from './base.ts';
import { errorBody, groupOf } from './groups.ts';

const test = await startControl({ RATE_LIMIT_PER_MINUTE: '1000000' }, {}, {}, { begin: false });
afterAll(() => test.close());
/** Longer than every window of a rate limit. */
beforeEach(() => test.clock.advance(15 * 60_000));
const routes = await servedRoutes(test);
const keys = {
  read: await keyOfRole(test, 'read'),
  member: await keyOfRole(test, 'member'),
  admin: test.key,
  operator: test.operatorKey,
};
const withKey = routes.filter(({ access }) => access !== 'public');
const ofRoles = withKey.filter(({ access }) => access === 'customer');
const names = (list: readonly ServedRoute[]) => list.map((route) => [route.name, route] as const);

/** What changes nothing of the organization, although it is no GET. */
const readingOnly = ['POST /v1/sip/parse-destination'];

/** The routes of these roles. A new one is a decision: it is written here. */
const ofAdmins = [
  'DELETE /v1/org/keys/{id}',
  'DELETE /v1/org/recording-storage',
  'DELETE /v1/sip/port/{id}',
  'GET /v1/org/keys',
  'GET /v1/org/keys/{id}',
  'PATCH /v1/org/settings',
  'POST /v1/org/keys',
  'POST /v1/org/keys/{id}/rotate',
  'POST /v1/org/recording-storage/test',
  'POST /v1/org/webhook-secret',
  'POST /v1/sip/port/initiate',
  'PUT /v1/org/recording-storage',
];
const ofAnyKey = [
  'DELETE /v1/session',
  'DELETE /v1/sessions/{id}',
  'GET /v1/session',
  'GET /v1/sessions',
  'POST /v1/session',
];

async function entries(): Promise<number> {
  const { db } = test.control.services.database;
  const { many } = await db
    .selectFrom('audit_entries')
    .select(({ fn }) => fn.countAll<number>().as('many'))
    .executeTakeFirstOrThrow();
  return many;
}

/** Sessions of keys, which serve several tests: to sign in takes longer than most requests. */
const sessions = new Map<string, { readonly browser: Browser; readonly until: number }>();

/** A session of the key; a second one with `name`. */
async function browserOf(key: string, name = ''): Promise<Browser> {
  const known = sessions.get(key + name);
  if (known && test.clock.now() < known.until) return known.browser;
  const browser = await signIn(test, key);
  // Half of the time after which it ends without a request.
  sessions.set(key + name, { browser, until: test.clock.now() + 4 * 60 * 60_000 });
  return browser;
}

/** Written out, so that a mistake in the order of the product shows. */
const below: Readonly<Record<string, readonly string[]>> = {
  read: [],
  member: ['read'],
  admin: ['read', 'member'],
};
const isBelow = (role: string, least: string | null) => below[least ?? '']?.includes(role) ?? false;

/** What a route says about a key whose role is too low. */
function refusal({ leastRole, url }: ServedRoute, role: string) {
  const code = 'ROLE_TOO_LOW';
  const message = `This endpoint needs a key with the role ${leastRole} or higher; the role of this one is ${role}.`;
  const details = { role, least_role: leastRole };
  return errorBody(groupOf(url), 403, [{ error: code, code, message, details }]);
}

describe('roles', () => {
  it('are stated by every route, and what only admins and every key may do is known', () => {
    const withRole = (role: string | null) =>
      withKey.filter((route) => route.leastRole === role).map(({ name }) => name);
    expect(withRole('admin').sort()).toEqual(ofAdmins);
    expect(withRole(null).sort()).toEqual(ofAnyKey);
    const changing = withRole('read').filter((name) => !name.startsWith('GET '));
    expect(changing.sort()).toEqual(readingOnly);
    const operators = withKey.filter(({ name }) => / \/v1\/admin\/| \/metrics$/.test(name));
    expect(operators.filter(({ leastRole }) => leastRole !== 'operator')).toEqual([]);
    expect(withRole('operator')).toEqual(operators.map(({ name }) => name));
  });

  it.each(names(ofRoles))('%s is open to the role that it states and higher ones', async (_, route) => {
    const { leastRole, method, takesSession, url } = route;
    expect((await test.call(method, url, { key: null })).status).toBe(401);
    for (const role of keyRoles.filter((one) => isBelow(one, leastRole))) {
      const before = await entries();
      const refused = await test.call(method, url, { key: keys[role] });
      expect([role, refused.status, refused.body]).toEqual([role, 403, refusal(route, role)]);
      expect(await entries()).toBe(before);
      const browser = await browserOf(keys[role]);
      const signedIn = await entries();
      expect((await browser.call(method, url)).body).toEqual(refused.body);
      expect(await entries()).toBe(signedIn);
    }
    const operator = await test.call(method, url, { key: keys.operator });
    expect([operator.status, operator.codes]).toEqual([401, ['AUTH_FAILURE']]);
    expect(takesSession).toBe(true);
    if (!route.hasEnd) return;
    for (const role of keyRoles.filter((one) => !isBelow(one, leastRole))) {
      const allowed = await test.call(method, url, { key: keys[role] });
      expect([role, allowed.status]).not.toEqual([role, 401]);
      expect([role, allowed.codes]).not.toEqual([role, ['ROLE_TOO_LOW']]);
    }
  });
});

describe('a session', () => {
  const taking = withKey.filter(({ takesSession }) => takesSession);

  it('opens everything that a key opens, except another session', () => {
    expect(withKey.filter((route) => !taking.includes(route)).map(({ name }) => name)).toEqual([
      'POST /v1/session',
    ]);
  });

  it.each(names(taking.filter(({ hasEnd }) => hasEnd)))(
    '%s needs the CSRF token of the session where it changes something',
    async (_, route) => {
      const { method, url } = route;
      const key = route.access === 'operator' ? keys.operator : keys.admin;
      const browser = await browserOf(key);
      const another = await browserOf(key, ' again');
      for (const csrf of [null, '', 'x', another.csrfToken]) {
        const answer = await browser.call(method, url, { csrf });
        if (method === 'GET') expect([csrf, answer.codes]).not.toEqual([csrf, ['CSRF_TOKEN_INVALID']]);
        else expect([csrf, answer.status, answer.codes]).toEqual([csrf, 403, ['CSRF_TOKEN_INVALID']]);
        expect(answer.status).not.toBe(401);
      }
      const right = await browser.call(method, url);
      expect(right.status).not.toBe(401);
      expect(right.codes).not.toEqual(['CSRF_TOKEN_INVALID']);
      if (route.name === 'DELETE /v1/session') sessions.clear();
    },
  );
});

it('a route without a least role does not start', () => {
  const app = createBase({ logger: test.control.app.log, checkAnswers: false });
  requireStatedAccess(app);
  expect(() => app.route({ method: 'GET', url: '/x', handler: async () => ({}) })).toThrow(
    'GET /x does not state its least role',
  );
});
