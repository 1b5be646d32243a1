import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectEdge, type EdgeClient } from '../../test/kit/control/edge-client.ts';
import type { CallOptions } from '../../test/kit/control/harness.ts';
import { numbersOfEachTest, routesOfFile } from '../../test/kit/control/routes-of-file.ts';

const test = routesOfFile();
numbersOfEachTest(test);
const open: EdgeClient[] = [];
beforeEach(async () => {
  await test.call('POST', '/v1/sip/attach', {
    body: {
      phone_number: number,
      directions: [
        'inbound',
        {
          type: 'outbound',
          sip_endpoint: 'trunk.example.com',
          options: { sip_username: 'acme', sip_password: 'very secret' },
        },
      ],
    },
  });
});
afterEach(async () => {
  for (const edge of open.splice(0)) await edge.kill();
  await test.close();
});

const number = '+14155550100';
const patch = (body: object, options: CallOptions = {}) =>
  test.call('PATCH', '/v1/sip/config', {
    body: { phone_number: number, direction: 'outbound', ...body },
    ...options,
  });
const secondary = { host: 'Second.Example.com', priority: 1 };
const connect = async () => {
  const edge = await connectEdge(test);
  open.push(edge);
  return edge;
};

describe('PATCH /v1/sip/config', () => {
  it('merges objects by key, replaces lists, and returns the whole configuration', async () => {
    const first = await patch({
      failover_config: { enabled: true, endpoints: [secondary], triggers: ['timeout'] },
      codec_config: { codecs: ['G.722', 'PCMU'] },
      alert_config: { enabled: true, thresholds: { unreachable_minutes: 9 }, channels: { email: true } },
    });
    expect(first.status).toBe(200);
    expect(first.body.data).toMatchObject({
      number,
      direction: 'outbound',
      sip_endpoint: 'trunk.example.com',
      failover_config: {
        enabled: true,
        endpoints: [{ host: 'second.example.com', port: 5061, transport: 'tls', priority: 1 }],
        triggers: ['timeout'],
        failback: 'auto',
        active_priority: 0,
      },
      codec_config: { codecs: ['G.722', 'PCMU'], transcode: false },
      alert_config: {
        enabled: true,
        thresholds: { unreachable_minutes: 9, failure_rate_percent: 20 },
        channels: { email: true, sms: false, webhook: null },
      },
    });
    const second = await patch({
      failover_config: { failback: 'manual' },
      alert_config: { channels: { webhook: 'https://hooks.example.com/a' } },
    });
    expect(second.body.data).toMatchObject({
      failover_config: { enabled: true, failback: 'manual', triggers: ['timeout'] },
      alert_config: { channels: { email: true, webhook: 'https://hooks.example.com/a' } },
    });
    const reset = await patch({ failover_config: null, codec_config: null });
    expect(reset.body.data).toMatchObject({
      failover_config: { enabled: false, endpoints: [], failback: 'auto' },
      codec_config: { codecs: ['PCMU', 'PCMA', 'Opus'], transcode: false },
      alert_config: { enabled: true },
    });
  });

  it('warns about codecs that no connected edge has, and keeps them', async () => {
    const codec_config = { codecs: ['G.722', 'PCMU', 'G.729'] };
    expect((await patch({ codec_config })).body.data).toMatchObject({
      codec_config: { ...codec_config, unavailable: [] },
      warnings: [],
    });
    await (await connect()).next('config');
    const lacking = await patch({ codec_config });
    expect(lacking.body.data).toMatchObject({
      codec_config: { ...codec_config, unavailable: ['G.722', 'G.729'] },
      warnings: ['G.722, G.729 are unavailable: no connected edge has the library.'],
    });
    const none = await patch({ codec_config: { codecs: ['G.729'] } });
    expect(none.body.data?.warnings).toEqual([
      'G.729 is unavailable: no connected edge has the library, so no call can be placed or answered.',
    ]);
    const shown = await test.call('GET', `/v1/sip?phone_number=${encodeURIComponent(number)}`);
    expect(shown.body.data).toMatchObject({
      inbound: { codec_config: { unavailable: [] } },
      outbound: { codec_config: { codecs: ['G.729'], unavailable: ['G.729'] } },
    });
    const other = await connectEdge(test, { edge_id: 'edge-2', outbox_id: 'outbox-2', codecs: ['G.729'] });
    open.push(other);
    await other.next('config');
    expect((await patch({ codec_config })).body.data).toMatchObject({
      codec_config: { unavailable: ['G.722'] },
      warnings: ['G.722 is unavailable: no connected edge has the library.'],
    });
    expect((await patch({ alert_config: null })).body.data).toMatchObject({ warnings: [] });
  });

  it('sets the codecs of an inbound record, which has no failover', async () => {
    const answer = await patch({ direction: 'inbound', codec_config: { codecs: ['PCMA'], transcode: true } });
    expect(answer.body.data).toMatchObject({
      direction: 'inbound',
      failover_config: null,
      codec_config: { codecs: ['PCMA'], transcode: true },
    });
    for (const failover_config of [{ enabled: false }, null]) {
      const refused = await patch({ direction: 'inbound', failover_config });
      expect(refused.codes).toEqual(['FAILOVER_OUTBOUND_ONLY']);
    }
  });

  it.each([
    [{}, 'INVALID_PARAMETER'],
    [{ failover_config: { enabled: true } }, 'FAILOVER_ENDPOINTS_REQUIRED'],
    [{ failover_config: { endpoints: [{ ...secondary, transport: 'udp' }] } }, 'TRANSPORT_NOT_ALLOWED'],
    [{ failover_config: { endpoints: [{ host: '10.0.0.1', priority: 1 }] } }, 'TARGET_NOT_ALLOWED'],
    [{ failover_config: { endpoints: [{ host: '::1', priority: 1 }] } }, 'TARGET_NOT_ALLOWED'],
    [{ failover_config: { endpoints: [secondary, secondary] } }, 'INVALID_PARAMETER'],
    [{ failover_config: { endpoints: [{ host: 'a.example.com:5070', priority: 1 }] } }, 'INVALID_PARAMETER'],
    [{ failover_config: { endpoints: [{ host: 'a.example.com', priority: 3 }] } }, 'INVALID_PARAMETER'],
    [{ failover_config: { triggers: [] } }, 'INVALID_PARAMETER'],
    [{ failover_config: { triggers: ['timeout', 'timeout'] } }, 'INVALID_PARAMETER'],
    [{ failover_config: { failback_now: false } }, 'INVALID_PARAMETER'],
    [{ failover_config: { active_priority: 1 } }, 'UNKNOWN_PROPERTY'],
    [{ codec_config: { codecs: ['PCMU', 'PCMU'] } }, 'INVALID_PARAMETER'],
    [{ codec_config: { codecs: ['GSM'] } }, 'INVALID_PARAMETER'],
    [{ alert_config: { thresholds: { response_time_ms: 9 } } }, 'INVALID_PARAMETER'],
    [{ alert_config: { channels: { webhook: 'http://hooks.example.com' } } }, 'INVALID_PARAMETER'],
    [{ alert_config: { channels: { webhook: 'https://127.0.0.1/' } } }, 'TARGET_NOT_ALLOWED'],
    [{ alert_config: { channels: { sms: true } } }, 'NO_ALERT_RECIPIENTS'],
    [{ codec_config: {}, configuration_id: '00000000-0000-4000-8000-000000000001' }, 'SIP_CONFIG_NOT_FOUND'],
    [{ codec_config: {}, phone_number: '+14155550199' }, 'NUMBER_NOT_FOUND'],
  ])('rejects %j with %s', async (body, code) => {
    expect((await patch(body)).codes).toEqual([code]);
  });

  it('is closed to other organizations and requires a key', async () => {
    expect((await patch({ codec_config: {} }, { key: test.foreignKey })).codes).toEqual(['NUMBER_NOT_FOUND']);
    expect((await patch({ codec_config: {} }, { key: null })).status).toBe(401);
    expect((await patch({ codec_config: {} }, { key: test.plainKey })).codes).toEqual(['SIP_NOT_ENABLED']);
  });
});

describe('failback_now', () => {
  it('has the edges return to the primary endpoint', async () => {
    const edge = await connect();
    await edge.next('config');
    const answer = patch({ failover_config: { failback_now: true } });
    const { id, command } = await edge.next('command');
    edge.send({ type: 'result', id, ok: true });
    const { body } = await answer;
    expect(command).toEqual({ kind: 'trunk.failback', trunk_id: body.data?.id });
    expect(body.data?.failover_config).not.toHaveProperty('failback_now');
  });

  it('is 503 without an edge, and stores nothing', async () => {
    const answer = await patch({ failover_config: { failback_now: true, failback: 'manual' } });
    expect(answer).toMatchObject({ status: 503, codes: ['SERVICE_UNAVAILABLE'] });
    const { body } = await test.call('GET', `/v1/sip?phone_number=${encodeURIComponent(number)}`);
    expect(body.data?.outbound).toMatchObject({ failover_config: { failback: 'auto' } });
  });
});

describe('the configuration of an edge', () => {
  it('has the outbound trunks with their credentials in plain text; they are stored sealed', async () => {
    await patch({
      failover_config: { endpoints: [{ host: 'third.example.com', port: 5071, priority: 2 }, secondary] },
      codec_config: { codecs: ['PCMA'] },
    });
    const edge = await connect();
    const trunk = {
      priority: 1,
      endpoints: [{ host: 'trunk.example.com', port: 5061, priority: 0 }],
      triggers: ['unreachable', 'auth_failure', 'timeout'],
      failback: 'auto',
      codecs: ['PCMA'],
      transcode: false,
      credentials: { username: 'acme', password: 'very secret', realm: null },
      headers: [],
    };
    expect((await edge.next('config')).config.numbers).toMatchObject([{ number, outbound: [trunk] }]);
    await patch({ failover_config: { enabled: true } });
    expect((await edge.next('change')).change.numbers).toMatchObject([
      {
        outbound: [
          {
            ...trunk,
            endpoints: [
              { host: 'trunk.example.com', port: 5061, priority: 0 },
              { host: 'second.example.com', port: 5061, priority: 1 },
              { host: 'third.example.com', port: 5071, priority: 2 },
            ],
          },
        ],
      },
    ]);
    const stored = await test.control.services.database.db
      .selectFrom('edge_config_items')
      .select('content')
      .execute();
    expect(JSON.stringify(stored)).not.toContain('very secret');
  });
});
