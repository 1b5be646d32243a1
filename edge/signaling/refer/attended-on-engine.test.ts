/** A caller joins whom it speaks with in two calls of this edge, on the wire; media, agents and routes are fakes. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { answeredByEcho, TestEdge } from '../../../test/kit/edge/signaling.ts';
import { FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeRoutes, hopAt } from '../../../test/kit/fakes/fake-hunt.ts';
import { sdpOffer } from '../../../test/kit/fakes/fake-leg.ts';
import { FakeMedia, fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import { releaseAll } from '../../../test/kit/fakes/release.ts';
import { SipCallee } from '../../../test/kit/fakes/sip-callee.ts';
import { type Heard, SipCaller, sipRequest, toTagOf } from '../../../test/kit/fakes/sip-caller.ts';
import { eventually } from '../../../test/kit/programs/eventually.ts';

const number = '+14155550100';
const others = '+14155550101';
const elsewhere = '127.0.0.2';
/** Of the same organization as the first. */
const branch = '+14155550102';
const atBranch = '127.0.0.3';
const routes = new FakeRoutes();
const agents = new FakeAgents();
let edge: TestEdge;
let caller: SipCaller;
let calls = 0;

beforeAll(async () => {
  edge = await TestEdge.start({
    media: new FakeMedia(),
    agents,
    outbound: { routes, ringTimeoutMs: 60_000 },
  });
  const own = answeredByEcho(number);
  const numberAt = (which: string, address: string, orgId: string) =>
    answeredByEcho(which).numbers.map((one) => ({
      ...one,
      org_id: orgId,
      inbound: one.inbound.map((record) => ({ ...record, id: which, allowed_ips: [address] })),
    }));
  edge.signaling.configure({
    ...own,
    numbers: [...own.numbers, ...numberAt(others, elsewhere, 'org-2'), ...numberAt(branch, atBranch, 'org')],
  });
});

afterAll(() => edge.stop());

beforeEach(async () => {
  caller = await SipCaller.connect(edge.port, edge.authority.cert);
});

afterEach(() =>
  releaseAll(
    () => edge.calls.endAll({ code: 'api_stop', detail: null }),
    () => caller.close(),
    () => expect.poll(() => edge.calls.size).toBe(0),
  ),
);

function recordOf(sipCallId: string): CallRecord | undefined {
  const lasts = [...edge.records.values()].flatMap((records) => records.slice(-1));
  return lasts.find((last) => last.sip_call_id === sipCallId);
}

async function callUp(from = caller, to = number) {
  const callId = `attended-${++calls}`;
  from.send(sipRequest('INVITE', { callId, uri: `sip:${to}@127.0.0.1:5061`, body: sdpOffer }));
  const toTag = toTagOf(await from.final()) ?? '';
  from.send(sipRequest('ACK', { callId, toTag }));
  const { id } = await eventually('the answered call', () => {
    const record = recordOf(callId);
    return record?.status === 'in-progress' ? record : null;
  });
  return { id, callId, toTag, agent: agents.last };
}

function answerTo(request: Heard | null, status: string): string {
  const same = ['via', 'from', 'to', 'call-id', 'cseq'].map((name) => `${name}: ${request?.headers[name]}`);
  return [`SIP/2.0 ${status}`, ...same, 'Content-Length: 0\r\n\r\n'].join('\r\n');
}

/** A REFER in one call to our Contact in the other one. */
function refer(from: { callId: string; toTag: string }, to: { callId: string; toTag: string }, cseq = 2) {
  const replaces = encodeURIComponent(`${to.callId};to-tag=${to.toTag};from-tag=ada`);
  const headers = [`Refer-To: <sip:127.0.0.1:${edge.port};transport=tls?Replaces=${replaces}>`];
  return sipRequest('REFER', { ...from, cseq, headers });
}

describe('a REFER with Replaces of another call of this edge', () => {
  it('joins the agent with the target of the other call: NOTIFY 200, and a BYE in the replaced dialog', async () => {
    const callee = await SipCallee.listen(edge.certificate);
    routes.hops = [hopAt(callee.port)];
    const own = await callUp();
    const other = await callUp();
    void other.agent.host.transfer({ target: 'sip:ann@pbx.example', method: 'bridge', consult: null });
    const invite = await callee.request('INVITE');
    callee.answer(invite, '200 OK', { body: fakeAnswer });
    await callee.request('ACK');
    await expect.poll(() => recordOf(other.callId)?.transferred_to).toBe('sip:ann@pbx.example');
    caller.send(refer(own, other));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 202 Accepted');
    const heard: string[] = [];
    for (let count = 0; count < 3; count++) {
      const request = await caller.next();
      caller.send(answerTo(request, '200 OK'));
      heard.push(
        `${request?.headers.cseq?.split(' ')[1]} ${request?.headers['call-id']} ${request?.body.trim()}`,
      );
    }
    expect(heard.sort()).toEqual([
      `BYE ${other.callId} `,
      `NOTIFY ${own.callId} SIP/2.0 100 Trying`,
      `NOTIFY ${own.callId} SIP/2.0 200 OK`,
    ]);
    caller.send(sipRequest('BYE', { callId: own.callId, toTag: own.toTag, cseq: 3 }));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 200 OK');
    for (const { callId } of [own, other])
      await expect.poll(() => recordOf(callId)).toMatchObject({ termination: 'transferred' });
    expect(edge.calls.size).toBe(1);
    expect(own.agent.closedFor).toEqual([]);
    own.agent.host.hangup('all said');
    callee.answer(await callee.request('BYE'), '200 OK');
    await callee.close();
  });

  it.each([
    ['of another organization', elsewhere, others],
    ['to a number that the peer may not call', atBranch, branch],
  ])('%s finds none, and both calls go on', async (_whose, address, dialled) => {
    const stranger = await SipCaller.connect(edge.port, edge.authority.cert, address);
    const own = await callUp(stranger, dialled);
    const other = await callUp();
    routes.joins.length = 0;
    routes.referForbidden = 'It has no such call.';
    stranger.send(refer(own, other));
    expect((await stranger.final())?.startLine).toBe('SIP/2.0 403 Forbidden');
    routes.referForbidden = null;
    expect(routes.joins).toEqual([false]);
    expect(edge.calls.size).toBe(2);
    stranger.close();
  });

  it('with a tag that is not that of the call finds none', async () => {
    const own = await callUp();
    const other = await callUp();
    routes.joins.length = 0;
    routes.referForbidden = 'It has no such call.';
    caller.send(refer(own, { ...other, toTag: `${other.toTag}x` }));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 403 Forbidden');
    caller.send(refer(own, other, 3));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 403 Forbidden');
    routes.referForbidden = null;
    expect(routes.joins).toEqual([false, true]);
  });
});
