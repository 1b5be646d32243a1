/** Inbound configurations whose callers authenticate by user name and password (contract 2.1). */
import { beforeEach, describe, expect, it } from 'vitest';
import { startControl } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { SipNumbers } from '../../test/kit/control/sip-numbers.ts';

const number = '+14155550100';
const password = 'a long password';
const test = emptiedForEach(startControl);
let sip: SipNumbers;
beforeEach(() => {
  sip = new SipNumbers(test);
});

const digest = (digest_auth: object = { username: 'acme', password }, more: object = {}) => ({
  directions: [{ type: 'inbound', auth_mode: 'digest', digest_auth, ...more }],
});
const update = (updates: object) =>
  test.call('POST', '/v1/sip/update', {
    body: { phone_number: number, updates: { type: 'inbound', ...updates } },
  });
const inboundAtEdges = async () => (await test.control.services.edgeConfig.snapshot()).numbers[0]?.inbound;

describe('an inbound configuration with a user name and a password', () => {
  it('shows the user name, and counts as a source that may call', async () => {
    const answer = await sip.attach(digest());
    expect(answer.body.data).toMatchObject({ configured: [number], failed: [], warnings: [] });
    expect(answer.text).not.toContain(password);
    expect((await sip.show()).data?.inbound).toMatchObject({
      options: {
        auth_mode: 'digest',
        digest_auth: { username: 'acme', password: '********' },
        allowed_ips: [],
      },
      inbound_sources: 'listed',
      registration: null,
    });
  });

  it('has a user name of its own among the entries of a request', async () => {
    const entry = (username: string) => ({
      type: 'inbound',
      auth_mode: 'digest',
      digest_auth: { username, password },
    });
    const rule = expect.stringContaining('must differ from that of /directions/0');
    expect(await sip.attach({ directions: [entry('acme'), entry('acme')] })).toMatchObject({
      status: 400,
      body: { errors: [{ details: { path: '/directions/1/digest_auth/username', rule } }] },
    });
    const common = { auth_mode: 'digest', digest_auth: { username: 'acme', password } };
    expect(await sip.attach({ directions: ['inbound', 'inbound'], ...common })).toMatchObject({
      status: 400,
    });
    const both = await sip.attach({ directions: [entry('acme'), entry('Acme')] });
    expect(both.body.data).toMatchObject({ configured: [number] });
    expect((await inboundAtEdges())?.map((one) => one.digest?.username)).toEqual(['acme', 'Acme']);
  });

  it('reaches the edges with its password; an edge that does not know credentials admits nobody by it', async () => {
    await sip.attach(digest());
    const trunks = await inboundAtEdges();
    expect(trunks).toMatchObject([
      {
        auth_mode: 'ip',
        allowed_ips: ['::'],
        source_host: null,
        digest: { username: 'acme', password },
      },
    ]);
    expect(Buffer.from(trunks?.[0]?.digest?.nonce_key ?? '', 'base64')).toHaveLength(32);
    const { db } = test.control.services.database;
    const stored = [
      await db.selectFrom('sip_configurations').selectAll().execute(),
      await db.selectFrom('edge_config_items').selectAll().execute(),
    ];
    expect(JSON.stringify(stored)).not.toContain(password);
  });

  it('alone, no host of an outbound configuration may call without them', async () => {
    await sip.attach(digest());
    await sip.attach({ directions: [{ type: 'outbound', sip_endpoint: 'pbx.example.com' }] });
    expect(await inboundAtEdges()).toHaveLength(1);
    await sip.attach({ directions: [{ type: 'inbound', options: { allowed_ips: ['198.51.100.7'] } }] });
    const trunks = (await inboundAtEdges()) ?? [];
    expect(
      trunks.map(({ allowed_ips, source_host, digest }) => [allowed_ips, source_host, digest?.username]),
    ).toEqual([
      [['::'], null, 'acme'],
      [['198.51.100.7'], null, undefined],
      [[], 'pbx.example.com', undefined],
    ]);
  });

  it('is replaced by one of the same user name, and stands beside others', async () => {
    await sip.attach(digest());
    const [before] = await sip.configurations();
    await sip.attach(digest({ username: 'acme', password: '********' }));
    await sip.attach(digest({ username: 'branch@acme', password: 'another password' }));
    const after = await sip.configurations();
    expect(after.map(({ options }) => options.digest_auth?.username)).toEqual(['acme', 'branch@acme']);
    expect(after[0]?.id).toBe(before?.id);
    expect((await inboundAtEdges())?.map((trunk) => trunk.digest?.password)).toEqual([
      password,
      'another password',
    ]);
  });

  it('changes its password or mode by update, and keeps no password of another mode', async () => {
    await sip.attach(digest());
    expect((await update({ digest_auth: { username: 'acme', password: 'the next password' } })).status).toBe(
      200,
    );
    expect((await inboundAtEdges())?.[0]?.digest?.password).toBe('the next password');
    expect((await update({ auth_mode: 'register', sip_endpoint: 'pbx.example.com' })).status).toBe(400);
    expect((await update({ auth_mode: 'ip', options: { allowed_ips: ['198.51.100.7'] } })).status).toBe(200);
    expect((await inboundAtEdges())?.[0]).not.toHaveProperty('digest');
    const kept = await update({ auth_mode: 'digest', digest_auth: { username: 'acme', password } });
    expect(kept.body.errors).toMatchObject([
      {
        message:
          '/updates/options/allowed_ips: must be empty with auth_mode digest: attach another inbound configuration with auth_mode ip',
      },
    ]);
    const mask = { username: 'acme', password: '********' };
    expect(
      (await update({ auth_mode: 'digest', digest_auth: mask, options: { allowed_ips: [] } })).status,
    ).toBe(400);
  });

  it.each<[string, object]>([
    ['no credentials', { directions: [{ type: 'inbound', auth_mode: 'digest' }] }],
    ['a short password', digest({ username: 'acme', password: '12345678901' })],
    ['a password with a line end', digest({ username: 'acme', password: 'a long\npassword' })],
    ['an empty user name', digest({ username: '', password })],
    ['a quote in the user name', digest({ username: 'a"b', password })],
    ['a colon in the user name', digest({ username: 'a:b', password })],
    ['listed addresses', digest(undefined, { options: { allowed_ips: ['198.51.100.7'] } })],
    ['a host', digest(undefined, { sip_endpoint: 'pbx.example.com' })],
    ['credentials of a registration', digest(undefined, { register_auth: { username: 'a', password } })],
    [
      'credentials of a digest for another mode',
      { directions: [{ type: 'inbound', digest_auth: { username: 'a', password } }] },
    ],
  ])('is rejected with %s', async (_what, body) => {
    const answer = await sip.attach(body);
    expect([answer.status, answer.codes[0]]).toEqual([400, 'INVALID_PARAMETER']);
    expect(answer.text).not.toContain(password);
  });
});
