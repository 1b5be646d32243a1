import { beforeEach, describe, expect, it } from 'vitest';
import { numbersOfEachTest, routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { number, SipNumbers } from '../../test/kit/control/sip-numbers.ts';
import { updateOrganization } from '../organizations/store.ts';

const test = routesOfFile();
numbersOfEachTest(test);
let sip: SipNumbers;
beforeEach(async () => {
  sip = new SipNumbers(test);
});

describe('POST /v1/sip/attach', () => {
  it('attaches an inbound configuration and shows it with all its defaults', async () => {
    const answer = await sip.attach({
      directions: [{ type: 'inbound', options: { allowed_ips: ['198.51.100.0/24', '2001:db8::1'] } }],
    });
    expect(answer.body).toEqual({ data: { configured: [number], failed: [], warnings: [] }, errors: null });
    const { data } = await sip.show();
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
    const answer = await sip.attach({
      directions: ['inbound', 'outbound', { type: 'outbound', sip_endpoint: 'sip:other.example.com:5070' }],
      sip_endpoint: 'trunk.example.com',
      options: { sip_username: 'acme', sip_password: 'very secret' },
    });
    expect(answer.body.data).toMatchObject({ configured: [number], warnings: [] });
    expect(await sip.configurations()).toMatchObject([
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
    const answer = await sip.attach({ directions: ['inbound'] });
    expect(answer.body.data?.warnings).toEqual([
      `${number} rejects all inbound calls (403): list the sources in options.allowed_ips.`,
    ]);
    expect((await sip.show()).data?.inbound).toMatchObject({ inbound_sources: 'none' });
  });

  it('replaces the same record in place and keeps its id and priority', async () => {
    await sip.attach({ directions: [{ type: 'outbound', sip_endpoint: 'a.example.com', priority: 7 }] });
    const [before] = await sip.configurations();
    await sip.attach({
      directions: [{ type: 'outbound', sip_endpoint: 'sip:A.example.com:5061', options: { sip_realm: 'r' } }],
    });
    const after = await sip.configurations();
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
      await sip.attach({ directions: [{ type: 'outbound', sip_endpoint: `${host}.example.com`, priority }] });
    }
    const order = (await sip.configurations()).map((one) => `${one.sip_endpoint?.[0]}${one.priority}`);
    expect(order).toEqual(['d1', 'a2', 'b3', 'c5']);
  });

  it('makes room below when the highest priorities are taken', async () => {
    for (const host of ['a', 'b', 'c']) {
      await sip.attach({
        directions: [{ type: 'outbound', sip_endpoint: `${host}.example.com`, priority: 100 }],
      });
    }
    const order = (await sip.configurations()).map((one) => `${one.sip_endpoint?.[0]}${one.priority}`);
    expect(order).toEqual(['b98', 'c99', 'a100']);
  });

  it('fails one number and configures the others', async () => {
    await sip.attach({ directions: ['inbound'] }, { key: test.foreignKey });
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
    await sip.attach({ directions: ten });
    const answer = await sip.attach({
      directions: [
        { type: 'outbound', sip_endpoint: 'h0.example.com', options: { sip_realm: 'x' } },
        'inbound',
      ],
    });
    expect(answer.body.data?.failed).toMatchObject([{ error: 'SIP_CONFIG_LIMIT' }]);
    expect(await sip.configurations()).toMatchObject(
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
    const first = await sip.attach(register('long enough'));
    const password = first.body.data?.register_password_for_pbx;
    expect(password).toMatch(/^[A-HJ-NP-Za-km-z2-9]{32}$/);
    expect((await sip.attach(register('long enough'))).body.data?.register_password_for_pbx).toBe(password);
    expect((await sip.attach(register('********'))).body.data?.register_password_for_pbx).toBe(password);
    expect((await sip.attach(register('another one'))).body.data?.register_password_for_pbx).not.toBe(
      password,
    );
    expect((await sip.show()).data?.inbound).toMatchObject({
      options: { auth_mode: 'register', register_auth: { username: 'acme', password: '********' } },
    });
  });

  it('needs a registrar for registration: its own or that of an outbound record', async () => {
    const inbound = {
      type: 'inbound',
      auth_mode: 'register',
      register_auth: { username: 'a', password: '12345678' },
    };
    expect((await sip.attach({ directions: [inbound] })).body.data?.failed).toMatchObject([
      { error: 'REGISTRAR_REQUIRED' },
    ]);
    expect((await test.call('GET', `/v1/sip?phone_number=${number.slice(1)}`)).codes).toEqual([
      'NUMBER_NOT_FOUND',
    ]);
    const both = await sip.attach({
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
    await sip.attach({ directions: [{ type: 'outbound', ...kept }] });
    const before = await sip.show();
    const answer = await sip.attach(body);
    expect([answer.status, answer.codes[0]]).toEqual([400, code]);
    const several = { phone_number: undefined, phone_numbers: ['+14155550101', number] };
    expect((await sip.attach({ ...several, ...body })).codes[0]).toBe(code);
    expect(await sip.show()).toEqual(before);
    expect((await test.call('GET', '/v1/sip/numbers')).body.data?.numbers).toHaveLength(1);
  });

  it('requires either phone_number or phone_numbers', async () => {
    const both = await sip.attach({ directions: ['inbound'], phone_numbers: ['+14155550101'] });
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
        () => sip.attach(outbound({ options: { sip_username: 'x', sip_password: 'kept' } })),
      ],
      [
        'a masked password of a registration',
        'INVALID_PARAMETER',
        registering('********'),
        () => sip.attach(registering('long password')),
      ],
      [
        'a very wide network without permission',
        'INVALID_PARAMETER',
        listing('10.0.0.0/8'),
        async () => {
          await permit(1);
          await sip.attach(listing('10.0.0.0/8'));
          await permit(0);
        },
      ],
      [
        'more address space than all numbers may list',
        'INVALID_PARAMETER',
        listing('198.51.100.7'),
        // It lists fewer networks than before, which frees room for later numbers.
        () => sip.attach(listing(...space)),
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
        () => sip.attach(outbound({})),
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
        const before = await sip.show(other);
        const answer = await sip.attach({ ...body, phone_number: undefined, phone_numbers });
        expect(answer.status).toBe(200);
        expect(answer.body.data).toMatchObject({
          configured: [number],
          failed: [{ phone_number: other, error: code, message: expect.any(String) }],
        });
        expect(await sip.show(other)).toEqual(before);
      }
    });

    it('gives the path of an invalid value in the message', async () => {
      const { body } = await sip.attach(masked);
      expect(body.data).toMatchObject({
        configured: [],
        failed: [{ error: 'INVALID_PARAMETER', message: expect.stringContaining('/directions/0/options') }],
      });
    });

    it.each(['0.0.0.0/0', '10.0.0.0/8', '2001::/31', '::ffff:0:0/96'])(
      'no number lists %s without permission',
      async (network) => {
        const { body } = await sip.attach(listing(network));
        expect(body.data).toMatchObject({ configured: [], failed: [{ error: 'INVALID_PARAMETER' }] });
        expect((await test.call('GET', '/v1/sip/numbers')).body.data?.numbers).toEqual([]);
      },
    );

    it('fails a number with 10 configurations and configures the next one', async () => {
      await sip.attach({ directions: full });
      const answer = await sip.attach({
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
    expect((await sip.attach({ directions: ['inbound'] }, { key: null })).codes).toEqual(['AUTH_FAILURE']);
  });
});
