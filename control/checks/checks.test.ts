import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestCallState } from '#shared/edge-protocol/reports.ts';
import type { DiscoveryResult } from '#shared/trunk-protocol.ts';
import { connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { type CallOptions, startRoutes } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { pruneOld } from '../retention.ts';

const test = emptiedForEach(startRoutes);
let edge: EdgeClient;
beforeEach(async () => {
  edge = await connectEdge(test);
  await edge.next('config');
});
afterEach(() => edge.kill());

/** Receives the next command and answers it. */
async function nextCommand<K extends string>(kind: K) {
  const { id, command } = await edge.next('command');
  if (command.kind !== kind) throw new Error(`unexpected ${command.kind}`);
  edge.send({ type: 'result', id, ok: true });
  return command;
}

const minute = 60_000;

describe('discovery', () => {
  const discover = (body: object = { host: 'sip.example.com' }, options: CallOptions = {}) =>
    test.call('POST', '/v1/sip/discover', { body, ...options });
  const status = (id: unknown, key: string | null = test.key) =>
    test.call('GET', `/v1/sip/discover/status?discovery_id=${String(id)}`, { key });
  const result: DiscoveryResult = {
    status: 'completed',
    error: null,
    resolved_addresses: ['203.0.113.10'],
    srv_records: [],
    attempts: [
      {
        address: '203.0.113.10',
        port: 5061,
        transport: 'tls',
        response_time_ms: 45,
        response_code: 200,
        user_agent: 'PBX',
        error: null,
      },
    ],
    recommended: null,
    tls: null,
  };
  let seq = 1;
  beforeEach(() => {
    seq = 1;
  });
  const idOf = async () => {
    const command = await nextCommand('discovery.run');
    if (command.kind !== 'discovery.run') throw new Error('unexpected command');
    return { id: command.discovery_id, command };
  };
  const report = async (discovery_id: string, changes: Partial<DiscoveryResult> = {}) => {
    edge.send(reportFrame(seq++, [{ type: 'discovery', discovery_id, result: { ...result, ...changes } }]));
    await edge.next('ack');
  };
  /** Starts a discovery that takes longer than the request waits. */
  const running = async () => {
    const answer = discover();
    const { id } = await idOf();
    await expect.poll(() => test.control.services.announcements.waits(id)).toBe(true);
    test.clock.advance(2000);
    return { id, answer: await answer };
  };

  it('answers 200 with the result when the edge finishes within 2 s', async () => {
    const answer = discover({ host: 'sips:PBX.example.com:5071' });
    const { id, command } = await idOf();
    expect(command).toMatchObject({ host: 'pbx.example.com', port: 5071, transport: 'tls' });
    await report(id);
    expect(await answer).toMatchObject({
      status: 200,
      body: {
        data: {
          discovery_id: id,
          host: 'pbx.example.com',
          ...result,
          started_at: '2030-01-01T00:00:00.000Z',
          completed_at: '2030-01-01T00:00:00.000Z',
        },
      },
    });
    expect(id).toMatch(/^disc_[0-9a-f-]{36}$/);
  });

  it('answers 202 while it runs, rejects a second one, and shows its progress and its end', async () => {
    const { id, answer } = await running();
    expect(answer).toMatchObject({
      status: 202,
      body: { data: { discovery_id: id, status: 'running', attempts: [], completed_at: null } },
    });
    const second = await discover();
    expect(second).toMatchObject({ status: 409, codes: ['DISCOVERY_IN_PROGRESS'] });
    expect(second.body.errors).toMatchObject([{ details: { discovery_id: id } }]);
    await report(id, { status: 'running' });
    expect((await status(id)).body.data).toMatchObject({ status: 'running', attempts: [{ port: 5061 }] });
    await report(id);
    expect((await status(id)).body.data).toMatchObject({ status: 'completed' });
  });

  it('runs for two organizations at the same time', async () => {
    await running();
    const answer = discover({ host: 'sip.example.com' }, { key: test.foreignKey });
    const { id } = await idOf();
    await report(id);
    expect((await answer).status).toBe(200);
  });

  it('fails when the edge reports no end, and can be requested again', async () => {
    const { id } = await running();
    await edge.kill();
    test.clock.advance(28_000);
    expect((await status(id)).body.data).toMatchObject({
      status: 'failed',
      error: { code: 'DISCOVERY_TIMEOUT' },
      completed_at: '2030-01-01T00:00:30.000Z',
    });
    edge = await connectEdge(test);
    await edge.next('config');
    const again = discover();
    await report((await idOf()).id);
    expect((await again).status).toBe(200);
  });

  it('is kept for 10 minutes, for its organization', async () => {
    const answer = discover();
    const { id } = await idOf();
    await report(id);
    await answer;
    expect((await status(id, test.foreignKey)).codes).toEqual(['DISCOVERY_NOT_FOUND']);
    expect((await status(id, null)).status).toBe(401);
    expect((await status('disc_x')).codes).toEqual(['DISCOVERY_NOT_FOUND']);
    await edge.kill();
    test.clock.advance(10 * minute - 1);
    expect((await status(id)).status).toBe(200);
    test.clock.advance(1);
    expect((await status(id)).codes).toEqual(['DISCOVERY_NOT_FOUND']);
    test.clock.advance(2 * minute);
    const { db } = test.control.services.database;
    await pruneOld(db, test.clock, test.control.services.config);
    expect(await db.selectFrom('discoveries').selectAll().execute()).toEqual([]);
  });

  it('is rejected when the name resolves to a private address', async () => {
    const answer = discover();
    const { id } = await idOf();
    await report(id, { status: 'failed', error: { code: 'TARGET_NOT_ALLOWED', message: 'is private' } });
    expect((await answer).codes).toEqual(['TARGET_NOT_ALLOWED']);
  });

  it.each([
    [{}, 'INVALID_PARAMETER'],
    [{ host: 'not a host' }, 'INVALID_PARAMETER'],
    [{ host: 'a.example.com:5060', port: 5061 }, 'INVALID_PARAMETER'],
    [{ host: 'tls://a.example.com', transport: 'udp' }, 'INVALID_PARAMETER'],
    [{ host: 'a.example.com', port: 0 }, 'INVALID_PARAMETER'],
    [{ host: '10.1.2.3' }, 'TARGET_NOT_ALLOWED'],
    [{ host: '::1' }, 'TARGET_NOT_ALLOWED'],
    [{ host: 'localhost' }, 'TARGET_NOT_ALLOWED'],
  ])('rejects %j with %s', async (body, code) => {
    expect((await discover(body)).codes).toEqual([code]);
  });

  it('is 503 without an edge or when it refuses, and nothing is running afterward', async () => {
    const answer = discover();
    const { id } = await edge.next('command');
    edge.send({ type: 'result', id, ok: false, error: 'busy' });
    expect((await answer).status).toBe(503);
    await edge.kill();
    await expect.poll(() => test.control.services.edges.count).toBe(0);
    expect((await discover()).codes).toEqual(['SERVICE_UNAVAILABLE']);
    expect((await discover({ host: 'a.example.com' }, { key: null })).status).toBe(401);
  });
});

describe('test calls', () => {
  const number = '+14155550100';
  beforeEach(async () => {
    await test.call('POST', '/v1/sip/attach', {
      body: {
        phone_number: number,
        directions: ['inbound', { type: 'outbound', sip_endpoint: 'trunk.example.com' }],
      },
    });
  });
  const start = (body: object = {}, options: CallOptions = {}) =>
    test.call('POST', '/v1/sip/test-call', { body: { phone_number: number, ...body }, ...options });
  const status = (id: unknown, key: string | null = test.key) =>
    test.call('GET', `/v1/sip/test-call/status?call_id=${String(id)}`, { key });
  const configurationId = async (direction: string) => {
    const { body } = await test.call('GET', `/v1/sip?phone_number=${encodeURIComponent(number)}`);
    return String(body.data?.[direction]?.id);
  };
  const started = async (body: object = {}, options: CallOptions = {}) => {
    const answer = start(body, options);
    const command = await nextCommand('test_call.run');
    return { command, id: String((await answer).body.data?.call_id) };
  };
  const state: TestCallState = {
    status: 'completed',
    result: 'connected',
    duration_seconds: 8,
    sip_code: 200,
    sip_call_id: 'c1@edge',
    codec: 'PCMU',
    error: null,
    diagnosis: null,
    timeline: [{ event: 'answered', at: '2030-01-01T00:00:01.000Z', detail: '200 OK' }],
    media: { packets_sent: 400, packets_received: 398, verdict: 'two_way' },
  };

  it('are run by an edge, and show what it reports', async () => {
    const { command, id } = await started();
    expect(id).toMatch(/^tc_[0-9a-f-]{36}$/);
    expect(command).toEqual({
      kind: 'test_call.run',
      test_call_id: id,
      org_id: test.orgId,
      number,
      to: number,
      trunk_id: await configurationId('outbound'),
      max_seconds: 10,
      dtmf: null,
    });
    expect((await status(id)).body.data).toMatchObject({
      call_id: id,
      status: 'queued',
      result: 'pending',
      diagnosis: null,
      timeline: [],
      media: null,
    });
    edge.send(reportFrame(1, [{ type: 'test_call', test_call_id: id, ...state }]));
    await edge.next('ack');
    expect((await status(id)).body).toEqual({ data: { call_id: id, ...state }, errors: null });
  });

  it('call the extension, with the requested keys and length', async () => {
    const configuration_id = await configurationId('outbound');
    const { command } = await started({ to: '1001', max_seconds: 60, dtmf: '1w#', configuration_id });
    expect(command).toMatchObject({ to: '1001', max_seconds: 60, dtmf: '1w#', trunk_id: configuration_id });
  });

  it('fail when the edge reports no end', async () => {
    const { id } = await started();
    await edge.kill();
    test.clock.advance(3 * minute);
    expect((await status(id)).body.data).toMatchObject({
      status: 'failed',
      error: 'EDGE_LOST',
      diagnosis: 'The edge that made the test call did not report its end.',
    });
  });

  it('are kept for 24 hours, for their organization', async () => {
    const { id } = await started();
    expect((await status(id, test.foreignKey)).codes).toEqual(['TEST_CALL_NOT_FOUND']);
    expect((await status(id, null)).status).toBe(401);
    await edge.kill();
    test.clock.advance(24 * 60 * minute);
    expect((await status(id)).codes).toEqual(['TEST_CALL_NOT_FOUND']);
  });

  it.each<[object, string]>([
    [{ phone_number: 'x' }, 'INVALID_PARAMETER'],
    [{ phone_number: '+14155550199' }, 'NUMBER_NOT_FOUND'],
    [{ configuration_id: '00000000-0000-4000-8000-000000000001' }, 'SIP_CONFIG_NOT_FOUND'],
    [{ to: 'sip:a@b' }, 'INVALID_PARAMETER'],
    [{ max_seconds: 4 }, 'INVALID_PARAMETER'],
    [{ dtmf: 'x' }, 'INVALID_PARAMETER'],
  ])('are rejected: %j with %s', async (body, code) => {
    expect((await start(body)).codes).toEqual([code]);
  });

  it('require an outbound configuration', async () => {
    await test.call('POST', '/v1/sip/detach', { body: { phone_number: number, directions: ['outbound'] } });
    expect((await start()).codes).toEqual(['OUTBOUND_NOT_CONFIGURED']);
    expect((await start({}, { key: test.foreignKey })).codes).toEqual(['NUMBER_NOT_FOUND']);
    expect((await start({}, { key: null })).status).toBe(401);
    expect((await start({}, { key: test.plainKey })).codes).toEqual(['SIP_NOT_ENABLED']);
  });

  it('answered with 503 do not count toward the limit', async () => {
    await edge.kill();
    for (let tried = 0; tried < 11; tried++) expect((await start()).status).toBe(503);
  });

  it('that are rejected do not count toward the limit, nor does a repeated response', async () => {
    const ask = (body: object, headers: Record<string, string> = {}) =>
      test.call('POST', '/v1/sip/test-call', { body, headers });
    const number = { phone_number: '+14155550100' };
    for (let round = 0; round < 3; round++) {
      for (const [body, status] of [
        [{ ...number, max_seconds: 1 }, 400],
        [{ ...number, unknown: 1 }, 400],
        [{ phone_number: '+14155550999' }, 404],
        [{ ...number, configuration_id: '00000000-0000-4000-8000-00000000dead' }, 404],
      ] as const) {
        expect((await ask(body)).status).toBe(status);
      }
    }
    await edge.kill();
    for (let round = 0; round < 10; round++) expect((await ask(number)).status).toBe(503);
    edge = await connectEdge(test);
    await edge.next('config');
    const once = { 'idempotency-key': 'once' };
    const first = ask(number, once);
    await nextCommand('test_call.run');
    expect((await first).status).toBe(200);
    for (let round = 0; round < 10; round++) {
      expect((await ask(number, once)).headers['idempotent-replayed']).toBe('true');
    }
    for (let made = 1; made < 10; made++) await started();
    expect((await ask(number)).status).toBe(429);
  });

  it('are limited to 10 in 15 minutes', async () => {
    for (let made = 0; made < 10; made++) await started();
    const refused = await start();
    expect(refused).toMatchObject({ status: 429, codes: ['RATE_LIMITED'] });
    expect(refused.body.errors).toMatchObject([{ details: { limit: 10, window_seconds: 900 } }]);
    expect(refused.headers['retry-after']).toBe('900');
  });

  it('are 503 without an edge', async () => {
    await edge.kill();
    await expect.poll(() => test.control.services.edges.count).toBe(0);
    expect((await start()).codes).toEqual(['SERVICE_UNAVAILABLE']);
  });
});
