import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NumberConfigurations } from '#shared/api/sip.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { RegistrationState, ReportBody } from '#shared/edge-protocol/reports.ts';
import { connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';

const test = emptiedForEach(startRoutes);
let edge: EdgeClient | null = null;
let seq = 0;

beforeEach(() => {
  seq = 0;
});
afterEach(async () => {
  await edge?.kill();
  edge = null;
});

const number = '+14155550100';
const register = {
  type: 'inbound',
  auth_mode: 'register',
  register_auth: { username: 'acme', password: 'chosen by the customer' },
};
const outbound = { type: 'outbound', sip_endpoint: 'sip:trunk.example.com:5071' };

/** @returns the password for the PBX */
async function attach(...directions: object[]): Promise<unknown> {
  const { body } = await test.call('POST', '/v1/sip/attach', { body: { phone_number: number, directions } });
  expect(body.data?.configured).toEqual([number]);
  return body.data?.register_password_for_pbx;
}

async function records() {
  const answer = await test.call('GET', '/v1/sip?phone_number=14155550100');
  return answer.read(NumberConfigurations).data.configurations;
}

/** The number's inbound records, as a newly connected edge gets them. */
async function sent(): Promise<EdgeConfig['numbers'][0]['inbound']> {
  edge = await connectEdge(test);
  const { config } = await edge.next('config');
  return config.numbers.find((one) => one.number === number)?.inbound ?? [];
}

async function report(trunkId: string, changes: Partial<RegistrationState>): Promise<void> {
  edge ??= await connectEdge(test);
  const body: ReportBody = {
    type: 'registration',
    trunk_id: trunkId,
    state: 'registered',
    registrar: 'pbx.example.com:5061',
    at: '2030-01-01T00:00:10.000Z',
    expires_at: '2030-01-01T00:05:10.000Z',
    sip_code: 200,
    last_error: null,
    ...changes,
  };
  edge.send(reportFrame(++seq, [body]));
  await edge.next('ack');
}

describe('a record that registers', () => {
  it('is sent to the edges with the derived password, which is stored nowhere', async () => {
    const derived = await attach({ ...register, sip_endpoint: 'pbx.example.com', options: { port: 5070 } });
    expect(await sent()).toMatchObject([
      {
        auth_mode: 'register',
        source_host: 'pbx.example.com',
        registration: {
          host: 'pbx.example.com',
          port: 5070,
          username: 'acme',
          password: derived,
          expires_s: 300,
        },
      },
    ]);
    const { db } = test.control.services.database;
    const kept = JSON.stringify([
      await db.selectFrom('edge_config_items').selectAll().execute(),
      await db.selectFrom('sip_configurations').selectAll().execute(),
    ]);
    expect(kept).not.toContain(String(derived));
    expect(kept).not.toContain('chosen by the customer');
  });

  it('registers at the primary outbound endpoint when it has no own one, and trusts it', async () => {
    await attach({ type: 'inbound', options: { allowed_ips: ['198.51.100.9'] } }, register, outbound);
    const inbound = await sent();
    expect(inbound.map(({ auth_mode, source_host }) => [auth_mode, source_host])).toEqual([
      ['ip', null],
      ['register', 'trunk.example.com'],
    ]);
    expect(inbound.map(({ registration }) => registration?.port ?? null)).toEqual([null, 5071]);
  });

  it('registers once, however many hosts may send calls for it', async () => {
    await attach({ ...register, sip_endpoint: 'pbx.example.com' }, outbound);
    const inbound = await sent();
    expect(inbound.map(({ source_host }) => source_host)).toEqual(['pbx.example.com', 'trunk.example.com']);
    expect(inbound.filter(({ registration }) => registration)).toHaveLength(1);
  });

  it('does not register once its registrar is detached', async () => {
    await attach(register, outbound);
    const body = { phone_number: number, directions: ['outbound'] };
    await test.call('POST', '/v1/sip/detach', { body });
    expect((await sent()).map(({ registration }) => registration)).toEqual([undefined]);
  });

  it('shows the last state that the edge reported', async () => {
    await attach({ ...register, sip_endpoint: 'pbx.example.com' }, { type: 'inbound' });
    const before = await records();
    expect(before.map(({ registration }) => registration)).toEqual([null, null]);
    const [own, other] = before;
    if (!own || !other) throw new Error('two records were attached');
    await report(own.id, {});
    expect((await records())[0]?.registration).toEqual({
      state: 'registered',
      edge_id: 'edge-1',
      registrar: 'pbx.example.com:5061',
      expires_at: '2030-01-01T00:05:10.000Z',
      next_try_at: null,
      sip_code: 200,
      last_error: null,
      at: '2030-01-01T00:00:10.000Z',
    });
    const failed = {
      state: 'failed',
      expires_at: null,
      next_try_at: '2030-01-01T00:00:25.000Z',
      sip_code: 403,
      last_error: 'No.',
    } as const;
    await report(own.id, { ...failed, at: '2030-01-01T00:00:20.000Z' });
    await report(own.id, { at: '2030-01-01T00:00:15.000Z' });
    await report(other.id, {});
    expect((await records()).map(({ registration }) => registration)).toMatchObject([failed, null]);
  });

  it('leaves nothing behind when it is detached', async () => {
    await attach({ ...register, sip_endpoint: 'pbx.example.com' });
    const [own] = await records();
    await report(own?.id ?? '', {});
    await test.call('POST', '/v1/sip/detach', { body: { phone_number: number, directions: ['inbound'] } });
    await report(own?.id ?? '', { state: 'ended', at: '2030-01-01T00:00:30.000Z' });
    expect(await test.control.services.database.db.selectFrom('registrations').selectAll().execute()).toEqual(
      [],
    );
  });
});

describe('POST /v1/sip/register-now', () => {
  const order = (body: object = { phone_number: number }) =>
    test.call('POST', '/v1/sip/register-now', { body });

  /** The command as an edge that accepted it got it. */
  async function taken(client: EdgeClient): Promise<{ trunk_id: string; order_id: string }> {
    const { id, command } = await client.next('command');
    if (command.kind !== 'registration.try') throw new Error(`unexpected ${command.kind}`);
    client.send({ type: 'result', id, ok: true });
    return command;
  }

  async function connected(): Promise<EdgeClient> {
    edge = await connectEdge(test);
    await edge.next('config');
    return edge;
  }

  it('has the edge register, and returns the outcome of that attempt only', async () => {
    await attach({ ...register, sip_endpoint: 'pbx.example.com' });
    const client = await connected();
    const [own] = await records();
    const answer = order();
    const { trunk_id, order_id } = await taken(client);
    expect(trunk_id).toBe(own?.id);
    // The outcome of an earlier attempt does not count.
    await report(trunk_id, { state: 'failed', expires_at: null, last_error: 'Earlier.' });
    const outcome = { at: '2030-01-01T00:00:20.000Z', order_id };
    await report(trunk_id, outcome as Partial<RegistrationState>);
    const { status, body } = await answer;
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      configuration_id: trunk_id,
      finished: true,
      registration: { state: 'registered', sip_code: 200, last_error: null },
    });
  });

  it('returns the state when the attempt takes longer', async () => {
    await attach({ ...register, sip_endpoint: 'pbx.example.com' });
    const client = await connected();
    const answer = order();
    const { trunk_id } = await taken(client);
    await report(trunk_id, { state: 'registering', expires_at: null, sip_code: null });
    await waitFor(() => test.clock.advance(5_000), answer);
    const { status, body } = await answer;
    expect(status).toBe(202);
    expect(body.data).toMatchObject({ finished: false, registration: { state: 'registering' } });
  });

  it('rejects early repeats with Retry-After, per number, and counts only what an edge accepted', async () => {
    await attach({ ...register, sip_endpoint: 'pbx.example.com' });
    const client = await connected();
    const refused = order();
    const { id } = await client.next('command');
    client.send({ type: 'result', id, ok: false, error: 'the SIP engine of the edge is not running' });
    expect(await refused).toMatchObject({ status: 503, codes: ['SERVICE_UNAVAILABLE'] });
    const first = order();
    const { trunk_id, order_id } = await taken(client);
    await report(trunk_id, { order_id } as Partial<RegistrationState>);
    expect((await first).status).toBe(200);
    const soon = await order();
    expect(soon).toMatchObject({ status: 429, codes: ['RATE_LIMITED'] });
    expect(soon.headers['retry-after']).toBe('10');
    expect(soon.body.errors?.[0]?.message).toMatch(/^At most 1 request in 10 s .*wait 10 s/);
    test.clock.advance(10_000);
    const third = order();
    const again = await taken(client);
    await report(trunk_id, { at: '2030-01-01T00:01:00.000Z', ...again } as Partial<RegistrationState>);
    expect((await third).status).toBe(200);
  });

  it('reports that no edge is connected', async () => {
    await attach({ ...register, sip_endpoint: 'pbx.example.com' });
    const answer = await order();
    expect(answer).toMatchObject({ status: 503, codes: ['SERVICE_UNAVAILABLE'] });
    expect(answer.body.errors?.[0]?.message).toBe('No edge is connected.');
    expect(answer.headers['retry-after']).toBe('5');
  });

  it('reports what is not configured', async () => {
    await attach({ type: 'inbound', options: { allowed_ips: ['198.51.100.9'] } });
    expect(await order()).toMatchObject({ status: 400, codes: ['REGISTRATION_NOT_CONFIGURED'] });
    const [ip] = await records();
    const named = { phone_number: number, configuration_id: ip?.id };
    expect(await order(named)).toMatchObject({ status: 400, codes: ['REGISTRATION_NOT_CONFIGURED'] });
    const unknown = { phone_number: number, configuration_id: '00000000-0000-4000-8000-000000000000' };
    expect(await order(unknown)).toMatchObject({ status: 404, codes: ['SIP_CONFIG_NOT_FOUND'] });
    expect(await order({ phone_number: '+14155550199' })).toMatchObject({ codes: ['NUMBER_NOT_FOUND'] });
    expect(await order({ phone_number: 'office' })).toMatchObject({ codes: ['INVALID_PARAMETER'] });
    await attach(register, outbound);
    await test.call('POST', '/v1/sip/detach', { body: { phone_number: number, directions: ['outbound'] } });
    expect(await order()).toMatchObject({ status: 400, codes: ['REGISTRAR_REQUIRED'] });
  });
});

/** Advances time until `answer` arrives: a test cannot see when the request begins to wait. */
async function waitFor(step: () => void, answer: Promise<unknown>): Promise<void> {
  let over = false;
  void answer.finally(() => {
    over = true;
  });
  const limit = performance.now() + 20_000;
  while (!over && performance.now() < limit) {
    step();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
