import { beforeEach, describe, expect, it } from 'vitest';
import { type CallOptions, startRoutes } from '../../test/kit/control/harness.ts';
import { numbersOfEachTest, routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { number, SipNumbers } from '../../test/kit/control/sip-numbers.ts';

const test = routesOfFile();
numbersOfEachTest(test);
let sip: SipNumbers;
beforeEach(async () => {
  sip = new SipNumbers(test);
});

describe('POST /v1/sip/update', () => {
  const update = (updates: object, options: CallOptions = {}) =>
    test.call('POST', '/v1/sip/update', { body: { phone_number: number, updates }, ...options });

  it('merges options by key, replaces headers and clears null members', async () => {
    await sip.attach({
      directions: [
        {
          type: 'outbound',
          sip_endpoint: 'a.example.com',
          options: { sip_username: 'u', sip_password: 'p', sip_realm: 'r' },
          headers: { direction: 'outbound', headers: [{ type: 'custom', key: 'a', value: 'X-A' }] },
        },
      ],
    });
    test.clock.advance(1000);
    const answer = await update({ type: 'outbound', options: { sip_realm: null }, headers: null });
    expect(answer.body.data?.outbound).toMatchObject({
      sip_endpoint: 'a.example.com',
      headers: null,
      options: { sip_username: 'u', sip_password: '********', sip_realm: null },
      updated_at: '2030-01-01T00:00:01.000Z',
    });
  });

  it('shows the derived password when registration was sent', async () => {
    await sip.attach({
      directions: [
        { type: 'inbound', options: { allowed_ips: ['198.51.100.9'] } },
        { type: 'outbound', sip_endpoint: 'pbx.example.com' },
      ],
    });
    const answer = await update({
      type: 'inbound',
      auth_mode: 'register',
      register_auth: { username: 'a', password: '12345678' },
    });
    expect(answer.body.data?.register_password_for_pbx).toMatch(/^.{32}$/);
    const later = await update({ type: 'inbound', priority: 3 });
    expect(later.body.data).toMatchObject({ inbound: { priority: 3 } });
    expect(later.body.data).not.toHaveProperty('register_password_for_pbx');
  });

  it("rejects records that do not exist, duplicates, and other organizations' records", async () => {
    expect((await update({ type: 'inbound' })).codes).toEqual(['NUMBER_NOT_FOUND']);
    await sip.attach({
      directions: [
        { type: 'outbound', sip_endpoint: 'a.example.com' },
        { type: 'outbound', sip_endpoint: 'b.example.com' },
      ],
    });
    expect((await update({ type: 'inbound' })).codes).toEqual(['SIP_CONFIG_NOT_FOUND']);
    expect((await update({ type: 'outbound', sip_endpoint: 'b.example.com' })).codes).toEqual([
      'DUPLICATE_SIP_CONFIG',
    ]);
    expect((await update({ type: 'outbound', id: '00000000-0000-4000-8000-000000000000' })).codes).toEqual([
      'SIP_CONFIG_NOT_FOUND',
    ]);
    expect((await update({ type: 'outbound', priority: 2 }, { key: test.foreignKey })).codes).toEqual([
      'NUMBER_NOT_FOUND',
    ]);
    expect((await update({ type: 'outbound' }, { key: null })).status).toBe(401);
    expect((await update({ type: 'outbound', auth_mode: 'ip' })).status).toBe(400);
  });
});

describe('POST /v1/sip/detach', () => {
  const detach = (body: object, options: CallOptions = {}) =>
    test.call('POST', '/v1/sip/detach', { body, ...options });

  it('removes records, archives a number without any, and restores its settings when it comes back', async () => {
    await sip.attach({ directions: ['inbound', { type: 'outbound', sip_endpoint: 'a.example.com' }] });
    await test.call('POST', `/v1/inbound/${number}`, { body: { label: 'Front desk' } });
    const first = await detach({ phone_number: number, directions: ['outbound'] });
    expect(first.body.data).toEqual({ detached: [number], failed: [] });
    const second = await detach({
      phone_numbers: [number, '+14155550199'],
      directions: ['inbound', 'outbound'],
    });
    expect(second.body.data).toMatchObject({
      detached: [number],
      failed: [
        { phone_number: number, error: 'SIP_CONFIG_NOT_FOUND', direction: 'outbound' },
        { phone_number: '+14155550199', error: 'NUMBER_NOT_FOUND', direction: 'inbound' },
        { phone_number: '+14155550199', error: 'NUMBER_NOT_FOUND', direction: 'outbound' },
      ],
    });
    expect((await sip.show()).data).toEqual({ inbound: null, outbound: null, configurations: [] });
    expect((await test.call('GET', `/v1/inbound/${number}`)).status).toBe(404);
    await sip.attach({ directions: ['inbound'] });
    expect((await test.call('GET', `/v1/inbound/${number}`)).body).toMatchObject({ label: 'Front desk' });
  });

  it('lets another organization take a released number', async () => {
    await sip.attach({ directions: ['inbound'] });
    await detach({ phone_number: number, directions: ['inbound'] });
    expect(
      (await sip.attach({ directions: ['inbound'] }, { key: test.foreignKey })).body.data?.configured,
    ).toEqual([number]);
    expect((await sip.attach({ directions: ['inbound'] })).body.data?.failed).toMatchObject([
      { error: 'NUMBER_IN_USE' },
    ]);
  });

  it('rejects a single number that is not held, and invalid bodies', async () => {
    expect((await detach({ phone_number: number, directions: ['inbound'] })).codes).toEqual([
      'NUMBER_NOT_FOUND',
    ]);
    await sip.attach({ directions: ['inbound'] });
    expect(
      (await detach({ phone_number: number, directions: ['inbound'] }, { key: test.foreignKey })).status,
    ).toBe(404);
    expect((await detach({ phone_number: number, directions: ['inbound'] }, { key: null })).status).toBe(401);
    expect((await detach({ phone_number: 'x', directions: ['inbound'] })).codes).toEqual([
      'INVALID_PARAMETER',
    ]);
    expect((await detach({ directions: ['inbound'] })).status).toBe(400);
  });
});

describe('reading', () => {
  it('GET /v1/sip separates numbers by organization', async () => {
    await sip.attach({ directions: ['inbound'] });
    const get = (query: string, key: string | null = test.key) =>
      test.call('GET', `/v1/sip?phone_number=${query}`, { key });
    expect((await get('14155550100')).status).toBe(200);
    expect((await get('14155550100', test.foreignKey)).codes).toEqual(['NUMBER_NOT_FOUND']);
    expect((await get('14155550100', null)).status).toBe(401);
    expect((await get('abc')).codes).toEqual(['INVALID_PARAMETER']);
  });

  it('GET /v1/sip/numbers lists one line per number', async () => {
    await test.call('POST', '/v1/sip/attach', {
      body: {
        phone_numbers: ['+14155550102', number],
        directions: ['inbound', { type: 'outbound', sip_endpoint: 'a.example.com' }],
      },
    });
    await sip.attach({ directions: [{ type: 'outbound', sip_endpoint: 'b.example.com' }] });
    expect((await test.call('GET', '/v1/sip/numbers')).body.data?.numbers).toEqual([
      {
        phone_number: number,
        directions: ['inbound', 'outbound'],
        sip_endpoint: 'a.example.com',
        health_status: 'unchecked',
        configuration_count: 3,
      },
      {
        phone_number: '+14155550102',
        directions: ['inbound', 'outbound'],
        sip_endpoint: 'a.example.com',
        health_status: 'unchecked',
        configuration_count: 2,
      },
    ]);
    expect((await test.call('GET', '/v1/sip/numbers', { key: test.foreignKey })).body.data?.numbers).toEqual(
      [],
    );
    expect((await test.call('GET', '/v1/sip/numbers', { key: null })).status).toBe(401);
  });

  it('GET /v1/sip/status is unchecked without probes', async () => {
    const get = (key: string | null = test.key) =>
      test.call('GET', `/v1/sip/status?phone_number=${number.slice(1)}`, { key });
    expect((await get()).codes).toEqual(['NUMBER_NOT_FOUND']);
    await sip.attach({ directions: ['inbound', { type: 'outbound', sip_endpoint: 'a.example.com' }] });
    expect((await get()).body.data).toMatchObject({
      status: 'unchecked',
      response_time_ms: null,
      uptime_percentage: null,
      endpoints: [{ host: 'a.example.com', port: 5061, priority: 0, status: 'unchecked', active: true }],
    });
    expect((await get(test.foreignKey)).status).toBe(404);
    expect((await get(null)).status).toBe(401);
  });

  it('POST /v1/sip/parse-destination parses destinations and never fails on text', async () => {
    const parse = (input: unknown, key: string | null = test.key) =>
      test.call('POST', '/v1/sip/parse-destination', { body: { input }, key });
    expect((await parse('sip:alice@Trunk.example.com:5070;transport=TLS')).body.data).toEqual({
      valid: true,
      parsed: {
        host: 'trunk.example.com',
        port: 5070,
        user: 'alice',
        transport: 'tls',
        is_private_ip: false,
        normalized: 'sip:alice@trunk.example.com:5070;transport=tls',
      },
    });
    expect((await parse('tls://192.168.0.1')).body.data?.parsed).toMatchObject({ is_private_ip: true });
    expect((await parse('')).body.data).toEqual({ valid: false, parsed: null });
    expect((await parse('x'.repeat(513))).status).toBe(400);
    expect((await parse(5)).status).toBe(400);
    expect((await parse('a', null)).status).toBe(401);
  });

  it('GET /v1/sip/firewall-ips and /outbound-setup return what to configure', async () => {
    const own = await startRoutes({ RTP_PUBLIC_IP: '198.51.100.7', SIP_PUBLIC_HOST: 'sip.example.com' });
    try {
      expect((await own.call('GET', '/v1/sip/firewall-ips')).body.data).toEqual({
        region: 'test',
        ip_addresses: ['198.51.100.7'],
        ports: { sip: '5061 TLS', rtp: '10000-20000 UDP' },
      });
      await own.call('POST', '/v1/sip/attach', {
        body: {
          phone_number: number,
          directions: [
            {
              type: 'inbound',
              auth_mode: 'register',
              sip_endpoint: 'pbx.example.com',
              register_auth: { username: 'acme', password: '12345678' },
            },
          ],
        },
      });
      const setup = await own.call('GET', '/v1/sip/outbound-setup?phone_number=14155550100');
      expect(setup.body.data).toMatchObject({
        sip_server: 'sip.example.com',
        port: 5061,
        transport: 'tls',
        srtp: 'AES_CM_128_HMAC_SHA1_80',
        codecs: ['PCMU', 'PCMA', 'Opus'],
        credentials: { username: 'acme', password: '********', realm: null },
      });
      await own.call('POST', '/v1/sip/attach', {
        body: {
          phone_number: number,
          directions: [
            {
              type: 'inbound',
              auth_mode: 'digest',
              digest_auth: { username: 'pbx', password: '123456789012' },
            },
          ],
        },
      });
      const withDigest = await own.call('GET', '/v1/sip/outbound-setup?phone_number=14155550100');
      expect(withDigest.body.data).toMatchObject({
        credentials: { username: 'pbx', password: '********', realm: 'trunkline' },
      });
      const asText = await own.call('GET', '/v1/sip/outbound-setup?phone_number=14155550100&pbx=freepbx');
      expect(asText.body.data).toMatchObject({
        files: [
          { path: '/etc/asterisk/pjsip.conf', text: expect.stringContaining('\nusername = pbx\n') },
          { path: '/etc/asterisk/extensions.conf', text: expect.stringContaining('+14155550100,1,Dial') },
        ],
      });
      expect(asText.text).toContain('match = 198.51.100.7');
      const unknown = await own.call('GET', '/v1/sip/outbound-setup?pbx=other');
      expect(unknown.body.errors?.[0]?.code).toBe('INVALID_PARAMETER');
      expect((await own.call('GET', '/v1/sip/outbound-setup')).body.data).not.toHaveProperty('credentials');
      expect((await own.call('GET', '/v1/sip/outbound-setup?phone_number=14155550199')).status).toBe(404);
      for (const path of ['firewall-ips', 'outbound-setup']) {
        expect((await own.call('GET', `/v1/sip/${path}`, { key: null })).status).toBe(401);
      }
    } finally {
      await own.close();
    }
  });
});
