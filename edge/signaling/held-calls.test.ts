/** Calls on hold whose peer has vanished, on a real engine: it is asked by OPTIONS in the dialog. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { FakeAgents } from '../../test/fakes/fake-agents.ts';
import { FakeRoutes } from '../../test/fakes/fake-hunt.ts';
import { sdpOffer } from '../../test/fakes/fake-leg.ts';
import { FakeMedia } from '../../test/fakes/fake-media.ts';
import { releaseAll } from '../../test/fakes/release.ts';
import { type Heard, SipCaller, sipRequest, toTagOf } from '../../test/fakes/sip-caller.ts';
import { eventually } from '../../test/system/eventually.ts';
import { answeredByEcho, TestEdge } from './testing.ts';

const media = new FakeMedia();
let edge: TestEdge;
let caller: SipCaller;
let calls = 0;

beforeAll(async () => {
  edge = await TestEdge.start({
    media,
    agents: new FakeAgents(),
    outbound: { routes: new FakeRoutes(), ringTimeoutMs: 60_000 },
    mediaTimeoutMs: 1_000,
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

/** A call that is on hold, and whose peer sends nothing. */
async function heldCall(): Promise<{ callId: string; toTag: string }> {
  const callId = `held-${++calls}`;
  const held = `${sdpOffer}a=inactive\r\n`;
  caller.send(sipRequest('INVITE', { callId, body: held }));
  const toTag = toTagOf(await caller.final()) ?? '';
  media.last.silentMs = 3_600_000;
  caller.send(sipRequest('ACK', { callId, toTag }));
  return { callId, toTag };
}

function answer(request: Heard | null, status: string): void {
  const same = ['via', 'from', 'to', 'call-id', 'cseq'].map((name) => `${name}: ${request?.headers[name]}`);
  caller.send([`SIP/2.0 ${status}`, ...same, 'Content-Length: 0\r\n\r\n'].join('\r\n'));
}

it('goes on for a peer that answers, whatever it answers, and is asked again', async () => {
  const { callId, toTag } = await heldCall();
  for (const status of ['200 OK', '405 Method Not Allowed', '503 Service Unavailable', '401 Unauthorized']) {
    const options = await caller.next();
    expect(options?.startLine).toMatch(/^OPTIONS sip:ada@/);
    expect(options?.headers).toMatchObject({ 'call-id': callId, 'max-forwards': '70' });
    answer(options, status);
  }
  const fifth = await caller.next();
  expect(fifth?.startLine).toMatch(/^OPTIONS /);
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
    answer(await caller.next(), status);
    const bye = await caller.next();
    expect(bye?.startLine).toMatch(/^BYE /);
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

it('ends with peer_gone when the connection is closed and nobody can be reached', async () => {
  const { callId } = await heldCall();
  caller.close();
  await eventually('the end', () => recordOf(callId)?.ended_at ?? null, 60_000);
  expect(recordOf(callId)).toMatchObject({ termination: 'peer_gone', hangup_by: 'timeout' });
  await eventually('nothing left', () => edge.calls.size + edge.signaling.dialogs === 0 || null, 60_000);
}, 150_000);

it('ends with peer_gone when no answer comes', async () => {
  const { callId } = await heldCall();
  expect((await caller.next())?.startLine).toMatch(/^OPTIONS /);
  await eventually('the end', () => recordOf(callId)?.ended_at ?? null, 90_000);
  expect(recordOf(callId)).toMatchObject({ termination: 'peer_gone' });
}, 150_000);
