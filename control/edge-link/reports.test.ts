/** Reports of edges: each is stored once, whatever happens to the connection. */
import { describe, expect, it } from 'vitest';
import { callRecord, reportFrame } from '../../test/kit/control/edge-client.ts';
import { id, TestEdgeLink } from '../../test/kit/control/edge-link.ts';

const link = TestEdgeLink.ofFile();
const { test } = link;

const logged = async () => (await test.call('GET', '/v1/sip/calls')).body.data?.calls;
const idsOf = (calls: unknown) => (Array.isArray(calls) ? calls.map((call: { id: string }) => call.id) : []);

describe('reports', () => {
  it('are acknowledged once stored, and a repeated delivery changes nothing', async () => {
    const edge = await link.connect();
    const frame = reportFrame(1, [
      link.ended(id(1)),
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
      link.ended(id(2)),
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
    const edge = await link.connect();
    edge.send(reportFrame(1, [link.ended(id(1)), link.ended(id(2))]));
    await edge.next('ack');
    edge.send(reportFrame(2, [link.ended(id(9)), link.ended(id(3))]));
    expect(await edge.next('ack')).toEqual({ type: 'ack', seq: 3 });
    expect(idsOf(await logged())).toEqual([id(3), id(2), id(1)]);
  });

  it('survive a cut connection without loss or duplicates', async () => {
    const frames = Array.from({ length: 20 }, (_, index) =>
      reportFrame(
        index * 5 + 1,
        [1, 2, 3, 4, 5].map((step) => link.ended(id(index * 5 + step))),
      ),
    );
    const first = await link.connect();
    await first.next('welcome');
    for (const frame of frames.slice(0, 12)) first.send(frame);
    await first.next('ack');
    await first.kill();
    const second = await link.connect();
    const { acknowledged } = await second.next('welcome');
    expect(acknowledged).toBeGreaterThanOrEqual(5);
    for (const frame of frames.slice(Math.floor(acknowledged / 5) - 1)) second.send(frame);
    for (let seq = 0; seq < 100; ) seq = (await second.next('ack')).seq;
    const { body } = await test.call('GET', '/v1/sip/calls?limit=500');
    const ids = idsOf(body.data?.calls);
    expect(ids).toEqual(Array.from({ length: 100 }, (_, index) => id(100 - index)));
  });

  it('of two outboxes are counted separately', async () => {
    const first = await link.connect();
    first.send(reportFrame(1, [link.ended(id(1))]));
    await first.next('ack');
    const second = await link.connect({ outbox_id: 'outbox-2' });
    expect(await second.next('welcome')).toMatchObject({ type: 'welcome', acknowledged: 0 });
    second.send(reportFrame(1, [link.ended(id(2))]));
    expect(await second.next('ack')).toEqual({ type: 'ack', seq: 1 });
    expect(await logged()).toHaveLength(2);
  });

  it('that cannot be parsed are set aside and block nothing', async () => {
    const edge = await link.connect();
    edge.send({
      type: 'report',
      reports: [
        { seq: 1, at: '2030-01-01T00:00:00.000Z', body: { type: 'call', call: { id: 'x' } } },
        {
          seq: 2,
          at: '2030-01-01T00:00:00.000Z',
          body: link.ended(id(2), { started_at: 'not a time, but long enough' }),
        },
        { seq: 3, at: '2030-01-01T00:00:00.000Z', body: link.ended(id(3)) },
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
    const edge = await link.connect();
    edge.send(
      reportFrame(1, [
        link.ended(id(1)),
        { type: 'call', call: callRecord(test.foreignOrgId, { id: id(1), from: '+19995550100' }) },
      ]),
    );
    await edge.next('ack');
    expect(await logged()).toMatchObject([{ from: '+14155550123' }]);
  });

  it('show a call in progress', async () => {
    const edge = await link.connect();
    const now = {
      ended_at: null,
      status: 'in-progress',
      sip_code: null,
      sip_reason: null,
      termination: null,
      hangup_by: null,
      media: null,
    };
    edge.send(reportFrame(1, [link.ended(id(1), now)]));
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
    edge.send(reportFrame(2, [link.ended(id(1))]));
    await edge.next('ack');
    expect(await logged()).toMatchObject([
      { status: '200 OK', outcome: 'completed', duration_seconds: 45.25, hangup_by: 'peer' },
    ]);
  });
});
