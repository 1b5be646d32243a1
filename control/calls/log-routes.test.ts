import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallRecord, TraceMessage } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRecord } from '../../test/kit/control/edge-client.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { toJson } from '../db/index.ts';
import { createReportStore } from '../report-writers.ts';

let test: TestControl;
const id = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;
const secret = 'WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz';

function traced(startLine: string, direction: 'sent' | 'received'): TraceMessage {
  return {
    at: '2030-01-01T00:00:00.000Z',
    direction,
    local: '203.0.113.20:5061',
    remote: '198.51.100.9:40312',
    transport: 'tls',
    start_line: startLine,
    raw: `${startLine}\r\nCall-ID: one\r\nContent-Length: 0\r\n\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${secret}\r\n`,
  };
}

beforeAll(async () => {
  test = await startRoutes({ RATE_LIMIT_PER_MINUTE: '1000' });
  const calls: Partial<CallRecord>[] = [
    { id: id(1), sip_call_id: 'one/with slash@pbx', started_at: '2030-01-01T10:00:00.000Z' },
    {
      id: id(2),
      sip_call_id: 'two',
      started_at: '2030-01-01T10:00:00.000Z',
      answered_at: null,
      sip_code: 486,
      sip_reason: 'Busy Here',
      media: null,
    },
    {
      id: id(3),
      sip_call_id: 'three',
      started_at: '2030-01-02T00:00:00.000Z',
      direction: 'outbound',
      number: '+14155550101',
      answered_at: null,
      sip_code: 503,
      sip_reason: 'Service Unavailable',
      termination: 'capacity',
      hangup_by: 'error',
    },
    {
      id: id(4),
      sip_call_id: 'two',
      started_at: '2030-01-03T12:00:00Z',
      answered_at: null,
      sip_code: 487,
      sip_reason: 'Request Terminated',
      termination: 'caller_canceled',
    },
  ];
  const bodies: ReportBody[] = calls.map((call) => ({ type: 'call', call: callRecord(test.orgId, call) }));
  bodies.push({
    type: 'call',
    call: callRecord(test.foreignOrgId, {
      id: id(5),
      sip_call_id: 'two',
      started_at: '2030-01-04T00:00:00.000Z',
    }),
  });
  bodies.push({
    type: 'trace',
    call_id: id(1),
    truncated: false,
    messages: [traced('INVITE sip:a@b SIP/2.0', 'received')],
  });
  bodies.push({
    type: 'trace',
    call_id: id(1),
    truncated: true,
    messages: [traced('SIP/2.0 200 OK', 'sent')],
  });
  const reports = createReportStore(test.control.services.database, test.clock);
  await reports.store(
    { edgeId: 'e', outboxId: 'o' },
    bodies.map((body, index) => ({ seq: index + 1, at: '2030-01-01T00:00:00.000Z', body })),
  );
});
afterAll(() => test.close());

const list = async (query = '') => {
  const { body } = await test.call('GET', `/v1/sip/calls${query}`);
  const calls: unknown = body.data?.calls;
  return Array.isArray(calls) ? calls.map((call: { id: string }) => Number(call.id.slice(-3))) : [];
};

describe('GET /v1/sip/calls', () => {
  it('lists newest first, and by id at equal times', async () => {
    expect(await list()).toEqual([4, 3, 2, 1]);
  });

  it.each([
    ['?phone_number=14155550101', [3]],
    ['?phone_number=14155550199', []],
    ['?direction=outbound', [3]],
    ['?status=busy', [2]],
    ['?status=canceled', [4]],
    ['?status=failed', [3]],
    ['?status=completed', [1]],
    ['?status=200', [1]],
    ['?status=503', [3]],
    ['?from_date=2030-01-02', [4, 3]],
    ['?to_date=2030-01-01', [2, 1]],
    ['?to_date=2030-01-02', [3, 2, 1]],
    ['?from_date=2030-01-01T10:00:00Z&to_date=2030-01-02T00:00:00Z', [2, 1]],
    ['?from_date=2030-01-01T12:00:00%2B02:00&to_date=2030-01-01T12:00:00%2B02:00', []],
    ['?limit=2', [4, 3]],
    ['?direction=inbound&status=busy&phone_number=14155550100', [2]],
  ])('filters by %s', async (query, expected) => expect(await list(query)).toEqual(expected));

  it('continues after a call given by id or SIP Call-ID', async () => {
    expect(await list(`?limit=1&before=${id(4)}`)).toEqual([3]);
    expect(await list(`?before=${id(2)}`)).toEqual([1]);
    expect(await list('?before=three')).toEqual([2, 1]);
    expect(await list(`?before=${id(1)}`)).toEqual([]);
  });

  it('rejects cursors that match no call of the organization, and invalid filters', async () => {
    for (const cursor of ['none', 'x'.repeat(8000), id(5), id(99)]) {
      expect((await test.call('GET', `/v1/sip/calls?before=${cursor}`)).codes).toEqual(['INVALID_CURSOR']);
    }
    for (const query of [
      'status=unknown',
      'status=99',
      'from_date=yesterday',
      'to_date=2030-13-01',
      'phone_number=x',
    ]) {
      expect((await test.call('GET', `/v1/sip/calls?${query}`)).codes).toEqual(['INVALID_PARAMETER']);
    }
    expect((await test.call('GET', '/v1/sip/calls', { key: null })).status).toBe(401);
  });
});

describe('GET /v1/sip/calls/{call_id}', () => {
  it("finds a call by id and by Call-ID; for a Call-ID, the organization's newest", async () => {
    const get = async (callId: string) =>
      (await test.call('GET', `/v1/sip/calls/${encodeURIComponent(callId)}`)).body.data?.call;
    expect(await get(id(1))).toMatchObject({
      id: id(1),
      call_id: 'one/with slash@pbx',
      parent_id: null,
      status: '200 OK',
      outcome: 'completed',
      edge_id: 'e',
      codec: 'PCMU',
      failover_attempts: [],
      media: { packets_sent: 2250, jitter_ms: 3.1, mos: 4.3, verdict: 'two_way' },
    });
    expect(await get('one/with slash@pbx')).toMatchObject({ id: id(1) });
    expect(await get('two')).toMatchObject({
      id: id(4),
      status: '487 Request Terminated',
      duration_seconds: 0,
    });
  });

  it("is 404 for unknown calls and other organizations' calls", async () => {
    for (const path of ['', '/trace', '/trace.pcap']) {
      expect((await test.call('GET', `/v1/sip/calls/none${path}`)).codes).toEqual(['CALL_NOT_FOUND']);
      expect((await test.call('GET', `/v1/sip/calls/${id(5)}${path}`)).codes).toEqual(['CALL_NOT_FOUND']);
      expect((await test.call('GET', `/v1/sip/calls/${id(1)}${path}`, { key: null })).status).toBe(401);
    }
  });
});

describe('the trace of a call', () => {
  it('has the messages of all reports in order, redacted', async () => {
    const { body, text } = await test.call('GET', `/v1/sip/calls/${id(1)}/trace`);
    expect(body.data).toMatchObject({
      call_id: 'one/with slash@pbx',
      truncated: true,
      messages: [
        {
          seq: 1,
          direction: 'received',
          start_line: 'INVITE sip:a@b SIP/2.0',
          transport: 'tls',
          remote: '198.51.100.9:40312',
        },
        { seq: 2, direction: 'sent', start_line: 'SIP/2.0 200 OK' },
      ],
    });
    expect(text).toContain('inline:REDACTED');
    expect(text).not.toContain(secret);
  });

  it('is available as a capture file', async () => {
    const answer = await test.call('GET', `/v1/sip/calls/${id(1)}/trace.pcap`);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/vnd.tcpdump.pcap',
      'content-disposition': `attachment; filename="${id(1)}.pcap"`,
    });
    expect(answer.bytes.readUInt32LE(0)).toBe(0xa1b2c3d4);
    expect(answer.bytes.includes('INVITE sip:a@b SIP/2.0')).toBe(true);
    expect(answer.bytes.includes(secret)).toBe(false);
  });

  it('is truncated to the response limit, also as a capture file, and does not block other requests', async () => {
    const { db } = test.control.services.database;
    const large = { ...traced('MESSAGE sip:a@b SIP/2.0', 'received'), raw: 'a: "b"\r\n'.repeat(8_000) };
    const part = {
      call_id: id(3),
      messages: toJson(Array.from({ length: 25 }, () => large)),
      message_count: 25,
      truncated: 0,
      received_at: '2030-01-01T00:00:00.000Z',
    } as const;
    for (let count = 0; count < 20; count++) await db.insertInto('trace_parts').values(part).execute();
    const url = `/v1/sip/calls/${id(3)}/trace`;
    let read = false;
    const reading = test.call('GET', url).finally(() => {
      read = true;
    });
    await test.call('GET', '/health', { key: null });
    expect(read).toBe(false);
    const { body, status, bytes } = await reading;
    expect([status, body.data?.truncated]).toEqual([200, true]);
    expect(body.data?.messages).toHaveProperty(
      'length',
      expect.toSatisfy((count: number) => count > 50),
    );
    expect(bytes.length).toBeLessThan(9 * 1_048_576);
    const capture = await test.call('GET', `${url}.pcap`);
    expect(capture.status).toBe(200);
    expect(capture.bytes.length).toBeLessThan(9 * 1_048_576);
  });

  it('is 404 for a call without a trace', async () => {
    expect((await test.call('GET', `/v1/sip/calls/${id(2)}/trace`)).codes).toEqual(['TRACE_NOT_FOUND']);
    expect((await test.call('GET', `/v1/sip/calls/${id(2)}/trace.pcap`)).codes).toEqual(['TRACE_NOT_FOUND']);
  });
});

describe('GET /v1/calls/{call_id}', () => {
  it('returns the record of contract 9.2', async () => {
    expect((await test.call('GET', `/v1/calls/${id(1)}`)).body).toMatchObject({
      call_id: id(1),
      c_id: id(1),
      inbound: true,
      status: 'completed',
      queue_status: 'completed',
      completed: true,
      call_length: 0.75,
      corrected_duration: 45,
      call_ended_by: 'USER',
      error_message: null,
      variables: { digit: '1' },
      transcripts: [],
    });
    expect((await test.call('GET', `/v1/calls/${id(3)}`)).body).toMatchObject({
      call_ended_by: 'ERROR',
      error_message: 'The edge is at its call limit.',
    });
  });

  it("is 404 for unknown calls and other organizations' calls", async () => {
    expect((await test.call('GET', '/v1/calls/none')).codes).toEqual(['CALL_NOT_FOUND']);
    expect((await test.call('GET', `/v1/calls/${id(5)}`)).codes).toEqual(['CALL_NOT_FOUND']);
    expect((await test.call('GET', `/v1/calls/${id(1)}`, { key: null })).status).toBe(401);
  });
});
