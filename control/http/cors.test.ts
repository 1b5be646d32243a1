import { afterEach, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { readControlConfig } from '../settings/config.ts';

const origin = 'https://console.example.com';
let test: TestControl;
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
  it('is closed unless the deployment lists origins', async () => {
    test = await startControl();
    expect(corsHeaders((await test.call('GET', '/v1/pathway', { headers: { origin } })).headers)).toEqual([]);
    const asked = await preflight('/v1/calls', origin);
    expect([asked.statusCode, corsHeaders(asked.headers)]).toEqual([405, []]);
  });

  it('lets pages of listed origins ask, send keys, and read answers and refusals', async () => {
    test = await startControl({ CORS_ORIGINS: `https://other.example.com, ${origin}` });
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

  it('tells pages of other origins nothing, and covers the API only', async () => {
    test = await startControl({ CORS_ORIGINS: origin });
    const foreign = await test.call('GET', '/v1/pathway', {
      headers: { origin: 'https://console.example.com.evil.example' },
    });
    expect([corsHeaders(foreign.headers), foreign.headers.vary]).toEqual([[], 'Origin']);
    expect(corsHeaders((await preflight('/v1/calls', 'null')).headers)).toEqual([]);
    expect(corsHeaders((await test.call('GET', '/docs', { headers: { origin } })).headers)).toEqual([]);
  });

  it('takes origins only in its setting', async () => {
    test = await startControl();
    for (const wrong of ['*', 'console.example.com', `${origin}/`, `${origin}/path`, 'null'])
      expect(() => readControlConfig({ CORS_ORIGINS: wrong })).toThrow('CORS_ORIGINS');
  });
});
