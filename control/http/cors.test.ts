import { afterEach, describe, expect, it } from 'vitest';
import { type CallOptions, startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { order, smallPdf, startPortTest, upload } from '../../test/kit/control/porting.ts';
import { servedRoutes } from '../../test/kit/control/routes.ts';
import type { Answer } from '../../test/kit/http/answer.ts';
import { readControlConfig } from '../settings/config.ts';

const origin = 'https://console.example.com';
let test: TestControl;

/** Headers that pages can always read (Fetch standard), and those for the browser itself. */
const notExposed =
  /^(cache-control|content-(language|length|type)|expires|last-modified|pragma|access-control-.*|connection|content-security-policy|date|keep-alive|referrer-policy|transfer-encoding|vary|x-content-type-options|x-frame-options)$/;

afterEach(() => test.close());

const preflight = (url: string, from: string) =>
  test.control.app.inject({
    method: 'OPTIONS',
    url,
    headers: { origin: from, 'access-control-request-method': 'POST' },
  });
const corsHeaders = (headers: object) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describe('CORS', () => {
  it('is off unless the deployment lists origins', async () => {
    test = await startRoutes();
    expect(corsHeaders((await test.call('GET', '/v1/pathway', { headers: { origin } })).headers)).toEqual([]);
    const asked = await preflight('/v1/calls', origin);
    expect([asked.statusCode, corsHeaders(asked.headers)]).toEqual([405, []]);
  });

  it('lets pages of listed origins send requests with keys, and read responses and errors', async () => {
    test = await startRoutes({ CORS_ORIGINS: `https://other.example.com, ${origin}` });
    const asked = await preflight('/v1/calls', origin);
    expect(asked.statusCode).toBe(204);
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': expect.stringContaining('PATCH'),
      'access-control-allow-headers': expect.stringContaining('idempotency-key'),
      vary: 'Origin',
    });
    for (const key of [test.key, null]) {
      const { headers } = await test.call('GET', '/v1/pathway', { key, headers: { origin } });
      expect(headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' });
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
  });

  it('exposes every response header that pages cannot read by default', async () => {
    const porting = await startPortTest({ CORS_ORIGINS: origin, RATE_LIMIT_PER_MINUTE: '1000000' });
    test = porting;
    const sent = new Set<string>();
    const exposed = new Set<string>();
    const note = ({ headers }: Pick<Answer, 'headers'>) => {
      for (const name of Object.keys(headers)) sent.add(name);
      for (const name of String(headers['access-control-expose-headers']).split(', ')) exposed.add(name);
    };
    const ask = async (method: 'GET' | 'POST' | 'PUT', url: string, options: CallOptions = {}) => {
      const answer = await test.call(method, url, { ...options, headers: { origin, ...options.headers } });
      note(answer);
      return answer;
    };
    for (const { access, hasEnd, method, url } of await servedRoutes(test)) {
      if (method === 'GET' && hasEnd && /^\/v[12]\//.test(url)) {
        await ask(method, url, { key: access === 'operator' ? test.operatorKey : test.key });
      }
    }
    // A method that is not allowed, a file, a repeated request, and a rate-limited one.
    await ask('PUT', '/v1/pathway');
    const replayed = { body: { name: 'x' }, headers: { 'idempotency-key': 'k' } };
    for (let again = 0; again < 2; again++) await ask('POST', '/v1/pathway/create', replayed);
    await upload(porting, smallPdf);
    const port = await test.call('POST', '/v1/sip/port/initiate', { body: order(['+14155550190']) });
    await ask('GET', `/v1/sip/port/${String(port.body.data?.port_request_id)}/letter`);
    for (let tries = 0; tries < 31; tries++) await ask('GET', '/v1/pathway', { key: `wrong-${tries}` });
    expect([...sent].filter((name) => !exposed.has(name) && !notExposed.test(name)).sort()).toEqual([]);
    expect([...exposed].filter((name) => !sent.has(name))).toEqual([]);
  });

  it('exposes nothing to pages of other origins, and covers the API only', async () => {
    test = await startRoutes({ CORS_ORIGINS: origin });
    const foreign = await test.call('GET', '/v1/pathway', {
      headers: { origin: 'https://console.example.com.evil.example' },
    });
    expect([corsHeaders(foreign.headers), foreign.headers.vary]).toEqual([[], 'Origin']);
    expect(corsHeaders((await preflight('/v1/calls', 'null')).headers)).toEqual([]);
    expect(corsHeaders((await test.call('GET', '/docs', { headers: { origin } })).headers)).toEqual([]);
  });

  it('accepts only origins in its setting', async () => {
    test = await startRoutes();
    for (const wrong of ['*', 'console.example.com', `${origin}/`, `${origin}/path`, 'null'])
      expect(() => readControlConfig({ CORS_ORIGINS: wrong })).toThrow('CORS_ORIGINS');
  });
});
