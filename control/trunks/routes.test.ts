import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NumberConfigurations } from '#shared/api/sip.ts';
import { type CallOptions, startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { updateOrganization } from '../organizations/store.ts';

let test: TestControl;
beforeEach(async () => {
  test = await startControl();
});
afterEach(() => test.close());

const number = '+14155550100';
const attach = (body: object, options: CallOptions = {}) =>
  test.call('POST', '/v1/sip/attach', { body: { phone_number: number, ...body }, ...options });
const read = (of = number, key = test.key) =>
  test.call('GET', `/v1/sip?phone_number=${encodeURIComponent(of)}`, { key });
const show = async (of = number, key = test.key) => (await read(of, key)).body;
const configurations = async () => (await read()).read(NumberConfigurations).data.configurations;

describe('a mapped header of outbound calls', () => {
  it('gets a warning when it depends on a variable that not every call has', async () => {
    const header = (key: string, value: string, more: object = {}) => ({
      type: 'custom',
      key,
      value,
      ...more,
    });
    const items = [
      header('customer', 'X-Customer'),
      header('call_id', 'X-Call'),
      header('X-Fixed', 'always', { passthrough: true }),
    ];
    const { body } = await test.call('POST', '/v1/sip/attach', {
      body: {
        phone_number: '+14155550100',
        directions: [
          {
            type: 'outbound',
            sip_endpoint: 'trunk.example.com',
            headers: { direction: 'outbound', headers: items },
          },
        ],
      },
    });
    const warnings = [expect.stringMatching(/X-Customer .*variable "customer"/)];
    expect(body.data?.warnings).toEqual(warnings);
    const update = async (headers: object[]) => {
      const updates = { type: 'outbound', headers: { direction: 'outbound', headers } };
      return test.call('POST', '/v1/sip/update', { body: { phone_number: '+14155550100', updates } });
    };
    expect((await update(items)).body.data?.warnings).toEqual(warnings);
    expect((await update(items.slice(1))).body.data).not.toHaveProperty('warnings');
  });
});

describe('POST /v1/sip/attach', () => {
  it('attaches an inbound configuration and shows it with all its defaults', async () => {
    const answer = await attach({
      directions: [{ type: 'inbound', options: { allowed_ips: ['198.51.100.0/24', '2001:db8::1'] } }],
    });
    expect(answer.body).toEqual({ data: { configured: [number], failed: [], warnings: [] }, errors: null });
    const { data } = await show();
    expect(data?.inbound).toMatchObject({
      number,
      org_id: test.orgId,
      direction: 'inbound',
      priority: 1,
      sip_endpoint: null,
      headers: null,
      options: {
        auth_mode: 'ip',
        port: 5061,
        transport: 'tls',
        secure_media: true,
        allowed_ips: ['198.51.100.0/24', '2001:db8::1'],
      },
      failover_config: null,
      codec_config: { codecs: ['PCMU', 'PCMA', 'Opus'], transcode: false },
      inbound_sources: 'listed',
      registration: null,
      applied: false,
      health_status: 'unchecked',
      created_at: '2030-01-01T00:00:00.000Z',
    });
    expect(data?.outbound).toBeNull();
  });

  it("accepts bare strings, and applies the request's defaults to entries", async () => {
    const answer = await attach({
      directions: ['inbound', 'outbound', { type: 'outbound', sip_endpoint: 'sip:other.example.com:5070' }],
      sip_endpoint: 'trunk.example.com',
      options: { sip_username: 'acme', sip_password: 'very secret' },
    });
    expect(answer.body.data).toMatchObject({ configured: [number], warnings: [] });
    expect(await configurations()).toMatchObject([
      { direction: 'inbound', priority: 1, inbound_sources: 'listed' },
      {
        direction: 'outbound',
        priority: 1,
        sip_endpoint: 'trunk.example.com',
        options: { port: 5061, sip_username: 'acme', sip_password: '********', sip_realm: null },
      },
      {
        direction: 'outbound',
        priority: 2,
        sip_endpoint: 'sip:other.example.com:5070',
        options: { port: 5070 },
      },
    ]);
    const { db } = test.control.services.database;
    const stored = await db
      .selectFrom('sip_configurations')
      .select('password')
      .where('password', 'is not', null)
      .execute();
    expect(JSON.stringify(stored)).not.toContain('very secret');
  });

  it('warns when an inbound number lists no source', async () => {
    const answer = await attach({ directions: ['inbound'] });
    expect(answer.body.data?.warnings).toEqual([
      `${number} refuses all inbound calls (403): list the sources in options.allowed_ips.`,
    ]);
    expect((await show()).data?.inbound).toMatchObject({ inbound_sources: 'none' });
  });

  it('replaces the same record in place and keeps its id and priority', async () => {
    await attach({ directions: [{ type: 'outbound', sip_endpoint: 'a.example.com', priority: 7 }] });
    const [before] = await configurations();
    await attach({
      directions: [{ type: 'outbound', sip_endpoint: 'sip:A.example.com:5061', options: { sip_realm: 'r' } }],
    });
    const after = await configurations();
    expect(after).toMatchObject([
      { id: before?.id, priority: 7, sip_endpoint: 'sip:A.example.com:5061', options: { sip_realm: 'r' } },
    ]);
  });

  it('shifts the others up when a priority is taken', async () => {
    for (const [host, priority] of [
      ['a', 1],
      ['b', 2],
      ['c', 5],
      ['d', 1],
    ] as const) {
      await attach({ directions: [{ type: 'outbound', sip_endpoint: `${host}.example.com`, priority }] });
    }
    const order = (await configurations()).map((one) => `${one.sip_endpoint?.[0]}${one.priority}`);
    expect(order).toEqual(['d1', 'a2', 'b3', 'c5']);
  });

  it('makes room below when the highest priorities are taken', async () => {
    for (const host of ['a', 'b', 'c']) {
      await attach({
        directions: [{ type: 'outbound', sip_endpoint: `${host}.example.com`, priority: 100 }],
      });
    }
    const order = (await configurations()).map((one) => `${one.sip_endpoint?.[0]}${one.priority}`);
    expect(order).toEqual(['b98', 'c99', 'a100']);
  });

  it('fails one number and configures the others', async () => {
    await attach({ directions: ['inbound'] }, { key: test.foreignKey });
    const answer = await test.call('POST', '/v1/sip/attach', {
      body: {
        phone_numbers: ['14155550101', number, 'x12', '+1 415 555 0101'],
        directions: [{ type: 'inbound', options: { allowed_ips: ['198.51.100.9'] } }],
      },
    });
    expect(answer.body.data).toMatchObject({
      configured: ['+14155550101'],
      failed: [
        { phone_number: number, error: 'NUMBER_IN_USE' },
        { phone_number: 'x12', error: 'INVALID_PHONE_NUMBER' },
      ],
    });
  });

  it('keeps a number as it was when one of its entries fails', async () => {
    const ten = Array.from({ length: 10 }, (_, index) => ({
      type: 'outbound',
      sip_endpoint: `h${index}.example.com`,
    }));
    await attach({ directions: ten });
    const answer = await attach({
      directions: [
        { type: 'outbound', sip_endpoint: 'h0.example.com', options: { sip_realm: 'x' } },
        'inbound',
      ],
    });
    expect(answer.body.data?.failed).toMatchObject([{ error: 'SIP_CONFIG_LIMIT' }]);
    expect(await configurations()).toMatchObject(
      [...Array(10)].map(() => ({ options: { sip_realm: null } })),
    );
  });

  it('derives the same registration password for the same input', async () => {
    const register = (password: string) => ({
      directions: [
        {
          type: 'inbound',
          auth_mode: 'register',
          sip_endpoint: 'pbx.example.com',
          register_auth: { username: 'acme', password },
        },
      ],
    });
    const first = await attach(register('long enough'));
    const password = first.body.data?.register_password_for_pbx;
    expect(password).toMatch(/^[A-HJ-NP-Za-km-z2-9]{32}$/);
    expect((await attach(register('long enough'))).body.data?.register_password_for_pbx).toBe(password);
    expect((await attach(register('********'))).body.data?.register_password_for_pbx).toBe(password);
    expect((await attach(register('another one'))).body.data?.register_password_for_pbx).not.toBe(password);
    expect((await show()).data?.inbound).toMatchObject({
      options: { auth_mode: 'register', register_auth: { username: 'acme', password: '********' } },
    });
  });

  it('needs a registrar for registration: its own or that of an outbound record', async () => {
    const inbound = {
      type: 'inbound',
      auth_mode: 'register',
      register_auth: { username: 'a', password: '12345678' },
    };
    expect((await attach({ directions: [inbound] })).body.data?.failed).toMatchObject([
      { error: 'REGISTRAR_REQUIRED' },
    ]);
    expect((await test.call('GET', `/v1/sip?phone_number=${number.slice(1)}`)).codes).toEqual([
      'NUMBER_NOT_FOUND',
    ]);
    const both = await attach({
      directions: [inbound, { type: 'outbound', sip_endpoint: 'pbx.example.com' }],
    });
    expect(both.body.data?.configured).toEqual([number]);
  });

  const outbound = (more: object) => ({
    directions: [{ type: 'outbound', sip_endpoint: 'a.example.com', ...more }],
  });
  const mapped = (direction: string, item: object) => ({ headers: { direction, headers: [item] } });
  it.each([
    ['TRANSPORT_NOT_ALLOWED', outbound({ options: { transport: 'udp' } })],
    ['TRANSPORT_NOT_ALLOWED', outbound({ sip_endpoint: 'sip:a.example.com;transport=tcp' })],
    ['SECURE_MEDIA_REQUIRED', outbound({ options: { secure_media: false } })],
    ['INVALID_SIP_ENDPOINT', outbound({ sip_endpoint: 'not a host' })],
    ['TARGET_NOT_ALLOWED', outbound({ sip_endpoint: '10.1.2.3' })],
    ['TARGET_NOT_ALLOWED', { directions: [{ type: 'inbound', sip_endpoint: '[::1]' }] }],
    ['INVALID_PARAMETER', outbound({ sip_endpoint: 'a.example.com:5070', options: { port: 5071 } })],
    ['INVALID_PARAMETER', outbound({ options: { sip_username: 'x' } })],
    ['INVALID_PARAMETER', outbound({ options: { sip_username: 'x\r\nX-A: b', sip_password: 'p' } })],
    ['INVALID_PARAMETER', outbound({ options: { sip_username: 'x', sip_password: 'p\n' } })],
    [
      'INVALID_PARAMETER',
      outbound({ options: { sip_username: 'x', sip_password: 'p', sip_realm: 'a\u007f' } }),
    ],
    ...['a\r', 'a\tb', 'a\u0085'].map((username): [string, object] => [
      'INVALID_PARAMETER',
      {
        directions: [
          {
            type: 'inbound',
            auth_mode: 'register',
            sip_endpoint: 'a.example.com',
            register_auth: { username, password: 'long password' },
          },
        ],
      },
    ]),
    ['INVALID_PARAMETER', outbound(mapped('outbound', { type: 'custom', key: 'v', value: 'Via' }))],
    [
      'INVALID_PARAMETER',
      outbound(mapped('outbound', { type: 'custom', key: 'bad name', value: 'x', passthrough: true })),
    ],
    ['INVALID_PARAMETER', outbound(mapped('inbound', { type: 'custom', key: 'X-A', value: 'a' }))],
    ['INVALID_PARAMETER', { directions: [{ type: 'inbound', options: { allowed_ips: ['10.0.0.0/33'] } }] }],
    ['INVALID_PARAMETER', { directions: [{ type: 'inbound', auth_mode: 'register' }] }],
    [
      'INVALID_PARAMETER',
      { directions: [{ type: 'inbound', register_auth: { username: 'a', password: '12345678' } }] },
    ],
    ['INVALID_PARAMETER', { directions: ['outbound'] }],
    ['INVALID_PARAMETER', { directions: [] }],
    ['INVALID_PARAMETER', { directions: ['inbound'], service: 'other' }],
    ['UNKNOWN_PROPERTY', outbound({ auth_mode: 'ip' })],
    ['UNKNOWN_PROPERTY', { directions: [{ type: 'inbound', options: { sip_username: 'a' } }] }],
  ])('answers 400 %s to %j, for any numbers, and stores nothing', async (code, body) => {
    const kept = { sip_endpoint: 'a.example.com', options: { sip_username: 'x', sip_password: 'kept' } };
    await attach({ directions: [{ type: 'outbound', ...kept }] });
    const before = await show();
    const answer = await attach(body);
    expect([answer.status, answer.codes[0]]).toEqual([400, code]);
    const several = { phone_number: undefined, phone_numbers: ['+14155550101', number] };
    expect((await attach({ ...several, ...body })).codes[0]).toBe(code);
    expect(await show()).toEqual(before);
    expect((await test.call('GET', '/v1/sip/numbers')).body.data?.numbers).toHaveLength(1);
  });

  it('requires either phone_number or phone_numbers', async () => {
    const both = await attach({ directions: ['inbound'], phone_numbers: ['+14155550101'] });
    expect([both.status, both.codes]).toEqual([400, ['INVALID_PARAMETER']]);
  });

  describe('an error that depends on a number', () => {
    const other = '+14155550101';
    const listing = (...allowed_ips: string[]) => ({
      directions: [{ type: 'inbound', options: { allowed_ips } }],
    });
    const masked = outbound({ options: { sip_username: 'x', sip_password: '********' } });
    const registering = (password: string) => ({
      directions: [
        {
          type: 'inbound',
          auth_mode: 'register',
          sip_endpoint: 'a.example.com',
          register_auth: { username: 'x', password },
        },
      ],
    });
    const full = Array.from({ length: 10 }, (_, i) => ({
      type: 'outbound',
      sip_endpoint: `s${i}.example.com`,
    }));
    const space = ['20.0.0.0/16', '20.1.0.0/16', '20.2.0.0/16', '20.3.0.0/16'];
    const permit = (permitted: 0 | 1) =>
      updateOrganization(test.control.services.database.db, test.orgId, { wide_sources: permitted });
    /** The request, and how to permit it for one number. */
    const cases: readonly [string, string, object, () => Promise<unknown>][] = [
      [
        'a masked password of a trunk',
        'INVALID_PARAMETER',
        masked,
        () => attach(outbound({ options: { sip_username: 'x', sip_password: 'kept' } })),
      ],
      [
        'a masked password of a registration',
        'INVALID_PARAMETER',
        registering('********'),
        () => attach(registering('long password')),
      ],
      [
        'a very wide network without permission',
        'INVALID_PARAMETER',
        listing('10.0.0.0/8'),
        async () => {
          await permit(1);
          await attach(listing('10.0.0.0/8'));
          await permit(0);
        },
      ],
      [
        'more address space than all numbers may list',
        'INVALID_PARAMETER',
        listing('198.51.100.7'),
        // It lists fewer networks than before, which frees room for later numbers.
        () => attach(listing(...space)),
      ],
      [
        'a registration without a registrar',
        'REGISTRAR_REQUIRED',
        {
          directions: [
            {
              type: 'inbound',
              auth_mode: 'register',
              register_auth: { username: 'x', password: 'long password' },
            },
          ],
        },
        () => attach(outbound({})),
      ],
    ];

    it.each(cases)('%s: fails the number without permission, and no other', async (_, code, body, allow) => {
      await allow();
      const makesRoom = JSON.stringify(body).includes('198.51.100.7');
      const orders = makesRoom
        ? [[other, number]]
        : [
            [other, number],
            [number, other],
          ];
      for (const phone_numbers of orders) {
        const before = await show(other);
        const answer = await attach({ ...body, phone_number: undefined, phone_numbers });
        expect(answer.status).toBe(200);
        expect(answer.body.data).toMatchObject({
          configured: [number],
          failed: [{ phone_number: other, error: code, message: expect.any(String) }],
        });
        expect(await show(other)).toEqual(before);
      }
    });

    it('gives the path of an invalid value in the message', async () => {
      const { body } = await attach(masked);
      expect(body.data).toMatchObject({
        configured: [],
        failed: [{ error: 'INVALID_PARAMETER', message: expect.stringContaining('/directions/0/options') }],
      });
    });

    it.each(['0.0.0.0/0', '10.0.0.0/8', '2001::/31', '::ffff:0:0/96'])(
      'no number lists %s without permission',
      async (network) => {
        const { body } = await attach(listing(network));
        expect(body.data).toMatchObject({ configured: [], failed: [{ error: 'INVALID_PARAMETER' }] });
        expect((await test.call('GET', '/v1/sip/numbers')).body.data?.numbers).toEqual([]);
      },
    );

    it('fails a number with 10 configurations and configures the next one', async () => {
      await attach({ directions: full });
      const answer = await attach({
        ...outbound({}),
        phone_number: undefined,
        phone_numbers: [number, other],
      });
      expect(answer.body.data).toMatchObject({
        configured: [other],
        failed: [{ phone_number: number, error: 'SIP_CONFIG_LIMIT' }],
      });
    });
  });

  it('requires a key', async () => {
    expect((await attach({ directions: ['inbound'] }, { key: null })).codes).toEqual(['AUTH_FAILURE']);
  });
});

describe('POST /v1/sip/update', () => {
  const update = (updates: object, options: CallOptions = {}) =>
    test.call('POST', '/v1/sip/update', { body: { phone_number: number, updates }, ...options });

  it('merges options by key, replaces headers and clears null members', async () => {
    await attach({
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
    await attach({
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
    await attach({
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

describe('names of mapped headers', () => {
  it('are rejected all at once', async () => {
    const custom = (value: string) => ({ type: 'custom', key: 'v', value });
    const headers = {
      direction: 'outbound',
      headers: [custom('bad name'), custom('X-Good'), custom('Via')],
    };
    const answer = await attach({
      directions: [{ type: 'outbound', sip_endpoint: 'a.example.com', headers }],
    });
    expect(answer.body.errors).toMatchObject([
      { details: { path: '/directions/0/headers/headers/0/value' } },
      { details: { path: '/directions/0/headers/headers/2/value' } },
    ]);
  });
});

describe('POST /v1/sip/detach', () => {
  const detach = (body: object, options: CallOptions = {}) =>
    test.call('POST', '/v1/sip/detach', { body, ...options });

  it('removes records, archives a number without any, and restores its settings when it comes back', async () => {
    await attach({ directions: ['inbound', { type: 'outbound', sip_endpoint: 'a.example.com' }] });
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
    expect((await show()).data).toEqual({ inbound: null, outbound: null, configurations: [] });
    expect((await test.call('GET', `/v1/inbound/${number}`)).status).toBe(404);
    await attach({ directions: ['inbound'] });
    expect((await test.call('GET', `/v1/inbound/${number}`)).body).toMatchObject({ label: 'Front desk' });
  });

  it('lets another organization take a released number', async () => {
    await attach({ directions: ['inbound'] });
    await detach({ phone_number: number, directions: ['inbound'] });
    expect(
      (await attach({ directions: ['inbound'] }, { key: test.foreignKey })).body.data?.configured,
    ).toEqual([number]);
    expect((await attach({ directions: ['inbound'] })).body.data?.failed).toMatchObject([
      { error: 'NUMBER_IN_USE' },
    ]);
  });

  it('rejects a single number that is not held, and invalid bodies', async () => {
    expect((await detach({ phone_number: number, directions: ['inbound'] })).codes).toEqual([
      'NUMBER_NOT_FOUND',
    ]);
    await attach({ directions: ['inbound'] });
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
    await attach({ directions: ['inbound'] });
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
    await attach({ directions: [{ type: 'outbound', sip_endpoint: 'b.example.com' }] });
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
    await attach({ directions: ['inbound', { type: 'outbound', sip_endpoint: 'a.example.com' }] });
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
    const own = await startControl({ RTP_PUBLIC_IP: '198.51.100.7', SIP_PUBLIC_HOST: 'sip.example.com' });
    try {
      expect((await own.call('GET', '/v1/sip/firewall-ips')).body.data).toEqual({
        region: 'local',
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
