/**
 * How a trunk's response affects an outbound call (contract 3.5), with SIPp as two carriers: the primary follows its
 * scenario, the secondary accepts every call. Engine, signaling, media and failover are real.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { newId } from '#shared/ids.ts';
import { echoAgent } from '../kit/fakes/fake-agents.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { type SippServer, serveScenario } from './serve.ts';
import { startTrunkEdge, type TrunkEdge } from './trunk-edge.ts';

const number = '+14155550100';
/** Longer than a peer needs on a heavily overloaded machine: only the silent peer times out. */
const noResponseMs = 5_000;
let bed: TrunkEdge;

beforeAll(async () => {
  bed = await startTrunkEdge({ noResponseMs });
});

afterAll(() => bed?.stop());

/** A separate trunk for each test, so that none shares state with another. */
function configure(primary: number, secondary: number, changes: Partial<OutboundTrunk> = {}): void {
  const trunk: OutboundTrunk = {
    id: newId(),
    priority: 1,
    endpoints: [
      { host: '127.0.0.1', port: primary, priority: 0 },
      { host: '127.0.0.1', port: secondary, priority: 1 },
    ],
    triggers: ['unreachable', 'auth_failure', 'timeout'],
    failback: 'auto',
    codecs: ['PCMU'],
    transcode: false,
    credentials: null,
    headers: [],
    ...changes,
  };
  bed.trunks.configure([{ number, outbound: [trunk] }]);
}

function call(): string {
  const callId = newId();
  bed.edge.calls.place({
    callId,
    orgId: 'org',
    from: number,
    to: '+14155550123',
    agent: echoAgent,
    variables: {},
  });
  return callId;
}

function ended(callId: string): Promise<CallRecord> {
  return eventually('the end of the call', () => {
    const record = bed.edge.last(callId);
    return record?.ended_at ? record : null;
  });
}

/** Waits for the answer, hangs up, and returns the last record. */
async function answeredCall(callId: string): Promise<CallRecord> {
  await eventually('the answer', () => bed.edge.last(callId)?.answered_at);
  bed.edge.calls.stop(callId);
  return ended(callId);
}

async function passed(server: SippServer): Promise<void> {
  const end = await server.ended();
  expect(end.passed, end.report).toBe(true);
}

const serve = async (scenario: string, keys: Record<string, string> = {}): Promise<SippServer> =>
  serveScenario(scenario, await freeTcpPort(), bed.edge.certificate, keys);

/** The call fails over to the secondary, and its log says why. */
async function movesOn(primary: SippServer, attempt: Record<string, unknown>, changes = {}): Promise<void> {
  const secondary = await serve('uas-trunk-answer-expect-bye');
  try {
    configure(primary.port, secondary.port, changes);
    const record = await answeredCall(call());
    expect(record).toMatchObject({ status: 'completed', sip_code: 200 });
    expect(record.failover_attempts).toEqual([
      expect.objectContaining({ host: '127.0.0.1', port: primary.port, priority: 0, ...attempt }),
    ]);
    await passed(primary);
    await passed(secondary);
  } finally {
    await primary.close();
    await secondary.close();
  }
}

/** The call ends with the primary's verdict; the secondary gets no INVITE. */
async function staysThere(primary: SippServer, record: Record<string, unknown>): Promise<void> {
  try {
    // Nobody listens there: an attempt would be in the log.
    configure(primary.port, await freeTcpPort());
    expect(await ended(call())).toMatchObject({ failover_attempts: [], answered_at: null, ...record });
    await passed(primary);
  } finally {
    await primary.close();
  }
}

test('connection refused: the call fails over', async () => {
  const port = await freeTcpPort();
  const nobody = { port, ended: async () => ({ passed: true, report: '' }), close: async () => {} };
  await movesOn(nobody, { sip_code: null, error: expect.stringContaining('refused') });
});

test('no response: the call fails over after the time-out for a first response', async () => {
  await movesOn(
    await serve('uas-trunk-silence-expect-no-more', { silence_ms: String(noResponseMs + 2_000) }),
    {
      sip_code: null,
      error: expect.stringContaining('timeout'),
    },
  );
});

test('403 without credentials: the call ends there', async () => {
  const primary = await serve('uas-trunk-refusal-expect-ack', { status: '403 Forbidden' });
  await staysThere(primary, { termination: 'route_refused', sip_code: 403 });
});

test.each([503, 408])('%i: the call fails over', async (status) => {
  const primary = await serve('uas-trunk-refusal-expect-ack', { status: `${status} Refused` });
  await movesOn(primary, { sip_code: status });
});

test('repeated 401: the edge authenticates once, then the call fails over', async () => {
  const credentials = { username: 'acme', password: 'wrong', realm: null };
  const primary = await serve('uas-trunk-challenge-loop-expect-one-try');
  await movesOn(primary, { sip_code: 401 }, { credentials });
});

test.each([
  [486, 'busy'],
  [603, 'failed'],
  [404, 'failed'],
  [500, 'failed'],
])('%i: the call ends there', async (status, outcome) => {
  const primary = await serve('uas-trunk-refusal-expect-ack', { status: `${status} Refused` });
  await staysThere(primary, { sip_code: status, status: outcome });
});

test.each([503, 408])('%i after ringing: the call ends there', async (status) => {
  const primary = await serve('uas-trunk-ringing-then-refusal-expect-ack', { status: `${status} Refused` });
  await staysThere(primary, { sip_code: status });
});

test('a stale nonce costs one more INVITE, and no failover', async () => {
  const primary = await serve('uas-trunk-stale-nonce-expect-answer');
  try {
    const credentials = { username: 'acme', password: 'secret', realm: 'trunk' };
    configure(primary.port, await freeTcpPort(), { credentials });
    expect(await answeredCall(call())).toMatchObject({ status: 'completed', failover_attempts: [] });
    await passed(primary);
  } finally {
    await primary.close();
  }
});

test('422: the INVITE is repeated with the interval that the trunk requests', async () => {
  const primary = await serve('uas-trunk-long-interval-expect-min-se');
  try {
    configure(primary.port, await freeTcpPort());
    expect(await answeredCall(call())).toMatchObject({ status: 'completed', failover_attempts: [] });
    await passed(primary);
  } finally {
    await primary.close();
  }
});
