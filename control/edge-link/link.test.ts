import { describe, expect, it } from 'vitest';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { id, TestEdgeLink } from '../../test/kit/control/edge-link.ts';
import { Bus } from '../replicas/index.ts';

const link = TestEdgeLink.ofFile();
const { test } = link;

const number = '+14155550100';
const attachBody = {
  phone_number: number,
  directions: [{ type: 'inbound', options: { allowed_ips: ['198.51.100.9'] } }],
};
const attach = () => test.call('POST', '/v1/sip/attach', { body: attachBody });

describe('a connecting edge', () => {
  it('is rejected without a token, with a wrong token, with an API key, and on another path', async () => {
    for (const token of [null, 'et_wrong', test.key, test.operatorKey]) {
      await expect(EdgeClient.open(link.url, token)).rejects.toThrow('401');
    }
    await expect(EdgeClient.open(link.url.replace('/link', '/other'), test.edgeToken)).rejects.toThrow('404');
  });

  it('is welcomed and gets the whole configuration', async () => {
    await attach();
    const edge = await link.connect();
    expect(await edge.next('welcome')).toEqual({
      type: 'welcome',
      acknowledged: 0,
      revision: edgeProtocol.revision,
    });
    const { config } = await edge.next('config');
    expect(config).toMatchObject({
      allowed_private_targets: [],
      open_inbound: false,
      pathways: [],
      numbers: [
        {
          number,
          org_id: test.orgId,
          inbound: [
            {
              auth_mode: 'ip',
              allowed_ips: ['198.51.100.9'],
              source_host: null,
              headers: [],
              codecs: ['PCMU', 'PCMA', 'Opus'],
            },
          ],
          agent: null,
        },
      ],
    });
    expect(config.organizations.map((one) => one.org_id)).toContain(test.orgId);
    expect(config.organizations[0]?.signing_secret).toMatch(/^[0-9a-f]{64}$/);
  });

  it('gets only what a later write changed, and every write in order', async () => {
    const edge = await link.connect();
    const { config } = await edge.next('config');
    await attach();
    const { change } = await edge.next('change');
    expect(change).toMatchObject({
      from_version: config.version,
      version: config.version + 1,
      organizations: [],
      pathways: [],
      numbers: [{ number }],
      removed_numbers: [],
    });
    const created = await test.call('POST', '/v1/pathway/create', { body: { name: 'Menu' } });
    const pathwayId = String(created.body.pathway_id);
    expect((await edge.next('change')).change).toMatchObject({
      numbers: [],
      pathways: [{ pathway_id: pathwayId, version: 0, name: 'Menu' }],
    });
    await test.call('POST', `/v1/inbound/${number}`, { body: { pathway_id: pathwayId, max_duration: 5 } });
    expect((await edge.next('change')).change.numbers).toMatchObject([
      {
        agent: {
          kind: 'pathway',
          pathway_id: pathwayId,
          pathway_version: 0,
          max_duration: 5,
          language: 'en-US',
        },
      },
    ]);
    await test.call('POST', '/v1/sip/detach', { body: { phone_number: number, directions: ['inbound'] } });
    expect((await edge.next('change')).change).toMatchObject({ numbers: [], removed_numbers: [number] });
    await test.call('DELETE', `/v1/pathway/${pathwayId}`);
    expect((await edge.next('change')).change.removed_pathways).toEqual([`${pathwayId}@0`]);
  });

  it('gets changes made on the command line within a second', async () => {
    const edge = await link.connect();
    await edge.next('config');
    const { clock, database, limits } = test.control.services;
    const log = { error: () => undefined };
    const line = new Bus({ id: 'command line', clock, database, limits: limits.replicas, log });
    const published = line.topic<null>('edge-config');
    await database.db.transaction().execute(async (db) => {
      await db
        .updateTable('counters')
        .set((eb) => ({ value: eb('value', '+', 1) }))
        .execute();
      await db
        .insertInto('edge_config_items')
        .values({ kind: 'pathway', key: 'gone@0', version: 99, content: null })
        .execute();
      await published.publish(db, null);
    });
    test.clock.advance(500);
    expect((await edge.next('change')).change.removed_pathways).toEqual(['gone@0']);
  });

  it('gets nothing for a write that does not concern it', async () => {
    await attach();
    const edge = await link.connect();
    await edge.next('config');
    await attach();
    await test.call('POST', `/v1/inbound/${number}`, { body: { label: 'Only for people' } });
    await test.call('POST', '/v1/sip/attach', { body: { ...attachBody, phone_number: '+14155550101' } });
    expect((await edge.next('change')).change.numbers.map((one) => one.number)).toEqual(['+14155550101']);
  });

  it('makes configurations applied, and /health ready, once it has confirmed them', async () => {
    const health = async () => (await test.call('GET', '/health', { key: null })).status;
    const applied = async () =>
      (await test.call('GET', '/v1/sip?phone_number=14155550100')).body.data?.inbound?.applied;
    await attach();
    expect([await health(), await applied()]).toEqual([503, false]);
    const edge = await link.connect();
    const { config } = await edge.next('config');
    expect([await health(), await applied()]).toEqual([503, false]);
    edge.send({ type: 'applied', version: config.version });
    edge.send(reportFrame(1, [link.ended(id(1))]));
    await edge.next('ack');
    expect([await health(), await applied()]).toEqual([200, true]);
    await edge.close();
    expect(await health()).toBe(503);
  });

  it('replaces its own older connection', async () => {
    const first = await link.connect();
    await first.next('config');
    const second = await link.connect();
    await second.next('config');
    expect(await first.closed).toMatchObject({ code: 4001 });
    const { body } = await test.call('GET', '/health', { key: null });
    expect(body.edge).toMatchObject({ connected: 1, ids: ['edge-1'] });
  });

  it('has its own metrics shown with a label', async () => {
    const edge = await link.connect();
    await edge.next('config');
    edge.send({
      type: 'status',
      metrics: {
        trunkline_edge_calls: 7,
        'bad name': 1,
        'trunkline_edge_refused_total{reason="draining"}': 3,
        'x{y="}': 1,
      },
    });
    edge.send(reportFrame(1, [link.ended(id(1))]));
    await edge.next('ack');
    const { text } = await test.call('GET', '/metrics', { key: test.operatorKey });
    expect(text).toContain('# TYPE trunkline_edge_calls gauge\ntrunkline_edge_calls{edge="edge-1"} 7\n');
    expect(text).toContain('trunkline_edge_refused_total{edge="edge-1",reason="draining"} 3\n');
    expect(text).not.toContain('bad name');
    expect(text).toContain('trunkline_control_edge_reports_total{outcome="stored"} 1');
  });

  it.each([
    ['no JSON', '{'],
    ['a frame without a type', '{}'],
    ['a malformed frame of a known type', '{"type":"call_ask","id":1}'],
    ['a report without a number', '{"type":"report","reports":[{"seq":"1"}]}'],
    ['a second hello', '{"type":"hello"}'],
  ])('is disconnected for %s', async (_what, text) => {
    const edge = await link.connect();
    await edge.next('config');
    edge.sendText(text);
    expect((await edge.closed).code).toBe(1008);
  });

  it('stays connected when it is newer and sends frames that this control plane does not know', async () => {
    const edge = await link.connect();
    await edge.next('config');
    for (let count = 0; count < 3; count++) edge.send({ type: 'asks_for_a_share', scopes: [] });
    edge.send(reportFrame(1, [link.ended(id(1))]));
    expect(await edge.next('ack')).toMatchObject({ seq: 1 });
  });

  it('is disconnected when it does not answer a ping', async () => {
    const edge = await link.connect();
    await edge.next('config');
    test.clock.advance(30_000);
    expect((await edge.closed).code).toBe(1006);
  });

  it('is disconnected when it reports before hello, or sends no hello for 10 s', async () => {
    const early = await EdgeClient.open(link.url, test.edgeToken);
    link.open.push(early);
    early.send(reportFrame(1, [link.ended(id(1))]));
    expect((await early.closed).code).toBe(1008);
    const silent = await EdgeClient.open(link.url, test.edgeToken);
    link.open.push(silent);
    test.clock.advance(10_000);
    expect((await silent.closed).code).toBe(1002);
  });
});
