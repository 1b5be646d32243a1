import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRecord, EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';

let test: TestControl;
let url = '';
const open: EdgeClient[] = [];

beforeEach(async () => {
  test = await startControl({ EXPECT_EDGE: 'true' });
  await listen();
});
afterEach(async () => {
  for (const edge of open.splice(0)) await edge.kill();
  await test.close();
});

async function listen(): Promise<void> {
  url = `${(await test.url()).replace('http', 'ws')}/v1/edge/link`;
}

async function connect(hello = {}): Promise<EdgeClient> {
  const edge = await EdgeClient.connect(url, test.edgeToken, hello);
  open.push(edge);
  return edge;
}

const number = '+14155550100';
const attachBody = {
  phone_number: number,
  directions: [{ type: 'inbound', options: { allowed_ips: ['198.51.100.9'] } }],
};
const attach = () => test.call('POST', '/v1/sip/attach', { body: attachBody });
const ended = (id: string, changes = {}): ReportBody => ({
  type: 'call',
  call: callRecord(test.orgId, { id, ...changes }),
});
const id = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;
const logged = async () => (await test.call('GET', '/v1/sip/calls')).body.data?.calls;
const idsOf = (calls: unknown) => (Array.isArray(calls) ? calls.map((call: { id: string }) => call.id) : []);

describe('a connecting edge', () => {
  it('is rejected without a token, with a wrong token, with an API key, and on another path', async () => {
    for (const token of [null, 'et_wrong', test.key, test.operatorKey]) {
      await expect(EdgeClient.open(url, token)).rejects.toThrow('401');
    }
    await expect(EdgeClient.open(url.replace('/link', '/other'), test.edgeToken)).rejects.toThrow('404');
  });

  it('is welcomed and gets the whole configuration', async () => {
    await attach();
    const edge = await connect();
    expect(await edge.next('welcome')).toEqual({ type: 'welcome', acknowledged: 0 });
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
    const edge = await connect();
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
    const edge = await connect();
    await edge.next('config');
    const { db } = test.control.services.database;
    await db
      .updateTable('counters')
      .set((eb) => ({ value: eb('value', '+', 1) }))
      .execute();
    await db
      .insertInto('edge_config_items')
      .values({ kind: 'pathway', key: 'gone@0', version: 99, content: null })
      .execute();
    test.clock.advance(500);
    expect((await edge.next('change')).change.removed_pathways).toEqual(['gone@0']);
  });

  it('gets nothing for a write that does not concern it', async () => {
    await attach();
    const edge = await connect();
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
    const edge = await connect();
    const { config } = await edge.next('config');
    expect([await health(), await applied()]).toEqual([503, false]);
    edge.send({ type: 'applied', version: config.version });
    edge.send(reportFrame(1, [ended(id(1))]));
    await edge.next('ack');
    expect([await health(), await applied()]).toEqual([200, true]);
    await edge.close();
    expect(await health()).toBe(503);
  });

  it('replaces its own older connection', async () => {
    const first = await connect();
    await first.next('config');
    const second = await connect();
    await second.next('config');
    expect(await first.closed).toMatchObject({ code: 4001 });
    const { body } = await test.call('GET', '/health', { key: null });
    expect(body.edge).toMatchObject({ connected: 1, ids: ['edge-1'] });
  });

  it('has its own metrics shown with a label', async () => {
    const edge = await connect();
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
    edge.send(reportFrame(1, [ended(id(1))]));
    await edge.next('ack');
    const { text } = await test.call('GET', '/metrics', { key: test.operatorKey });
    expect(text).toContain('# TYPE trunkline_edge_calls untyped\ntrunkline_edge_calls{edge="edge-1"} 7\n');
    expect(text).toContain('trunkline_edge_refused_total{edge="edge-1",reason="draining"} 3\n');
    expect(text).not.toContain('bad name');
    expect(text).toContain('trunkline_control_edge_reports_total{outcome="stored"} 1');
  });

  it.each([
    ['no JSON', '{'],
    ['an unknown frame', '{"type":"other"}'],
    ['a report without a number', '{"type":"report","reports":[{"seq":"1"}]}'],
    ['a second hello', '{"type":"hello"}'],
  ])('is disconnected for %s', async (_what, text) => {
    const edge = await connect();
    await edge.next('config');
    edge.sendText(text);
    expect((await edge.closed).code).toBe(1008);
  });

  it('is disconnected when it does not answer a ping', async () => {
    const edge = await connect();
    await edge.next('config');
    test.clock.advance(30_000);
    expect((await edge.closed).code).toBe(1006);
  });

  it('is disconnected when it reports before hello, or sends no hello for 10 s', async () => {
    const early = await EdgeClient.open(url, test.edgeToken);
    open.push(early);
    early.send(reportFrame(1, [ended(id(1))]));
    expect((await early.closed).code).toBe(1008);
    const silent = await EdgeClient.open(url, test.edgeToken);
    open.push(silent);
    test.clock.advance(10_000);
    expect((await silent.closed).code).toBe(1002);
  });
});

describe('reports', () => {
  it('are acknowledged once stored, and a repeated delivery changes nothing', async () => {
    const edge = await connect();
    const frame = reportFrame(1, [
      ended(id(1)),
      {
        type: 'transcript',
        call_id: id(1),
        entries: [
          {
            id: 't1',
            at: '2030-01-01T00:00:03.000Z',
            user: 'assistant',
            text: 'Hello',
            node_id: 'a',
            node_name: 'A',
          },
        ],
      },
      ended(id(2)),
    ]);
    edge.send(frame);
    expect(await edge.next('ack')).toEqual({ type: 'ack', seq: 3 });
    edge.send(frame);
    expect(await edge.next('ack')).toEqual({ type: 'ack', seq: 3 });
    expect(idsOf(await logged())).toEqual([id(2), id(1)]);
    const { body } = await test.call('GET', `/v1/calls/${id(1)}`);
    expect(body.concatenated_transcript).toBe('assistant: Hello');
  });

  it('that overlap stored ones add only what is new', async () => {
    const edge = await connect();
    edge.send(reportFrame(1, [ended(id(1)), ended(id(2))]));
    await edge.next('ack');
    edge.send(reportFrame(2, [ended(id(9)), ended(id(3))]));
    expect(await edge.next('ack')).toEqual({ type: 'ack', seq: 3 });
    expect(idsOf(await logged())).toEqual([id(3), id(2), id(1)]);
  });

  it('survive a cut connection without loss or duplicates', async () => {
    const frames = Array.from({ length: 20 }, (_, index) =>
      reportFrame(
        index * 5 + 1,
        [1, 2, 3, 4, 5].map((step) => ended(id(index * 5 + step))),
      ),
    );
    const first = await connect();
    await first.next('welcome');
    for (const frame of frames.slice(0, 12)) first.send(frame);
    await first.next('ack');
    await first.kill();
    const second = await connect();
    const { acknowledged } = await second.next('welcome');
    expect(acknowledged).toBeGreaterThanOrEqual(5);
    for (const frame of frames.slice(Math.floor(acknowledged / 5) - 1)) second.send(frame);
    for (let seq = 0; seq < 100; ) seq = (await second.next('ack')).seq;
    const { body } = await test.call('GET', '/v1/sip/calls?limit=500');
    const ids = idsOf(body.data?.calls);
    expect(ids).toEqual(Array.from({ length: 100 }, (_, index) => id(100 - index)));
  });

  it('of two outboxes are counted separately', async () => {
    const first = await connect();
    first.send(reportFrame(1, [ended(id(1))]));
    await first.next('ack');
    const second = await connect({ outbox_id: 'outbox-2' });
    expect(await second.next('welcome')).toEqual({ type: 'welcome', acknowledged: 0 });
    second.send(reportFrame(1, [ended(id(2))]));
    expect(await second.next('ack')).toEqual({ type: 'ack', seq: 1 });
    expect(await logged()).toHaveLength(2);
  });

  it('that cannot be parsed are set aside and block nothing', async () => {
    const edge = await connect();
    edge.send({
      type: 'report',
      reports: [
        { seq: 1, at: '2030-01-01T00:00:00.000Z', body: { type: 'call', call: { id: 'x' } } },
        {
          seq: 2,
          at: '2030-01-01T00:00:00.000Z',
          body: ended(id(2), { started_at: 'not a time, but long enough' }),
        },
        { seq: 3, at: '2030-01-01T00:00:00.000Z', body: ended(id(3)) },
      ],
    });
    expect(await edge.next('ack')).toEqual({ type: 'ack', seq: 3 });
    expect(idsOf(await logged())).toEqual([id(3)]);
    const rejected = await test.control.services.database.db
      .selectFrom('rejected_reports')
      .select(['seq', 'edge_id'])
      .execute();
    expect(rejected).toEqual([
      { seq: 1, edge_id: 'edge-1' },
      { seq: 2, edge_id: 'edge-1' },
    ]);
  });

  it('cannot take over a call of another organization', async () => {
    const edge = await connect();
    edge.send(
      reportFrame(1, [
        ended(id(1)),
        { type: 'call', call: callRecord(test.foreignOrgId, { id: id(1), from: '+19995550100' }) },
      ]),
    );
    await edge.next('ack');
    expect(await logged()).toMatchObject([{ from: '+14155550123' }]);
  });

  it('show a call in progress', async () => {
    const edge = await connect();
    const now = {
      ended_at: null,
      status: 'in-progress',
      sip_code: null,
      sip_reason: null,
      termination: null,
      hangup_by: null,
      media: null,
    };
    edge.send(reportFrame(1, [ended(id(1), now)]));
    await edge.next('ack');
    test.clock.advance(12_000);
    expect((await test.call('GET', `/v1/calls/${id(1)}`)).body).toMatchObject({
      status: 'in-progress',
      completed: false,
      end_at: null,
      corrected_duration: 10,
      call_ended_by: null,
    });
    expect(await logged()).toMatchObject([
      { status: 'in progress', outcome: 'in_progress', sip_code: null, ended_at: null, hangup_by: null },
    ]);
    edge.send(reportFrame(2, [ended(id(1))]));
    await edge.next('ack');
    expect(await logged()).toMatchObject([
      { status: '200 OK', outcome: 'completed', duration_seconds: 45.25, hangup_by: 'peer' },
    ]);
  });
});

describe('POST /v1/calls/{id}/stop', () => {
  const stop = (callId = id(1), key: string | null = test.key) =>
    test.call('POST', `/v1/calls/${callId}/stop`, { key });
  const inProgress = {
    ended_at: null,
    status: 'in-progress',
    sip_code: null,
    termination: null,
    hangup_by: null,
  };

  async function live(): Promise<EdgeClient> {
    const edge = await connect();
    edge.send(reportFrame(1, [ended(id(1), inProgress)]));
    await edge.next('ack');
    return edge;
  }

  it('sends the edge a command and answers when the edge has answered', async () => {
    const edge = await live();
    const answer = stop();
    const { id: commandId, command } = await edge.next('command');
    expect(command).toEqual({ kind: 'call.stop', call_id: id(1) });
    edge.send({ type: 'result', id: commandId, ok: true });
    expect((await answer).body).toEqual({ status: 'success', message: 'Call stopped' });
  });

  it('answers the same for an ended call, without asking an edge', async () => {
    const edge = await live();
    edge.send(reportFrame(2, [ended(id(1))]));
    await edge.next('ack');
    expect((await stop()).body).toEqual({ status: 'success', message: 'Call stopped' });
    expect(edge.untaken.filter((frame) => frame.type === 'command')).toEqual([]);
  });

  it('is 503 when the edge refuses, does not answer, or is gone', async () => {
    const edge = await live();
    const refused = stop();
    edge.send({ type: 'result', id: (await edge.next('command')).id, ok: false, error: 'no such call' });
    expect(await refused).toMatchObject({ status: 503, codes: ['SERVICE_UNAVAILABLE'] });
    const silent = stop();
    await edge.next('command');
    test.clock.advance(5000);
    expect((await silent).headers['retry-after']).toBe('5');
    const cut = stop();
    await edge.next('command');
    await edge.kill();
    expect((await cut).status).toBe(503);
    expect((await stop()).status).toBe(503);
  });

  it("is 404 for unknown calls and other organizations' calls, and requires a key", async () => {
    await live();
    expect((await stop(id(2))).codes).toEqual(['CALL_NOT_FOUND']);
    expect((await stop(id(1), test.foreignKey)).codes).toEqual(['CALL_NOT_FOUND']);
    expect((await stop(id(1), null)).status).toBe(401);
    expect((await test.call('POST', `/v1/calls/${id(1)}/stop`, { body: { a: 1 } })).codes).toEqual([
      'UNKNOWN_PROPERTY',
    ]);
  });
});
