/** Sessions of browsers (contract 14.6): the cookie, when they end, who sees and ends them, and what stays unreadable. */
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { AuditPage } from '#shared/api/audit.ts';
import { CurrentSessionAnswer, KeyList, KeyMade, SessionList } from '#shared/api/keys.ts';
import { startControl, startRoutes } from '../../test/kit/control/harness.ts';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { type Browser, keyOfRole, signIn } from '../../test/kit/control/sessions.ts';
import { pruneSessions } from './session-store.ts';
import { createApiKey, setDisabled } from './store.ts';

const test = routesOfFile({ RATE_LIMIT_PER_MINUTE: '1000000' });

const hour = 60 * 60 * 1000;
const status = async (browser: Browser) => (await browser.call('GET', '/v1/session')).status;
const asSeenBy = async (key: string, query = '') =>
  (await test.call('GET', `/v1/sessions?${query}`, { key })).read(SessionList).data;

describe('a sign-in', () => {
  it('sets a cookie for this host alone that no page can read, and says who is signed in', async () => {
    const answer = await test.call('POST', '/v1/session', { headers: { 'user-agent': 'Firefox' } });
    const { data } = answer.read(CurrentSessionAnswer);
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^trunkline_session=ts_[A-Za-z0-9_-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
      ),
    ]);
    const now = test.clock.now();
    const iso = (ms: number) => new Date(now + ms).toISOString();
    const key = { id: expect.any(String), name: 'test', begins: test.key.slice(0, 9) };
    expect(data).toEqual({
      role: 'admin',
      key,
      organization: { id: test.orgId, name: 'Own', sip_enabled: true },
      session: {
        id: expect.any(String),
        key,
        role: 'admin',
        created_at: iso(0),
        last_used_at: iso(0),
        idle_until: iso(8 * hour),
        expires_at: iso(7 * 24 * hour),
        address: expect.stringMatching(/127\.0\.0\.1$/),
        user_agent: 'Firefox',
      },
      csrf_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    });
  });

  it('is for operators, too', async () => {
    const browser = await signIn(test, test.operatorKey);
    const { data } = (await browser.call('GET', '/v1/session')).read(CurrentSessionAnswer);
    expect(data).toMatchObject({ role: 'operator', organization: null, csrf_token: browser.csrfToken });
    expect((await browser.call('GET', '/v1/admin/edges')).status).toBe(200);
    expect((await browser.call('GET', '/v1/pathway')).status).toBe(401);
  });

  it('needs the key itself: neither a session nor nothing begins another', async () => {
    const browser = await signIn(test, test.key);
    expect((await browser.call('POST', '/v1/session')).status).toBe(401);
    expect((await test.call('POST', '/v1/session', { key: null })).status).toBe(401);
    expect((await test.call('POST', '/v1/session', { body: { key: test.key }, key: null })).status).toBe(401);
  });

  it('ends the session that the browser had', async () => {
    const first = await signIn(test, test.key);
    const second = await signIn(test, test.key, { cookie: first.cookie });
    expect([await status(first), await status(second)]).toEqual([401, 200]);
    expect(second.csrfToken).not.toBe(first.csrfToken);
  });

  it('is not repeated by an Idempotency-Key, because its cookie is not kept', async () => {
    const headers = { 'idempotency-key': 'one' };
    const [first, second] = [await signIn(test, test.key, headers), await signIn(test, test.key, headers)];
    expect(first.id).not.toBe(second.id);
    expect([await status(first), await status(second)]).toEqual([200, 200]);
  });

  it('is limited to 60 a minute', async () => {
    for (let count = 0; count < 60; count++) await signIn(test, test.key);
    const refused = await test.call('POST', '/v1/session');
    expect([refused.codes, refused.errors[0]?.details?.scope]).toEqual([['RATE_LIMITED'], 'sign_ins']);
  });
});

describe('a cookie', () => {
  it.each([
    ['localhost:8080', 'plain'],
    ['127.0.0.1', 'plain'],
    ['127.1.2.3:80', 'plain'],
    ['[::1]:8080', 'plain'],
    ['console.localhost', 'plain'],
    ['pbx.example.com', 'secure'],
    ['localhost.example.com', 'secure'],
    ['127.example.com', 'secure'],
    ['192.0.2.1', 'secure'],
  ])('of %s over HTTP from this machine is %s', async (host, kind) => {
    const { cookie, setCookie } = await signIn(test, test.key, { host });
    const secure = /^__Host-trunkline_session=ts_.*; Path=\/; .*; Secure$/;
    const plain = /^trunkline_session=ts_[^;]*; (?!.*Secure)/;
    expect(setCookie).toMatch(kind === 'secure' ? secure : plain);
    const ask = (at: string, sent: string) =>
      test.call('GET', '/v1/session', { key: null, headers: { host: at, cookie: sent } });
    expect((await ask(host, `other=1; ${cookie}; more=2`)).status).toBe(200);
    // Elsewhere a cookie without the prefix may come from another host of the domain.
    const bare = cookie.replace('__Host-', '');
    expect((await ask('pbx.example.com', bare)).status).toBe(401);
  });

  it('is secure behind a proxy that has TLS, also on this machine', async () => {
    const behind = await startRoutes({ TRUSTED_PROXIES: '127.0.0.0/8' });
    const proxied = { host: 'localhost', 'x-forwarded-proto': 'https', 'x-forwarded-for': '127.0.0.1' };
    expect((await signIn(behind, behind.key, proxied)).setCookie).toContain('; Secure');
    const remote = { host: 'localhost', 'x-forwarded-for': '198.51.100.7' };
    expect((await signIn(behind, behind.key, remote)).setCookie).toContain('; Secure');
    await behind.close();
  });

  it('does not count when the request has a key: the key decides', async () => {
    const browser = await signIn(test, test.key);
    const headers = { cookie: browser.cookie };
    const other = await test.call('GET', '/v1/session', { key: test.foreignKey, headers });
    expect(other.read(CurrentSessionAnswer).data).toMatchObject({
      organization: { id: test.foreignOrgId },
      session: null,
      csrf_token: null,
    });
    expect((await test.call('GET', '/v1/session', { key: 'tk_wrong', headers })).status).toBe(401);
    // A request with a key needs no CSRF token.
    expect((await test.call('POST', '/v1/pathway/create', { headers, body: { name: 'p' } })).status).toBe(
      200,
    );
  });

  it.each(['trunkline_session=', 'trunkline_session', ';;=', 'trunkline_session=tk_x; x', '=ts_abc'])(
    'that is none counts as no key: %j',
    async (cookie) => {
      for (let count = 0; count < 35; count++) {
        const answer = await test.call('GET', '/v1/session', { key: null, headers: { cookie } });
        expect([answer.status, answer.codes]).toEqual([401, ['AUTH_FAILURE']]);
      }
    },
  );
});

describe('a session', () => {
  it('ends eight hours after its last request', async () => {
    const browser = await signIn(test, test.key);
    test.clock.advance(8 * hour - 1);
    expect(await status(browser)).toBe(200);
    test.clock.advance(8 * hour - 1);
    expect(await status(browser)).toBe(200);
    test.clock.advance(8 * hour);
    expect(await status(browser)).toBe(401);
    expect((await asSeenBy(test.key)).total_count).toBe(0);
  });

  it('ends seven days after it began, however much it is used', async () => {
    const browser = await signIn(test, test.key);
    for (let passed = 0; passed < 7 * 24 - 4; passed += 4) {
      test.clock.advance(4 * hour);
      expect(await status(browser)).toBe(200);
    }
    const { data } = (await browser.call('GET', '/v1/session')).read(CurrentSessionAnswer);
    expect(data.session?.idle_until).toBe(data.session?.expires_at);
    test.clock.advance(4 * hour);
    expect(await status(browser)).toBe(401);
  });

  it('ends with its key: revoked, rotated or of a disabled organization', async () => {
    const made = (await test.call('POST', '/v1/org/keys', { body: { name: 'a', role: 'member' } })).read(
      KeyMade,
    ).data;
    const url = `/v1/org/keys/${made.key.id}`;
    const browser = await signIn(test, made.secret);
    await test.call('POST', `${url}/rotate`, { body: { overlap_seconds: 60 } });
    expect(await status(browser)).toBe(200);
    test.clock.advance(60_000);
    expect(await status(browser)).toBe(401);
    const own = await signIn(test, test.key);
    const { db } = test.control.services.database;
    await setDisabled(db, test.clock, test.orgId, true);
    expect(await status(own)).toBe(401);
    await setDisabled(db, test.clock, test.orgId, false);
    expect(await status(own)).toBe(200);
    const second = await keyOfRole(test, 'admin');
    const others = await signIn(test, second);
    const { sessions } = await asSeenBy(second);
    const { id } = sessions.find((one) => one.id === others.id)?.key ?? {};
    await test.call('DELETE', `/v1/org/keys/${id}`);
    expect(await status(others)).toBe(401);
  });

  it('ends by sign-out, which removes the cookie', async () => {
    const browser = await signIn(test, test.key);
    const out = await browser.call('DELETE', '/v1/session');
    expect([out.status, out.body.data]).toEqual([200, { id: browser.id }]);
    expect(out.headers['set-cookie']).toEqual([
      'trunkline_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
    ]);
    expect(await status(browser)).toBe(401);
    const withKey = await test.call('DELETE', '/v1/session');
    expect([withKey.status, withKey.codes]).toEqual([404, ['SESSION_NOT_FOUND']]);
  });

  it('is one of 50 of its key: the one that was used least recently ends for another', async () => {
    const browsers: Browser[] = [];
    for (let count = 0; count < 50; count++) {
      test.clock.advance(61_000);
      browsers.push(await signIn(test, test.key));
    }
    const [first, second] = browsers;
    if (!first || !second) throw new Error('no browsers');
    test.clock.advance(61_000);
    expect(await status(first)).toBe(200);
    const last = await signIn(test, test.key);
    expect([await status(first), await status(second), await status(last)]).toEqual([200, 401, 200]);
    expect((await asSeenBy(test.key, 'limit=500')).total_count).toBe(50);
  });

  it('counts with its key and its organization in the rate limits, and its use is the use of the key', async () => {
    const limited = await startRoutes({ RATE_LIMIT_PER_MINUTE: '4' });
    const browser = await signIn(limited, limited.key);
    const answer = await limited.call('GET', '/v1/pathway');
    expect(answer.headers['ratelimit-remaining']).toBe('2');
    const own = await browser.call('GET', '/v1/pathway');
    expect([own.status, own.headers['ratelimit-remaining']]).toEqual([200, '1']);
    limited.clock.advance(120_000);
    await browser.call('GET', '/v1/pathway');
    const { keys } = (await limited.call('GET', '/v1/org/keys')).read(KeyList).data;
    expect(keys[0]?.last_used_at).toBe(new Date(limited.clock.now()).toISOString());
    limited.clock.advance(120_000);
    // More keys make more requests, up to ten times those of one.
    const { db } = limited.control.services.database;
    const owner = { kind: 'customer', orgId: limited.orgId, role: 'read' } as const;
    for (let key = 0; key < 10; key++) {
      const more = await createApiKey(db, limited.clock, owner, 'more');
      for (let asked = 0; asked < 4; asked++)
        expect((await limited.call('GET', '/v1/pathway', { key: more })).status).toBe(200);
    }
    const refused = await browser.call('GET', '/v1/session');
    const details = { limit: 40, window_seconds: 60, scope: 'organization' };
    expect(refused.body.errors).toMatchObject([{ code: 'RATE_LIMITED', details }]);
    expect((await limited.call('GET', '/v1/pathway', { key: limited.foreignKey })).status).toBe(200);
    limited.clock.advance(61_000);
    expect((await browser.call('GET', '/v1/session')).status).toBe(200);
    await limited.close();
  });
});

describe('sessions are listed and ended', () => {
  let admin: Browser;
  let reader: Browser;
  let readKey: string;
  let operator: Browser;
  beforeEach(async () => {
    readKey = await keyOfRole(test, 'read');
    admin = await signIn(test, test.key);
    test.clock.advance(1000);
    reader = await signIn(test, readKey);
    operator = await signIn(test, test.operatorKey);
  });
  const end = (by: Browser, id: string) => by.call('DELETE', `/v1/sessions/${id}`);

  it('by an admin those of the organization, with pages', async () => {
    const all = (await admin.call('GET', '/v1/sessions')).read(SessionList).data;
    expect(all.sessions.map(({ id, current, role }) => [id, current, role])).toEqual([
      [reader.id, false, 'read'],
      [admin.id, true, 'admin'],
    ]);
    expect(all.total_count).toBe(2);
    const second = (await admin.call('GET', '/v1/sessions?limit=1&offset=1')).read(SessionList).data;
    expect([second.sessions.map(({ id }) => id), second.total_count]).toEqual([[admin.id], 2]);
    expect((await end(admin, reader.id)).body.data).toEqual({ id: reader.id });
    expect([await status(reader), await status(admin)]).toEqual([401, 200]);
    expect((await end(admin, reader.id)).codes).toEqual(['SESSION_NOT_FOUND']);
  });

  it('by another role those of its own key', async () => {
    const own = (await reader.call('GET', '/v1/sessions')).read(SessionList).data;
    expect(own.sessions.map(({ id }) => id)).toEqual([reader.id]);
    expect((await end(reader, admin.id)).codes).toEqual(['SESSION_NOT_FOUND']);
    expect(await status(admin)).toBe(200);
    const again = await signIn(test, readKey);
    expect((await end(again, reader.id)).status).toBe(200);
    expect(await status(reader)).toBe(401);
  });

  it('by an operator those of all operators, and by nobody another organization’s', async () => {
    const all = (await operator.call('GET', '/v1/sessions?limit=500')).read(SessionList).data;
    expect(all.sessions.map(({ id }) => id)).toContain(operator.id);
    expect(new Set(all.sessions.map(({ role }) => role))).toEqual(new Set(['operator']));
    expect((await end(operator, admin.id)).codes).toEqual(['SESSION_NOT_FOUND']);
    const stranger = await signIn(test, test.foreignKey);
    expect((await end(stranger, admin.id)).codes).toEqual(['SESSION_NOT_FOUND']);
    expect((await asSeenBy(test.foreignKey)).sessions.map(({ id }) => id)).toEqual([stranger.id]);
    expect([await status(admin), await status(operator)]).toEqual([200, 200]);
  });

  it('with an entry in the log of changes for begin and end, and for what they change under their key', async () => {
    await admin.call('PATCH', '/v1/org/settings', { body: { alert_emails: [] } });
    await end(admin, reader.id);
    const { entries } = (await test.call('GET', '/v1/org/audit')).read(AuditPage).data;
    const own = { kind: 'api_key', key: test.key.slice(0, 9) };
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ area: 'sessions', action: 'begin', subject_id: admin.id, actor: own }),
        expect.objectContaining({ area: 'sessions', action: 'end', subject_id: reader.id, actor: own }),
        expect.objectContaining({ area: 'organization', action: 'update', actor: own }),
      ]),
    );
  });
});

describe('a wrong session', () => {
  it('is a guess like a wrong key; one that has ended is none', async () => {
    const guessed = await startRoutes();
    const cookie = (token: string) => ({ key: null, headers: { cookie: `trunkline_session=${token}` } });
    const browser = await signIn(guessed, guessed.key);
    await browser.call('DELETE', '/v1/session');
    for (let count = 0; count < 400; count++)
      expect((await browser.call('GET', '/v1/pathway')).status).toBe(401);
    for (let guess = 0; guess < 15; guess++) {
      expect((await guessed.call('GET', '/v1/session', cookie(`ts_${guess}`))).status).toBe(401);
      expect((await guessed.call('GET', '/v1/session', { key: `tk_${guess}` })).status).toBe(401);
    }
    const slowed = await guessed.call('GET', '/v1/session', cookie('ts_more'));
    expect([slowed.status, slowed.errors[0]?.details?.scope]).toEqual([429, 'wrong_keys']);
    const right = await signIn(guessed, guessed.key);
    expect((await right.call('GET', '/v1/session')).status).toBe(200);
    await guessed.close();
  });
});

it('sessions whose longest time is over are swept, with their addresses', async () => {
  const { db } = test.control.services.database;
  const rows = () => db.selectFrom('sessions').select('id').where('org_id', '=', test.orgId).execute();
  await signIn(test, test.key);
  test.clock.advance(7 * 24 * hour - 1);
  await pruneSessions(db, test.clock);
  expect(await rows()).toHaveLength(1);
  test.clock.advance(1);
  await pruneSessions(db, test.clock);
  expect(await rows()).toHaveLength(0);
});

it('neither key, cookie nor CSRF token is in the log, in errors or in metrics', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const logged = await startControl({}, {}, {}, { logger });
  const made = (await logged.call('POST', '/v1/org/keys', { body: { name: 'a', role: 'read' } })).read(
    KeyMade,
  ).data;
  const browser = await signIn(logged, logged.key);
  const refused = [
    await browser.call('POST', '/v1/org/webhook-secret', { csrf: 'wrong' }),
    await browser.call('POST', '/v1/pathway/create', { body: { nonsense: true } }),
    await browser.call('GET', `/v1/org/keys/${made.secret}`),
    await logged.call('POST', '/v1/pathway/create', { key: made.secret }),
  ];
  expect(refused.map(({ status: one }) => one)).toEqual([403, 400, 404, 403]);
  const metrics = await logged.call('GET', '/metrics', { key: logged.operatorKey });
  expect(metrics.text).toContain('trunkline_control_sessions_total{event="begun"} 1');
  expect(metrics.text).toContain('trunkline_control_access_refused_total{reason="csrf"} 1');
  expect(metrics.text).toContain('trunkline_control_access_refused_total{reason="role"} 1');
  await logged.close();
  const [, token = ''] = browser.cookie.split('=');
  const written = [...lines, ...refused.map(({ text }) => text)];
  expect(written.join('\n')).toContain('/v1/session');
  for (const secret of [token, browser.csrfToken, logged.key, made.secret]) {
    expect(secret.length).toBeGreaterThan(40);
    expect([...written, metrics.text].join('\n')).not.toContain(secret);
  }
});
