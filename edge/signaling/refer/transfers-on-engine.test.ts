/** REFER and Replaces on the wire; every part is real except media, agents and routes. */
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
  edge.signaling.configure(answeredByEcho(number));
});

afterAll(() => edge.stop());

beforeEach(async () => {
  caller = await SipCaller.connect(edge.port, edge.authority.cert);
});

afterEach(() =>
  releaseAll(
    () => expect.poll(() => edge.calls.size + edge.signaling.dialogs).toBe(0),
    // Leftovers of a failed test must not fail later ones.
    () => edge.calls.endAll({ code: 'api_stop', detail: null }),
    () => caller.close(),
  ),
);

/** An answered call from `caller`. */
async function callUp(): Promise<{ id: string; callId: string; toTag: string }> {
  const callId = `transfer-${++calls}`;
  caller.send(sipRequest('INVITE', { callId, body: sdpOffer }));
  const toTag = toTagOf(await caller.final()) ?? '';
  caller.send(sipRequest('ACK', { callId, toTag }));
  const { id } = await eventually('the answered call', () => recordOf(callId, 'in-progress') ?? null);
  return { id, callId, toTag };
}

function recordOf(sipCallId: string, status?: string): CallRecord | undefined {
  const lasts = [...edge.records.values()].flatMap((records) => records.slice(-1));
  return lasts.find((last) => last.sip_call_id === sipCallId && (status ?? last.status) === last.status);
}

/** The peer's answer to a request of ours. */
function answerTo(request: Heard | null, status: string): string {
  const same = ['via', 'from', 'to', 'call-id', 'cseq'].map((name) => `${name}: ${request?.headers[name]}`);
  return [`SIP/2.0 ${status}`, ...same, 'Content-Length: 0\r\n\r\n'].join('\r\n');
}

function notify(
  callId: string,
  toTag: string,
  cseq: number,
  event: string,
  line: string,
  state: string,
): string {
  const headers = [`Event: ${event}`, `Subscription-State: ${state}`, 'Content-Type: message/sipfrag'];
  const text = sipRequest('NOTIFY', { callId, toTag, cseq, headers, body: `${line}\r\n` });
  return text.replace('Content-Type: application/sdp\r\n', '');
}

describe('a REFER of ours', () => {
  it('is identified by its CSeq, and a transferred caller gets the BYE', async () => {
    const { id, callId, toTag } = await callUp();
    edge.calls.transfer(id, { target: 'sip:ann@pbx.example', method: 'refer', consult: null });
    const refer = await caller.next();
    expect(refer?.startLine).toBe('REFER sip:ada@127.0.0.1:5061;transport=tls SIP/2.0');
    expect(refer?.headers).toMatchObject({
      'refer-to': '<sip:ann@pbx.example>',
      'referred-by': `<sip:${number}@127.0.0.1>`,
      contact: `<sip:127.0.0.1:${edge.port};transport=tls>`,
    });
    const cseq = Number.parseInt(refer?.headers.cseq ?? '', 10);
    // Before the response, which RFC 6665 section 4.1.2.4 allows.
    caller.send(notify(callId, toTag, 2, `refer;id=${cseq}`, 'SIP/2.0 100 Trying', 'active'));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 200 OK');
    caller.send(answerTo(refer, '202 Accepted'));
    caller.send(notify(callId, toTag, 3, `refer;id=${cseq + 1}`, 'SIP/2.0 200 OK', 'terminated'));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 481 Subscription does not exist');
    caller.send(notify(callId, toTag, 4, `refer;id=${cseq}`, 'SIP/2.0 200 OK', 'terminated'));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 200 OK');
    const bye = await caller.next();
    expect(bye?.startLine).toMatch(/^BYE /);
    expect(bye?.headers.cseq).toBe(`${cseq + 1} BYE`);
    caller.send(answerTo(bye, '200 OK'));
    await expect.poll(() => recordOf(callId)?.termination).toBe('transferred');
  });
});

describe('a tel URI', () => {
  it('in the Refer-To of the caller is called', async () => {
    const callee = await SipCallee.listen(edge.certificate);
    routes.hops = [hopAt(callee.port)];
    const { callId, toTag } = await callUp();
    caller.send(sipRequest('REFER', { callId, toTag, cseq: 2, headers: ['Refer-To: <tel:+14155550199>'] }));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 202 Accepted');
    const invite = await callee.request('INVITE');
    expect(invite.startLine).toContain('14155550199@');
    callee.answer(invite, '486 Busy Here');
    caller.send(sipRequest('BYE', { callId, toTag, cseq: 3 }));
  });
});

describe('a REFER from the caller', () => {
  it('causes NOTIFYs one at a time, until the caller hangs up', async () => {
    const callee = await SipCallee.listen(edge.certificate);
    routes.hops = [hopAt(callee.port)];
    const { callId, toTag } = await callUp();
    const headers = ['Refer-To: <sip:ann@pbx.example>', 'Referred-By: <sip:ada@pbx.example>'];
    caller.send(sipRequest('REFER', { callId, toTag, cseq: 2, headers }));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 202 Accepted');
    const trying = await caller.next();
    expect(trying?.body).toBe('SIP/2.0 100 Trying\r\n');
    expect(trying?.headers).toMatchObject({ cseq: '2 NOTIFY', event: 'refer' });
    const invite = await callee.request('INVITE');
    expect(invite.headers['referred-by']).toBe('<sip:ada@pbx.example>');
    callee.answer(invite, '200 OK', { body: fakeAnswer });
    await callee.request('ACK');
    caller.send(answerTo(trying, '200 OK'));
    const done = await caller.next();
    expect(done?.body).toBe('SIP/2.0 200 OK\r\n');
    expect(done?.headers).toMatchObject({
      cseq: '3 NOTIFY',
      'subscription-state': 'terminated;reason=noresource',
    });
    caller.send(answerTo(done, '200 OK'), sipRequest('BYE', { callId, toTag, cseq: 3 }));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 200 OK');
    await expect.poll(() => recordOf(callId)?.termination).toBe('transferred');
    callee.send(
      [
        `BYE sip:127.0.0.1:${edge.port};transport=tls SIP/2.0`,
        `Via: SIP/2.0/TLS 127.0.0.1:${callee.port};branch=z9hG4bK-bye-${callId}`,
        `From: ${invite.headers.to};tag=callee`,
        `To: ${invite.headers.from}`,
        `Call-ID: ${invite.headers['call-id']}`,
        'CSeq: 1 BYE',
        'Max-Forwards: 70',
        'Content-Length: 0\r\n\r\n',
      ].join('\r\n'),
    );
    expect((await callee.next()).startLine).toBe('SIP/2.0 200 OK');
    await callee.close();
  });
});

/** @param warned text of the Warning; the transcript names the target and the same reason */
interface Refused {
  readonly what: string;
  readonly headers: readonly string[];
  readonly status: string;
  readonly warned: string;
  readonly note: string;
}

const notAllowed = 'The configuration of the call does not allow transfers by REFER.';

const refusedRefers: readonly Refused[] = [
  {
    what: 'to a target that the configuration forbids',
    headers: ['Refer-To: <sip:+19005550199@pbx.example>'],
    status: '403 Forbidden',
    warned: notAllowed,
    note: `The peer asked to be transferred to sip:+19005550199@pbx.example, which was rejected: ${notAllowed}`,
  },
  {
    what: 'for another method',
    headers: ['Refer-To: <sip:ann@pbx.example;method=BYE>'],
    status: '403 Only INVITE is sent for a REFER',
    warned: 'Only INVITE is sent for a REFER.',
    note: 'The peer asked to be transferred to sip:ann@pbx.example;method=BYE, which was rejected: Only INVITE is sent for a REFER (403).',
  },
  {
    what: 'without Refer-To',
    headers: [],
    status: '400 Missing Refer-To',
    warned: 'Missing Refer-To.',
    note: 'The peer asked to be transferred to nobody, which was rejected: Missing Refer-To (400).',
  },
  {
    what: 'to a URI that is none of SIP',
    headers: ['Refer-To: <https://pbx.example/>'],
    status: '416 Unsupported URI Scheme',
    warned: 'Unsupported URI Scheme.',
    note: 'The peer asked to be transferred to https://pbx.example/, which was rejected: Unsupported URI Scheme (416).',
  },
  {
    what: 'that requires an unknown extension',
    headers: ['Refer-To: <sip:ann@pbx.example>', 'Require: multiple-refer'],
    status: '420 Bad Extension',
    warned: 'It requires an extension that is not supported.',
    note: 'The peer asked to be transferred to sip:ann@pbx.example, which was rejected: It requires an extension that is not supported (420).',
  },
];

describe('a REFER from the caller that is rejected', () => {
  afterEach(() => {
    routes.referForbidden = null;
  });

  /** Hangs up as the caller, and waits until the call has ended. */
  async function hangUp(callId: string, toTag: string, cseq: number): Promise<void> {
    caller.send(sipRequest('BYE', { callId, toTag, cseq }));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 200 OK');
    await expect.poll(() => recordOf(callId)?.termination).toBe('caller_hangup');
  }

  it.each(refusedRefers)('$what gets $status with the reason, also in the transcript', async (refused) => {
    routes.referForbidden = notAllowed;
    const { id, callId, toTag } = await callUp();
    caller.send(sipRequest('REFER', { callId, toTag, cseq: 2, headers: refused.headers }));
    const answer = await caller.final();
    expect(answer?.startLine).toBe(`SIP/2.0 ${refused.status}`);
    expect(answer?.headers.warning).toMatch(/^399 \S+ "/);
    expect(answer?.headers.warning).toContain(`"${refused.warned}"`);
    await expect.poll(() => edge.notes.get(id)).toContain(refused.note);
    await hangUp(callId, toTag, 3);
  });

  it('while another one is pending gets 491 with the reason, also in the transcript', async () => {
    const callee = await SipCallee.listen(edge.certificate);
    routes.hops = [hopAt(callee.port)];
    const { id, callId, toTag } = await callUp();
    const headers = ['Refer-To: <sip:ann@pbx.example>'];
    caller.send(sipRequest('REFER', { callId, toTag, cseq: 2, headers }));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 202 Accepted');
    const trying = await caller.next();
    expect(trying?.body).toBe('SIP/2.0 100 Trying\r\n');
    const invite = await callee.request('INVITE');
    caller.send(sipRequest('REFER', { callId, toTag, cseq: 3, headers }));
    const answer = await caller.final();
    expect(answer?.startLine).toBe('SIP/2.0 491 Transfer Pending');
    expect(answer?.headers.warning).toMatch(/^399 \S+ "Transfer Pending\."$/);
    await expect
      .poll(() => edge.notes.get(id))
      .toContain(
        'The peer asked to be transferred to sip:ann@pbx.example, which was rejected: Transfer Pending (491).',
      );
    callee.answer(invite, '486 Busy Here');
    await callee.request('ACK');
    caller.send(answerTo(trying, '200 OK'));
    const failed = await caller.next();
    expect(failed?.body).toBe('SIP/2.0 486 Busy Here\r\n');
    caller.send(answerTo(failed, '200 OK'));
    await hangUp(callId, toTag, 4);
    await callee.close();
  });
});

describe('an INVITE with Replaces', () => {
  const uri = () => `sip:127.0.0.1:${edge.port};transport=tls`;

  it('takes over the call, and the old dialog gets the BYE', async () => {
    const { id, callId, toTag } = await callUp();
    const headers = ['Require: replaces', `Replaces: ${callId};to-tag=${toTag};from-tag=ada`];
    const other = await SipCaller.connect(edge.port, edge.authority.cert);
    other.send(sipRequest('INVITE', { callId: 'taker', uri: uri(), body: sdpOffer, headers }));
    const ok = await other.final();
    expect(ok?.startLine).toBe('SIP/2.0 200 OK');
    const takerTag = toTagOf(ok);
    other.send(sipRequest('ACK', { callId: 'taker', toTag: takerTag }));
    const bye = await caller.next();
    expect(bye?.startLine).toMatch(/^BYE /);
    caller.send(answerTo(bye, '200 OK'));
    await expect.poll(() => edge.signaling.dialogs).toBe(1);
    expect(edge.last(id)?.ended_at).toBeNull();
    other.send(sipRequest('BYE', { callId: 'taker', toTag: takerTag, cseq: 2 }));
    expect((await other.final())?.startLine).toBe('SIP/2.0 200 OK');
    await expect.poll(() => edge.last(id)?.termination).toBe('caller_hangup');
    other.close();
  });

  it('from a stranger is forbidden', async () => {
    const { callId, toTag } = await callUp();
    const stranger = await SipCaller.connect(edge.port, edge.authority.cert, '127.0.0.2');
    const headers = [`Replaces: ${callId};to-tag=${toTag};from-tag=ada`];
    stranger.send(sipRequest('INVITE', { callId: 'thief', uri: uri(), body: sdpOffer, headers }));
    const refused = await stranger.final();
    expect(refused?.startLine).toBe('SIP/2.0 403 Forbidden');
    stranger.send(sipRequest('ACK', { callId: 'thief', toTag: toTagOf(refused), branch: 'thief-1-INVITE' }));
    stranger.close();
    caller.send(sipRequest('BYE', { callId, toTag, cseq: 2 }));
    expect((await caller.final())?.startLine).toBe('SIP/2.0 200 OK');
  });
});
