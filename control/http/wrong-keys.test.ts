import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FakeClock } from '#shared/clock.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { WrongKeys } from './wrong-keys.ts';

describe('WrongKeys', () => {
  const tries = (keys: WrongKeys, address: string, count: number, key = (index: number) => `tk_${index}`) =>
    Promise.all(
      Array.from({ length: count }, async (_, index) => (await keys.refusal(address, key(index))).code),
    );

  it('rejects thirty guesses a minute as wrong, and more with Retry-After', async () => {
    const clock = new FakeClock();
    const keys = new WrongKeys(clock);
    expect(new Set(await tries(keys, '198.51.100.7', 30))).toEqual(new Set(['AUTH_FAILURE']));
    expect(await keys.refusal('198.51.100.7', 'tk_x')).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 2 });
    clock.advance(2000);
    expect(await tries(keys, '198.51.100.7', 2, (index) => `tk_y${index}`)).toEqual([
      'AUTH_FAILURE',
      'RATE_LIMITED',
    ]);
  });

  it('counts the addresses of one IPv6 network together, and other networks separately', async () => {
    const keys = new WrongKeys(new FakeClock());
    for (let host = 1; host <= 30; host++)
      await keys.refusal(`2001:db8:1:2::${host.toString(16)}`, `tk_${host}`);
    expect((await keys.refusal('2001:db8:1:2:ffff::1', 'tk_x')).code).toBe('RATE_LIMITED');
    expect((await keys.refusal('2001:db8:1:3::1', 'tk_x')).code).toBe('AUTH_FAILURE');
  });

  it('lets a client with an old key repeat it ten times as often, and never limits requests without a key', async () => {
    const keys = new WrongKeys(new FakeClock());
    expect((await tries(keys, '198.51.100.7', 291, () => 'tk_old')).at(-1)).toBe('AUTH_FAILURE');
    expect((await keys.refusal('198.51.100.7', 'tk_old')).code).toBe('RATE_LIMITED');
    expect((await keys.refusal('198.51.100.7', null)).code).toBe('AUTH_FAILURE');
  });

  it('remembers a limited number of networks', async () => {
    const keys = new WrongKeys(new FakeClock());
    for (let net = 0; net < 30_000; net++)
      await keys.refusal(`10.${net >> 16}.${(net >> 8) & 255}.${net & 255}`, 'k');
    expect(keys.size).toBe(10_000);
  });
});

describe('a client that guesses keys', () => {
  let test: TestControl;
  beforeAll(async () => {
    test = await startRoutes();
  });
  afterAll(() => test.close());

  /** Every endpoint that a secret opens. */
  const doors = ['/v1/pathway', '/metrics', '/v1/widget/00000000-0000-4000-8000-00000000dead/threads'];

  it('is limited at every endpoint, with Retry-After, while valid keys from its address work', async () => {
    for (let guess = 0; guess < 30; guess++) {
      const url = doors[guess % doors.length] ?? '';
      expect((await test.call('GET', url, { key: `tk_${guess}` })).status).toBe(401);
    }
    for (const url of doors) {
      const slowed = await test.call('GET', url, { key: 'tk_again' });
      expect([slowed.status, slowed.codes]).toEqual([429, ['RATE_LIMITED']]);
      expect(Number(slowed.headers['retry-after'])).toBeGreaterThan(0);
      expect(slowed.body.errors).toMatchObject([{ details: { scope: 'wrong_keys', limit: 30 } }]);
    }
    const runs = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    const edge = await fetch(`${await test.url()}/v1/edge/tool-runs`, {
      ...runs,
      headers: { ...runs.headers, authorization: 'et_wrong' },
    });
    expect(edge.status).toBe(429);
    const link = new WebSocket(`${(await test.url()).replace('http', 'ws')}/v1/edge/link`, {
      headers: { authorization: 'et_wrong' },
    });
    const [error] = await once(link, 'error').catch((thrown: unknown) => [thrown]);
    expect(String(error)).toContain('429');
    expect((await test.call('GET', '/v1/pathway')).status).toBe(200);
    expect((await test.call('GET', '/v1/pathway', { key: test.foreignKey })).status).toBe(200);
    const { text } = await test.call('GET', '/metrics', { key: test.operatorKey });
    expect(text).toMatch(/trunkline_control_wrong_keys_total\{outcome="refused"\} 30/);
    expect(text).toMatch(/trunkline_control_wrong_keys_total\{outcome="slowed"\} 5/);
    test.clock.advance(60_000);
    expect((await test.call('GET', '/v1/pathway', { key: 'tk_again' })).status).toBe(401);
  });
});
