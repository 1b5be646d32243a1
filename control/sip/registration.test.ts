import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { RegistrationState, ReportBody } from '#shared/edge-protocol/reports.ts';
import { connectEdge, type EdgeClient, reportFrame } from '../testing/edge-client.ts';
import { startControl, type TestControl } from '../testing/harness.ts';

let test: TestControl;
let edge: EdgeClient | null = null;
let seq = 0;

beforeEach(async () => {
  test = await startControl();
  seq = 0;
});
afterEach(async () => {
  await edge?.kill();
  edge = null;
  await test.close();
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
  const { body } = await test.call('GET', '/v1/sip?phone_number=14155550100');
  return body.data?.configurations as unknown as {
    id: string;
    registration: RegistrationState | null;
    options: { auth_mode?: string };
  }[];
}

/** What an edge that connects now is told of the number's inbound records. */
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
  it('is sent to the edges with the derived password, which is nowhere at rest', async () => {
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

  it('registers at the primary outbound endpoint when it names none, and trusts it', async () => {
    await attach({ type: 'inbound', options: { allowed_ips: ['198.51.100.9'] } }, register, outbound);
    const inbound = await sent();
    expect(inbound.map(({ auth_mode, source_host }) => [auth_mode, source_host])).toEqual([
      ['ip', null],
      ['register', 'trunk.example.com'],
    ]);
    expect(inbound.map(({ registration }) => registration?.port ?? null)).toEqual([null, 5071]);
  });

  it('registers once, however many hosts may call for it', async () => {
    await attach({ ...register, sip_endpoint: 'pbx.example.com' }, outbound);
    const inbound = await sent();
    expect(inbound.map(({ source_host }) => source_host)).toEqual(['pbx.example.com', 'trunk.example.com']);
    expect(inbound.filter(({ registration }) => registration)).toHaveLength(1);
  });

  it('registers nowhere when its registrar was detached', async () => {
    await attach(register, outbound);
    const body = { phone_number: number, directions: ['outbound'] };
    await test.call('POST', '/v1/sip/detach', { body });
    expect((await sent()).map(({ registration }) => registration)).toEqual([undefined]);
  });

  it('shows what the edge last told of it', async () => {
    await attach({ ...register, sip_endpoint: 'pbx.example.com' }, { type: 'inbound' });
    const before = await records();
    expect(before.map(({ registration }) => registration)).toEqual([null, null]);
    const [own, other] = before;
    if (!own || !other) throw new Error('two records were attached');
    await report(own.id, {});
    expect((await records())[0]?.registration).toEqual({
      state: 'registered',
      registrar: 'pbx.example.com:5061',
      expires_at: '2030-01-01T00:05:10.000Z',
      sip_code: 200,
      last_error: null,
      at: '2030-01-01T00:00:10.000Z',
    });
    const failed = { state: 'failed', expires_at: null, sip_code: 403, last_error: 'No.' } as const;
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
