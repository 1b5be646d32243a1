/** Calls on hold whose peer has vanished, on a real engine: the peer is checked by OPTIONS in the dialog. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#shared/ids.ts';
import { answeredByEcho, TestEdge } from '../../../test/kit/edge/signaling.ts';
import { echoAgent, FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeRoutes, hopAt } from '../../../test/kit/fakes/fake-hunt.ts';
import { sdpOffer } from '../../../test/kit/fakes/fake-leg.ts';
import { FakeMedia, fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import { releaseAll } from '../../../test/kit/fakes/release.ts';
import { SipCallee } from '../../../test/kit/fakes/sip-callee.ts';
import { type Heard, SipCaller, sipRequest, toTagOf } from '../../../test/kit/fakes/sip-caller.ts';
import { eventually } from '../../../test/kit/programs/eventually.ts';

const media = new FakeMedia();
const routes = new FakeRoutes();
let edge: TestEdge;
let caller: SipCaller;
let calls = 0;

beforeAll(async () => {
  edge = await TestEdge.start({
    media,
    agents: new FakeAgents(),
    outbound: { routes, ringTimeoutMs: 60_000 },
    holdQuestionMs: 1_000,
  });
  edge.signaling.configure(answeredByEcho('+14155550100'));
});

afterAll(() => edge.stop());

beforeEach(async () => {
  caller = await SipCaller.connect(edge.port, edge.authority.cert);
});

afterEach(() =>
  releaseAll(
    () => edge.calls.endAll({ code: 'api_stop', detail: null }),
    () => caller.close(),
  ),
);

const recordOf = (callId: string) =>
  [...edge.records.values()].flat().findLast((record) => record.sip_call_id === callId);

/** A call on hold whose peer sends nothing. */
async function heldCall(): Promise<{ callId: string; toTag: string }> {
  const callId = `held-${++calls}`;
  const held = `${sdpOffer}a=inactive\r\n`;
  caller.send(sipRequest('INVITE', { callId, body: held }));
  const toTag = toTagOf(await caller.final()) ?? '';
  media.last.silentMs = 3_600_000;
  caller.send(sipRequest('ACK', { callId, toTag }));
  return { callId, toTag };
}

function answer(request: Heard, status: string): void {
  const same = ['via', 'from', 'to', 'call-id', 'cseq'].map((name) => `${name}: ${request.headers[name]}`);
  caller.send([`SIP/2.0 ${status}`, ...same, 'Content-Length: 0\r\n\r\n'].join('\r\n'));
}

it('continues for a peer that answers, with any status, and is checked again', async () => {
  const { callId, toTag } = await heldCall();
  for (const status of ['200 OK', '405 Method Not Allowed', '503 Service Unavailable', '401 Unauthorized']) {
    const options = await caller.awaited(`OPTIONS before ${status}`, 'OPTIONS sip:ada@');
    expect(options.headers).toMatchObject({ 'call-id': callId, 'max-forwards': '70' });
    answer(options, status);
  }
  const fifth = await caller.awaited('a fifth OPTIONS', 'OPTIONS ');
  expect(recordOf(callId)?.ended_at).toBeNull();
  answer(fifth, '200 OK');
  caller.send(sipRequest('BYE', { callId, toTag, cseq: 2 }));
  await eventually('the end', () => recordOf(callId)?.ended_at ?? null);
  expect(recordOf(callId)?.termination).toBe('caller_hangup');
});

it.each(['481 Call/Transaction Does Not Exist', '408 Request Timeout'])(
  'ends with peer_gone after %s',
  async (status) => {
    const { callId } = await heldCall();
    answer(await caller.awaited('OPTIONS', 'OPTIONS '), status);
    const bye = await caller.awaited(`BYE after ${status}`, 'BYE ');
    answer(bye, '481 Call/Transaction Does Not Exist');
    await eventually('the end', () => recordOf(callId)?.ended_at ?? null);
    expect(recordOf(callId)).toMatchObject({
      termination: 'peer_gone',
      hangup_by: 'timeout',
      status: 'completed',
    });
    await eventually('nothing left', () => edge.calls.size + edge.signaling.dialogs === 0 || null);
  },
);

it('ends with peer_gone when the connection is closed and the peer cannot be reached', async () => {
  const { callId } = await heldCall();
  caller.close();
  await eventually('the end', () => recordOf(callId)?.ended_at ?? null, 60_000);
  expect(recordOf(callId)).toMatchObject({ termination: 'peer_gone', hangup_by: 'timeout' });
  await eventually('nothing left', () => edge.calls.size + edge.signaling.dialogs === 0 || null, 60_000);
});

it('ends with peer_gone when no answer arrives', async () => {
  const { callId } = await heldCall();
  await caller.awaited('OPTIONS', 'OPTIONS ');
  await eventually('the end', () => recordOf(callId)?.ended_at ?? null, 90_000);
  expect(recordOf(callId)).toMatchObject({ termination: 'peer_gone' });
});

describe('an outgoing call', () => {
  let callee: SipCallee;

  beforeEach(async () => {
    callee = await SipCallee.listen(edge.certificate);
  });

  afterEach(() => callee.close());

  /** The callee has answered and put the call on hold. */
  async function heldByCallee(): Promise<string> {
    routes.hops = [hopAt(callee.port)];
    const id = newId();
    const variables = {};
    edge.calls.place({
      callId: id,
      orgId: 'org',
      from: '+14155550100',
      to: '+1',
      agent: echoAgent,
      variables,
    });
    const invite = await callee.awaited('INVITE', 'INVITE ');
    callee.answer(invite, '200 OK', { body: fakeAnswer });
    await callee.awaited('ACK', 'ACK ');
    await eventually('the call to be up', () => edge.last(id)?.status === 'in-progress' || null);
    media.last.silentMs = 3_600_000;
    const { from, to, 'call-id': callId } = invite.headers;
    const body = `${sdpOffer}a=inactive\r\n`;
    const hold = (method: string, more: readonly string[]) =>
      callee.send(
        [
          `${method} sip:127.0.0.1:${edge.port};transport=tls SIP/2.0`,
          `Via: SIP/2.0/TLS 127.0.0.1:${callee.port};branch=z9hG4bK-hold-${method}`,
          `From: ${to};tag=callee`,
          `To: ${from}`,
          `Call-ID: ${callId}`,
          `CSeq: 1 ${method}`,
          'Max-Forwards: 70',
          ...more,
        ].join('\r\n'),
      );
    hold('INVITE', [
      `Contact: <sip:callee@127.0.0.1:${callee.port};transport=tls>`,
      'Content-Type: application/sdp',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ]);
    let answered = await callee.awaited('the answer to the hold', 'SIP/2.0 ');
    if (answered.startLine.startsWith('SIP/2.0 1')) answered = await callee.awaited('200', 'SIP/2.0 2');
    expect(answered.startLine).toMatch(/^SIP\/2\.0 200/);
    hold('ACK', ['Content-Length: 0', '', '']);
    return id;
  }

  it('is checked on hold too, and continues while the callee answers', async () => {
    const id = await heldByCallee();
    for (const status of ['200 OK', '405 Method Not Allowed']) {
      const options = await callee.awaited(`OPTIONS before ${status}`, 'OPTIONS sip:callee@');
      callee.answer(options, status);
    }
    const third = await callee.awaited('a third OPTIONS', 'OPTIONS ');
    expect(edge.last(id)?.ended_at).toBeNull();
    callee.answer(third, '481 Call/Transaction Does Not Exist');
    const bye = await callee.awaited('BYE after 481', 'BYE ');
    callee.answer(bye, '481 Call/Transaction Does Not Exist');
    await eventually('the end', () => edge.last(id)?.ended_at ?? null);
    expect(edge.last(id)).toMatchObject({ termination: 'peer_gone', hangup_by: 'timeout' });
  });

  it('ends on hold when the callee cannot be reached', async () => {
    const id = await heldByCallee();
    await callee.close();
    await eventually('the end', () => edge.last(id)?.ended_at ?? null, 60_000);
    expect(edge.last(id)).toMatchObject({ termination: 'peer_gone', hangup_by: 'timeout' });
    await eventually('nothing left', () => edge.calls.size + edge.signaling.dialogs === 0 || null, 60_000);
    callee = await SipCallee.listen(edge.certificate);
  });
});
