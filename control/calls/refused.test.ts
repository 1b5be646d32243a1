/** Refused calls over the HTTP API, from reports of edges. */
import { beforeEach, describe, expect, it } from 'vitest';
import { RefusedPage } from '#shared/api/refused.ts';
import type { RefusedInvites } from '#shared/edge-protocol/refused.ts';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { createReportStore } from '../report-writers.ts';
import { pruneRefused } from './refused-store.ts';

const test = routesOfFile({ RATE_LIMIT_PER_MINUTE: '10000' });
let store: ReturnType<typeof createReportStore>;
let seq = 0;
beforeEach(async () => {
  store = createReportStore(test.control.services.database, test.clock);
});

const number = '+14155550100';
const refused = (changes: Partial<RefusedInvites> = {}): RefusedInvites => ({
  org_id: test.orgId,
  number,
  source: '203.0.113.5',
  reason: 'source_not_allowed',
  attempts: 1,
  unanswered: 0,
  first_at: '2030-01-01T10:00:00.000Z',
  last_at: '2030-01-01T10:00:00.000Z',
  sip_status: 403,
  detail: null,
  from: '+4930123',
  dialled: '14155550100',
  user_agent: 'PBX 1.0',
  sip_call_id: 'a',
  ...changes,
});

async function report(list: RefusedInvites[], edgeId = 'e'): Promise<void> {
  const at = new Date(test.clock.now()).toISOString();
  const frame = [{ seq: ++seq, at, body: { type: 'refused' as const, refused: list } }];
  expect((await store.store({ edgeId, outboxId: edgeId }, frame)).rejected).toEqual([]);
}

const entries = async (query = '', key?: string, path = '/v1/sip/refused') => {
  const answer = await test.call('GET', `${path}${query}`, key === undefined ? {} : { key });
  return answer.read(RefusedPage).data?.refused ?? [];
};

describe('GET /v1/sip/refused', () => {
  it('says who called, why it was refused and what to change', async () => {
    await report([refused()]);
    const [entry] = await entries();
    expect(entry).toMatchObject({
      source: '203.0.113.5',
      phone_number: number,
      reason: 'source_not_allowed',
      summary: 'The source may not call the number.',
      attempts: 1,
      sip_status: 403,
      from: '+4930123',
      dialed: '14155550100',
      user_agent: 'PBX 1.0',
      edge_id: 'e',
    });
    expect(entry?.advice).toContain(
      'add 203.0.113.5 to allowed_ips of the inbound configuration of +14155550100',
    );
  });

  it('adds up what edges report of one source, reason and number, and shows the last one', async () => {
    await report([refused({ attempts: 2, last_at: '2030-01-01T12:00:00.000Z', from: 'late' })]);
    await report(
      [
        refused({ attempts: 3, unanswered: 1, first_at: '2030-01-01T09:00:00.000Z', from: 'early' }),
        refused({ attempts: 5, from: 'early' }),
      ],
      'e2',
    );
    expect(await entries()).toMatchObject([
      {
        attempts: 10,
        unanswered: 1,
        first_at: '2030-01-01T09:00:00.000Z',
        last_at: '2030-01-01T12:00:00.000Z',
        from: 'late',
        edge_id: 'e',
      },
    ]);
  });

  it('has pages, newest first, and filters', async () => {
    const at = (hour: number) => `2030-01-01T0${hour}:00:00.000Z`;
    const list = [1, 2, 3, 4, 5].map((hour) => refused({ source: `203.0.113.${hour}`, last_at: at(hour) }));
    await report([...list, refused({ source: null, number: null, last_at: at(6), reason: 'no_agent' })]);
    const first = await entries('?limit=4');
    expect(first.map(({ source }) => source)).toEqual([null, '203.0.113.5', '203.0.113.4', '203.0.113.3']);
    const before = encodeURIComponent(first.at(-1)?.cursor ?? '');
    expect((await entries(`?limit=4&before=${before}`)).map(({ source }) => source)).toEqual([
      '203.0.113.2',
      '203.0.113.1',
    ]);
    expect(await entries('?reason=no_agent')).toHaveLength(1);
    expect(await entries('?source=203.0.113.2')).toHaveLength(1);
    expect(await entries(`?phone_number=${encodeURIComponent(number)}`)).toHaveLength(5);
    expect(await entries(`?from_date=${at(2)}&to_date=${at(4)}`)).toHaveLength(2);
    expect((await test.call('GET', '/v1/sip/refused?before=x')).codes).toEqual(['INVALID_CURSOR']);
  });

  it('shows an organization the calls to its numbers only, and operators all of them', async () => {
    await report([
      refused(),
      refused({ org_id: null, number: null, reason: 'number_unknown', source: '198.51.100.7' }),
    ]);
    expect(await entries()).toHaveLength(1);
    expect(await entries('', test.foreignKey)).toEqual([]);
    const all = await entries('?source=198.51.100.7', test.operatorKey, '/v1/admin/refused');
    expect(all).toMatchObject([{ org_id: null, phone_number: null, reason: 'number_unknown' }]);
    expect(await entries(`?org_id=${test.orgId}`, test.operatorKey, '/v1/admin/refused')).toHaveLength(1);
    expect((await test.call('GET', '/v1/admin/refused')).codes).toEqual(['OPERATOR_KEY_REQUIRED']);
  });

  it('keeps those that came last, and what is not too old', async () => {
    const at = (minute: number) => `2030-01-01T00:0${minute}:00.000Z`;
    await report([1, 2, 3, 4].map((n) => refused({ source: `203.0.113.${n}`, last_at: at(n) })));
    const { db } = test.control.services.database;
    expect(await pruneRefused(db, at(2), 2)).toBeGreaterThanOrEqual(2);
    expect((await entries()).map(({ source }) => source)).toEqual(['203.0.113.4', '203.0.113.3']);
  });
});
