import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import { connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { pruneOld } from '../retention.ts';

const test = emptiedForEach(startRoutes);
let edge: EdgeClient;
let trunkId = '';
let seq = 1;
beforeEach(async () => {
  seq = 1;
  await test.call('POST', '/v1/sip/attach', {
    body: {
      phone_number: number,
      directions: ['inbound', { type: 'outbound', sip_endpoint: 'trunk.example.com' }],
    },
  });
  const { body } = await test.call('PATCH', '/v1/sip/config', {
    body: {
      phone_number: number,
      direction: 'outbound',
      failover_config: { enabled: true, endpoints: [{ host: 'second.example.com', priority: 1 }] },
    },
  });
  trunkId = String(body.data?.id);
  edge = await connectEdge(test);
});
afterEach(() => edge.kill());

const number = '+14155550100';
const primary = { host: 'trunk.example.com', port: 5061, priority: 0 };
const secondary = { host: 'second.example.com', port: 5061, priority: 1 };
const status = async (key: string | null = test.key) =>
  test.call('GET', `/v1/sip/status?phone_number=${encodeURIComponent(number)}`, { key });

function probe(changes: Partial<HealthProbe> = {}): HealthProbe {
  return {
    trunk_id: trunkId,
    endpoint: primary,
    at: new Date(test.clock.now()).toISOString(),
    healthy: true,
    response_time_ms: 40,
    sip_code: 200,
    error: null,
    consecutive_failures: 0,
    active: true,
    ...changes,
  };
}
const failed = { healthy: false, response_time_ms: null, sip_code: null, error: 'refused' };

async function report(...probes: HealthProbe[]): Promise<void> {
  edge.send(reportFrame(seq++, [{ type: 'health', probes }], new Date(test.clock.now()).toISOString()));
  await edge.next('ack');
}

describe('GET /v1/sip/status', () => {
  it('is unchecked before the first probe', async () => {
    expect((await status()).body.data).toMatchObject({
      status: 'unchecked',
      response_time_ms: null,
      checked_at: null,
      uptime_percentage: null,
      uptime_percentage_30d: null,
      average_response_time_ms: null,
      endpoints: [
        { ...primary, configuration_id: trunkId, status: 'unchecked', active: true },
        { ...secondary, configuration_id: trunkId, status: 'unchecked', active: false },
      ],
    });
  });

  it('shows the last probe of every endpoint, and which one is active', async () => {
    await report(
      probe({ ...failed, consecutive_failures: 2, active: false }),
      probe({ endpoint: secondary, response_time_ms: 55, active: true }),
    );
    const { body } = await status();
    expect(body.data).toMatchObject({
      status: 'healthy',
      response_time_ms: 55,
      checked_at: '2030-01-01T00:00:00.000Z',
      endpoints: [
        {
          priority: 0,
          status: 'unreachable',
          consecutive_failures: 2,
          active: false,
          response_time_ms: null,
        },
        { priority: 1, status: 'healthy', active: true, response_time_ms: 55 },
      ],
    });
    const shown = await test.call('GET', `/v1/sip?phone_number=${encodeURIComponent(number)}`);
    expect(shown.body.data).toMatchObject({
      inbound: { health_status: 'unchecked' },
      outbound: { health_status: 'healthy', failover_config: { active_priority: 1 } },
    });
    const numbers = await test.call('GET', '/v1/sip/numbers');
    expect(numbers.body.data?.numbers).toMatchObject([{ health_status: 'healthy' }]);
  });

  it('keeps the certificate that an endpoint presented last', async () => {
    const certificate = {
      subject: 'CN=trunk.example.com',
      issuer: 'C=US, O=Test',
      names: ['trunk.example.com'],
      valid_from: '2029-12-01T00:00:00.000Z',
      expires_at: '2030-03-01T00:00:00.000Z',
      seen_at: '2030-01-01T00:00:00.000Z',
    };
    await report(probe({ certificate }));
    await report(probe(failed));
    const kept = async () => (await status()).body.data?.endpoints;
    expect(await kept()).toMatchObject([{ status: 'unreachable', certificate }, { certificate: null }]);
    const renewed = { ...certificate, expires_at: '2030-06-01T00:00:00.000Z' };
    await report(probe({ certificate: renewed }));
    expect(await kept()).toMatchObject([{ certificate: renewed }, { certificate: null }]);
  });

  it('counts a failover endpoint only while failover is enabled', async () => {
    await report(probe({ ...failed, active: false }), probe({ endpoint: secondary }));
    await test.call('PATCH', '/v1/sip/config', {
      body: { phone_number: number, direction: 'outbound', failover_config: { enabled: false } },
    });
    const { body } = await status();
    expect(body.data).toMatchObject({
      status: 'unreachable',
      endpoints: [{ active: true }, { active: false, status: 'healthy' }],
    });
  });

  it('shows at once which endpoint a trunk has failed over to, and counts no round for it', async () => {
    await report(probe(), probe({ endpoint: secondary, active: false }));
    const moveTo = async (active_priority: number) => {
      const moves = [{ trunk_id: trunkId, active_priority }];
      edge.send(reportFrame(seq++, [{ type: 'health', probes: [], moves }]));
      await edge.next('ack');
    };
    await moveTo(1);
    expect((await status()).body.data?.endpoints).toMatchObject([{ active: false }, { active: true }]);
    await moveTo(7);
    expect((await status()).body.data?.endpoints).toMatchObject([{ active: false }, { active: true }]);
    await moveTo(0);
    expect((await status()).body.data?.endpoints).toMatchObject([{ active: true }, { active: false }]);
    const { db } = test.control.services.database;
    expect(await db.selectFrom('trunk_hours').select('rounds').execute()).toEqual([{ rounds: 1 }]);
  });

  it('counts rounds over a day and over 30 days; hours without probes are not up', async () => {
    await report(probe({ ...failed, at: '2029-12-30T22:00:00.000Z' }));
    await report(probe({ response_time_ms: 40, at: '2029-12-31T23:59:00.000Z' }));
    await report(probe({ response_time_ms: 50 }), probe({ endpoint: secondary, active: false, ...failed }));
    expect((await status()).body.data).toMatchObject({
      uptime_percentage: 100,
      uptime_percentage_30d: 66.67,
      average_response_time_ms: 45,
    });
    test.clock.advance(32 * 24 * 60 * 60 * 1000);
    expect((await status()).body.data).toMatchObject({
      uptime_percentage: null,
      uptime_percentage_30d: null,
    });
    const { db } = test.control.services.database;
    await pruneOld(db, test.clock, test.control.services.config);
    expect(await db.selectFrom('trunk_hours').selectAll().execute()).toEqual([]);
  });

  it('shows the probes of each hour, oldest first, to its organization', async () => {
    await report(probe({ ...failed, at: '2029-12-30T22:00:00.000Z' }));
    await report(probe({ ...failed, at: '2029-12-30T22:01:00.000Z' }));
    await report(probe({ response_time_ms: 50 }));
    const path = `/v1/sip/status/history?phone_number=${encodeURIComponent(number)}`;
    const now = `${new Date(test.clock.now()).toISOString().slice(0, 13)}:00:00.000Z`;
    expect((await test.call('GET', path)).body.data?.hours).toEqual([
      {
        hour: '2029-12-30T22:00:00.000Z',
        probes: 2,
        healthy_probes: 0,
        uptime_percentage: 0,
        average_response_time_ms: null,
      },
      { hour: now, probes: 1, healthy_probes: 1, uptime_percentage: 100, average_response_time_ms: 50 },
    ]);
    expect((await test.call('GET', path, { key: test.foreignKey })).codes).toEqual(['NUMBER_NOT_FOUND']);
    test.clock.advance(32 * 24 * 60 * 60 * 1000);
    expect((await test.call('GET', path)).body.data?.hours).toEqual([]);
  });

  it('counts a round as healthy when a failover endpoint is', async () => {
    await report(probe({ endpoint: secondary }), probe({ ...failed, active: false }));
    expect((await status()).body.data).toMatchObject({ uptime_percentage: 100 });
  });

  it('keeps the newer probe, and ignores deleted trunks', async () => {
    const earlier = new Date(test.clock.now() - 1000).toISOString();
    await report(probe(), probe({ ...failed, at: earlier }), probe({ trunk_id: 'gone' }));
    expect((await status()).body.data).toMatchObject({ status: 'healthy' });
  });

  it('is deleted with the record', async () => {
    await report(probe());
    await test.call('POST', '/v1/sip/detach', { body: { phone_number: number, directions: ['outbound'] } });
    expect((await status()).body.data).toMatchObject({ status: 'unchecked', endpoints: [] });
    const { db } = test.control.services.database;
    expect(await db.selectFrom('trunk_endpoints').selectAll().execute()).toEqual([]);
  });

  it('is visible to its organization only', async () => {
    await report(probe());
    expect((await status(test.foreignKey)).codes).toEqual(['NUMBER_NOT_FOUND']);
    expect((await status(null)).status).toBe(401);
    expect((await test.call('GET', '/v1/sip/status')).codes).toEqual(['INVALID_PARAMETER']);
  });
});
