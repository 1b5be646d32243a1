/** Peers with an unreachable Contact: their calls end in every case. All parts except media are real. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answeredByEcho, TestEdge } from '../../../test/kit/edge/signaling.ts';
import { FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeRoutes } from '../../../test/kit/fakes/fake-hunt.ts';
import { sdpOffer } from '../../../test/kit/fakes/fake-leg.ts';
import { FakeMedia } from '../../../test/kit/fakes/fake-media.ts';
import { SipCaller, sipRequest, toTagOf } from '../../../test/kit/fakes/sip-caller.ts';
import { freeTcpPort } from '../../../test/kit/programs/ports.ts';

const capacity = 50;
const tries = capacity + 10;
/** The engine ends the call within milliseconds, but the machine may be busy. */
const patience = { timeout: 60_000, interval: 50 };
const agents = new FakeAgents(false);
let edge: TestEdge;
const callers: SipCaller[] = [];
let flooded = 0;

beforeAll(async () => {
  edge = await TestEdge.start({
    media: new FakeMedia(),
    agents,
    outbound: { routes: new FakeRoutes(), ringTimeoutMs: 60_000 },
    maxCalls: capacity,
  });
  edge.signaling.configure(answeredByEcho('+14155550100'));
});
afterAll(() => edge.stop());

afterEach(async () => {
  for (const caller of callers.splice(0)) caller.close();
  await expect.poll(() => edge.calls.size + edge.signaling.dialogs, patience).toBe(0);
});

async function connect(): Promise<SipCaller> {
  const caller = await SipCaller.connect(edge.port, edge.authority.cert);
  callers.push(caller);
  return caller;
}

/** Sends some more INVITEs than the edge accepts. @returns how often each status was received */
async function flood(caller: SipCaller, contact: string): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  for (let i = 0; i < tries; i++) {
    const text = sipRequest('INVITE', { callId: `flood-${flooded++}`, body: sdpOffer });
    caller.send(text.replace(/^Contact: .*$/m, `Contact: ${contact}`));
  }
  // A 200 without ACK is retransmitted.
  const answered = new Set<string>();
  while (answered.size < tries) {
    const answer = await caller.final();
    if (!answer) throw new Error(`the connection was closed after ${answered.size} answers`);
    const callId = answer.headers['call-id'] ?? '';
    if (answered.has(callId)) continue;
    answered.add(callId);
    const status = answer.startLine.split(' ')[1] ?? '';
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  return statuses;
}

/** Calls, is answered, and hangs up. */
async function callOnce(callId: string): Promise<string | undefined> {
  const caller = await connect();
  caller.send(sipRequest('INVITE', { callId, body: sdpOffer }));
  const answer = await caller.final();
  const toTag = toTagOf(answer);
  caller.send(sipRequest('ACK', { callId, toTag }), sipRequest('BYE', { callId, toTag, cseq: 2 }));
  await caller.final();
  return answer?.startLine;
}

it.each([
  ['names an unsupported transport', () => '<sip:ada@192.0.2.77:5061;transport=udp>'],
  ['names a closed port', (port: number) => `<sip:ada@127.0.0.1:${port};transport=tls>`],
])(
  'calls that are never acknowledged end with their connection, when the Contact %s',
  async (what, contact) => {
    edge.records.clear();
    const caller = await connect();
    const statuses = await flood(caller, contact(await freeTcpPort()));
    expect(statuses.get('200')).toBe(capacity);
    expect(statuses.get('503')).toBe(tries - capacity);
    expect(edge.calls.size).toBe(capacity);
    caller.close();
    await expect.poll(() => edge.calls.size, patience).toBe(0);
    const ends = [...edge.records.values()].map((records) => records.at(-1)?.termination);
    expect(ends.filter((end) => end === 'connection_lost')).toHaveLength(capacity);
    // The capacity is free again.
    expect(await callOnce(`after it ${what}`.replaceAll(' ', '-'))).toBe('SIP/2.0 200 OK');
  },
);

describe('a peer that names another address of our own network in Record-Route', () => {
  const servers: Server[] = [];
  let tried: number;
  let place: string;

  beforeEach(async () => {
    tried = 0;
    const server = createServer((socket) => {
      tried++;
      socket.on('error', () => {});
      socket.destroy();
    });
    servers.push(server);
    server.listen(0, '127.0.0.9');
    await once(server, 'listening');
    place = `127.0.0.9:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
    edge.allow([]);
  });

  /** An answered call whose connection closes before the ACK. @returns how it ended */
  async function abandonedCall(callId: string): Promise<string | null | undefined> {
    const caller = await connect();
    const text = sipRequest('INVITE', { callId, body: sdpOffer });
    caller.send(text.replace(/^Contact: /m, `Record-Route: <sip:${place};transport=tls;lr>\r\n$&`));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 200 OK');
    caller.close();
    await expect.poll(() => last(callId)?.termination, patience).toBeTruthy();
    return last(callId)?.termination;
  }

  it('loses its call, and no connection is opened', async () => {
    expect(await abandonedCall('private-place')).toBe('connection_lost');
    expect(tried).toBe(0);
  });

  it('is called there when the operator allows its network', async () => {
    edge.allow(['127.0.0.9/32']);
    expect(await abandonedCall('allowed-place')).toBe('connection_lost');
    expect(tried).toBeGreaterThan(0);
  });
});

it('a Contact that is not a SIP URI is rejected', async () => {
  const statuses = await flood(await connect(), '<http://192.0.2.77/>');
  expect([...statuses]).toEqual([['400', tries]]);
  expect(edge.calls.size).toBe(0);
});

it('a caller whose connection closes while it rings loses the call, and the engine is not blamed', async () => {
  agents.ready = false;
  const caller = await connect();
  caller.send(sipRequest('INVITE', { callId: 'closes', body: sdpOffer }));
  expect((await caller.next())?.startLine).toBe('SIP/2.0 100 Trying');
  expect((await caller.next())?.startLine).toBe('SIP/2.0 180 Ringing');
  caller.close();
  await expect.poll(() => last('closes')?.termination, patience).toBe('connection_lost');
  expect(last('closes')).toMatchObject({ status: 'failed', sip_code: null, hangup_by: 'error' });
});

function last(sipCallId: string) {
  return [...edge.records.values()].flat().findLast((record) => record.sip_call_id === sipCallId);
}
