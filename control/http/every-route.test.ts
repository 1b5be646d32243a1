/** The conventions of contract section 1, on every served route. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startControl } from '../../test/kit/control/harness.ts';
import { type ServedRoute, servedRoutes } from '../../test/kit/control/routes.ts';
import type { Answer } from '../../test/kit/http/answer.ts';
import { errorBody, groupOf } from './groups.ts';

const test = await startControl({ RATE_LIMIT_PER_MINUTE: '1000000' }, {}, {}, { begin: false });
afterAll(() => test.close());
/** Longer than every window of a rate limit. */
beforeEach(() => test.clock.advance(15 * 60_000));
const routes = await servedRoutes(test);
const withKey = routes.filter((route) => route.access !== 'public');
const withBody = withKey.filter((route) => route.body && route.contentType === 'application/json');

const keyFor = (route: ServedRoute) => (route.access === 'operator' ? test.operatorKey : test.key);

function send(route: ServedRoute, payload: string, type = 'application/json'): Promise<Answer> {
  const headers = { 'content-type': type };
  return test.call(route.method, route.url, { key: keyFor(route), headers, body: payload });
}

const unauthorized = { error: 'AUTH_FAILURE', code: 'AUTH_FAILURE', message: 'Unauthorized' } as const;
const names = (list: readonly ServedRoute[]) => list.map((route) => [route.name, route] as const);

describe('every route', () => {
  it('is covered', () => {
    expect(routes.length).toBeGreaterThan(40);
    expect(withBody.length).toBeGreaterThan(15);
  });

  it.each(names(routes))('%s echoes the request id and forbids storing and sniffing', async (_, route) => {
    const answer = await test.call(route.method, route.url, {
      key: null,
      headers: { 'x-request-id': 'a.B-1' },
    });
    expect(answer.headers).toMatchObject({
      'x-request-id': 'a.B-1',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.status).toBeLessThan(500);
  });

  it.each(names(routes))(
    '%s lists its methods for a wrong one, before it requires a key',
    async (_, route) => {
      const method = (['PUT', 'PATCH', 'DELETE', 'POST', 'GET'] as const).find(
        (one) => !route.methods.includes(one),
      );
      if (!method) throw new Error(`${route.url} takes every method`);
      const answer = await test.call(method, route.url, { key: null });
      expect(answer.status).toBe(405);
      expect(answer.codes).toEqual(['METHOD_NOT_ALLOWED']);
      const allowed = String(answer.headers.allow).split(', ');
      expect(allowed).toEqual(expect.arrayContaining([...route.methods]));
      expect(allowed).not.toContain(method);
    },
  );
});

describe('every route with a key', () => {
  it.each(names(withKey))('%s rejects requests without a key, and with an unknown one', async (_, route) => {
    for (const key of [null, 'tk_unknown']) {
      const answer = await test.call(route.method, route.url, { key });
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual({ ...errorBody(groupOf(route.url), 401, [unauthorized]), data: null });
    }
  });

  const ofOneKind = withKey.filter(({ access }) => access !== 'any');

  it.each(names(ofOneKind))('%s rejects a key of the other kind', async (_, route) => {
    const isOperator = route.access === 'operator';
    const answer = await test.call(route.method, route.url, {
      key: isOperator ? test.key : test.operatorKey,
    });
    expect([answer.status, answer.codes]).toEqual(
      isOperator ? [403, ['OPERATOR_KEY_REQUIRED']] : [401, ['AUTH_FAILURE']],
    );
  });

  const ending = withKey.filter(({ hasEnd }) => hasEnd);
  it.each(names(ending))('%s reports how many requests are left', async (_, route) => {
    const answer = await test.call(route.method, route.url, { key: keyFor(route) });
    expect(Number(answer.headers['ratelimit-limit'])).toBeGreaterThan(0);
    expect(Number(answer.headers['ratelimit-remaining'])).toBeGreaterThanOrEqual(0);
    expect(answer.headers['ratelimit-reset']).toMatch(/^[1-9][0-9]*$/);
  });
});

describe('every route that takes a body', () => {
  it('has a schema for it', () => {
    const writing = withKey.filter(({ method }) => ['POST', 'PUT', 'PATCH'].includes(method));
    expect(writing.filter(({ body }) => body === undefined).map(({ name }) => name)).toEqual([]);
  });
});

describe('every route of a widget', () => {
  const ofWidget = withKey.filter(({ url }) => url.startsWith('/v1/widget/'));

  it.each(names(ofWidget))('%s lists the error for an invalid id in the OpenAPI document', (_, route) => {
    expect(route.codes['400']).toContain('INVALID_PARAMETER');
  });
});

describe('every DELETE', () => {
  const deleting = withKey.filter(({ method }) => method === 'DELETE');

  it('is covered', () => expect(deleting.length).toBeGreaterThan(5));

  it.each(names(deleting))('%s lists its conflicts in the OpenAPI document', (_, route) => {
    expect(route.statuses).toEqual(expect.arrayContaining(['400', '413', '415']));
  });

  it.each(names(deleting))('%s rejects a non-empty body before it looks up its row', async (_, route) => {
    const refused = await send(route, '{"first":1,"second":{}}');
    expect([refused.status, refused.body.errors]).toMatchObject([
      400,
      [
        { code: 'UNKNOWN_PROPERTY', details: { path: '/first' } },
        { code: 'UNKNOWN_PROPERTY', details: { path: '/second' } },
      ],
    ]);
    expect((await send(route, '[1]')).codes).toEqual(['INVALID_JSON']);
    expect((await send(route, 'a=1', 'application/x-www-form-urlencoded')).status).toBe(415);
    for (const nothing of ['', '{}']) expect((await send(route, nothing)).status).toBe(404);
  });
});

describe('every route with a JSON body', () => {
  it.each(names(withBody))('%s rejects an unknown property', async (_, route) => {
    const answer = await send(route, JSON.stringify({ ...route.example, nonsense_property: 1 }));
    expect(answer.body.errors).toMatchObject([
      { code: 'UNKNOWN_PROPERTY', details: { path: '/nonsense_property' } },
    ]);
    expect(answer.status).toBe(400);
  });

  it.each(names(withBody))('%s rejects anything but a JSON object', async (_, route) => {
    for (const payload of ['{', '[]', '"text"', '1']) {
      const answer = await send(route, payload);
      expect([answer.status, answer.codes]).toEqual([400, ['INVALID_JSON']]);
    }
  });

  it.each(names(withBody))('%s rejects another content type', async (_, route) => {
    const answer = await send(route, 'a=1', 'application/x-www-form-urlencoded');
    expect([answer.status, answer.codes]).toEqual([415, ['UNSUPPORTED_MEDIA_TYPE']]);
  });

  it.each(names(withBody))('%s rejects more than 1 MiB', async (_, route) => {
    const answer = await send(route, JSON.stringify({ text: 'x'.repeat(1_048_576) }));
    expect([answer.status, answer.codes]).toEqual([413, ['PAYLOAD_TOO_LARGE']]);
  });
});
