import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallList, CallView, type ListedCall } from '#shared/api/calls.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { callRecord } from '../../test/kit/control/edge-client.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { createReportStore } from '../report-writers.ts';

let test: TestControl;
const id = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;
const pathway = id(901);
const persona = id(902);
const unanswered = { answered_at: null, media: null } as const;
const running = { ended_at: null, hangup_by: null, termination: null, sip_code: null } as const;

beforeAll(async () => {
  test = await startRoutes({ RATE_LIMIT_PER_MINUTE: '1000' });
  const calls: Partial<CallRecord>[] = [
    { id: id(1), started_at: '2030-01-01T10:00:00.000Z', pathway_id: pathway, pathway_version: 3 },
    { ...unanswered, id: id(2), started_at: '2030-01-01T10:00:00.000Z', status: 'busy', sip_code: 486 },
    {
      ...unanswered,
      id: id(3),
      started_at: '2030-01-02T00:00:00.000Z',
      direction: 'outbound',
      number: '+14155550101',
      from: '+14155550101',
      to: '+14155550123',
      trunk_id: 'trunk',
      persona_id: persona,
      sip_code: 503,
      status: 'failed',
      termination: 'capacity',
      termination_detail: 'Limit 200.',
      hangup_by: 'error',
    },
    { ...running, ...unanswered, id: id(4), started_at: '2030-01-03T12:00:00.000Z', status: 'ringing' },
    {
      ...running,
      id: id(5),
      started_at: '2030-01-03T12:00:01.000Z',
      answered_at: '2030-01-03T12:00:02.000Z',
      status: 'in-progress',
      pathway_id: pathway,
      parent_id: id(4),
    },
  ];
  const records = calls.map((call) => callRecord(test.orgId, call));
  records.push(callRecord(test.foreignOrgId, { id: id(6), started_at: '2030-01-04T00:00:00.000Z' }));
  await createReportStore(test.control.services.database, test.clock).store(
    { edgeId: 'e', outboxId: 'o' },
    records.map((call, index) => ({
      seq: index + 1,
      at: '2030-01-01T00:00:00.000Z',
      body: { type: 'call', call },
    })),
  );
});
afterAll(() => test.close());

const read = async (query = '') => (await test.call('GET', `/v1/calls${query}`)).read(CallList).data;
const numberOf = ({ call_id }: ListedCall) => Number(call_id.slice(-3));

describe('GET /v1/calls', () => {
  it.each([
    ['', [5, 4, 3, 2, 1]],
    ['?status=in-progress', [5]],
    ['?status=ringing', [4]],
    ['?status=queued', []],
    ['?status=completed', [1]],
    ['?status=busy', [2]],
    ['?status=failed&direction=outbound', [3]],
    ['?status=ringing&direction=inbound&phone_number=14155550100', [4]],
    ['?phone_number=14155550101', [3]],
    ['?other_party=%2B1%20415%20555%200123&direction=outbound', [3]],
    ['?from_date=2030-01-02&to_date=2030-01-02', [3]],
    [`?pathway_id=${pathway}`, [5, 1]],
    [`?pathway_id=${pathway}&status=in-progress`, [5]],
    [`?persona_id=${persona}`, [3]],
    [`?persona_id=${id(903)}`, []],
    ['?trunk_id=trunk', [3]],
    ['?termination=capacity', [3]],
  ])('lists the calls of %s, newest first, of this organization alone', async (query, expected) => {
    expect((await read(query)).calls.map(numberOf)).toEqual(expected);
  });

  it('has a cursor to the next page until the last', async () => {
    for (const filter of ['', `&pathway_id=${pathway}`]) {
      const all = (await read(`?limit=500${filter}`)).calls.map(numberOf);
      const found: number[] = [];
      let page = await read(`?limit=1${filter}`);
      for (; page.next !== null; page = await read(`?limit=1${filter}&before=${page.next}`)) {
        found.push(...page.calls.map(numberOf));
        expect(found.length).toBeLessThanOrEqual(5);
      }
      expect([...found, ...page.calls.map(numberOf)]).toEqual(all);
    }
  });

  it('shows what the call shows under its id, and needs no SIP', async () => {
    const { calls } = await read();
    for (const call of calls) {
      const one = (await test.call('GET', `/v1/calls/${call.call_id}`)).read(CallView);
      expect(one).toMatchObject(call);
    }
    expect(calls[2]).toMatchObject({
      status: 'failed',
      completed: true,
      termination: 'capacity',
      error_message: 'The edge is at its call limit. Limit 200.',
    });
    const other = await test.call('GET', '/v1/calls', { key: test.plainKey });
    expect([other.status, other.body.data]).toEqual([200, { calls: [], next: null }]);
  });

  it('rejects cursors of no call of the organization, and invalid filters', async () => {
    for (const cursor of ['none', id(6), id(99)])
      expect((await test.call('GET', `/v1/calls?before=${cursor}`)).codes).toEqual(['INVALID_CURSOR']);
    for (const query of ['status=200', 'limit=501', 'pathway_id=x', 'from_date=yesterday', 'phone_number=x'])
      expect((await test.call('GET', `/v1/calls?${query}`)).codes).toEqual(['INVALID_PARAMETER']);
    expect((await test.call('GET', '/v1/calls', { key: null })).status).toBe(401);
  });
});
