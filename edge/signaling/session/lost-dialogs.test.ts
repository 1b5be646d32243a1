/**
 * Dialogs lost on one side, between signaling and a real engine: both sides end the call, and the peer gets a
 * BYE.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answeredByEcho, TestEdge } from '../../../test/kit/edge/signaling.ts';
import { FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeRoutes } from '../../../test/kit/fakes/fake-hunt.ts';
import { sdpOffer } from '../../../test/kit/fakes/fake-leg.ts';
import { FakeMedia } from '../../../test/kit/fakes/fake-media.ts';
import { SipCaller, sipRequest, toTagOf } from '../../../test/kit/fakes/sip-caller.ts';
import { eventually } from '../../../test/kit/programs/eventually.ts';

let edge: TestEdge;

beforeAll(async () => {
  edge = await TestEdge.start({
    media: new FakeMedia(),
    agents: new FakeAgents(),
    outbound: { routes: new FakeRoutes(), ringTimeoutMs: 60_000 },
  });
  edge.signaling.configure(answeredByEcho('+14155550100'));
});

afterAll(() => edge.stop());

/** @returns the To tag of the established call */
async function callUp(caller: SipCaller, callId: string): Promise<string> {
  caller.send(sipRequest('INVITE', { callId, body: sdpOffer }));
  const toTag = toTagOf(await caller.final()) ?? '';
  caller.send(sipRequest('ACK', { callId, toTag }));
  await eventually('the call in progress', () => recordOf(callId)?.status === 'in-progress' || null);
  return toTag;
}

function recordOf(sipCallId: string) {
  return [...edge.records.values()].flat().findLast((record) => record.sip_call_id === sipCallId);
}

// The two sides compare every ten seconds; a difference found twice in a row means a lost dialog: forty seconds
// in all.
it('a call without its dialog ends as lost, and its dialog without a call gets a BYE; another call continues', async () => {
  const caller = await SipCaller.connect(edge.port, edge.authority.cert);
  const other = await SipCaller.connect(edge.port, edge.authority.cert);
  await callUp(caller, 'lost');
  const toTag = await callUp(other, 'kept');
  edge.dialogsSeen = (ids) => ids.filter((id) => !id.includes('lost'));
  await eventually('the end of the call', () => recordOf('lost')?.ended_at ?? null, 60_000);
  expect(recordOf('lost')).toMatchObject({
    termination: 'dialog_lost',
    hangup_by: 'error',
    status: 'completed',
  });
  // The engine still has the dialog, which no call owns now.
  edge.dialogsSeen = (ids) => ids;
  const bye = await caller.next();
  expect(bye?.startLine).toMatch(/^BYE sip:ada@/);
  expect(bye?.headers).toMatchObject({ 'call-id': 'lost' });
  expect(bye?.headers.reason).toContain('no call owns the dialog');
  expect(recordOf('kept')?.ended_at).toBeNull();
  other.send(sipRequest('BYE', { callId: 'kept', toTag, cseq: 2 }));
  expect((await other.final())?.startLine).toBe('SIP/2.0 200 OK');
  await eventually('nothing left', () => edge.calls.size + edge.signaling.dialogs === 0 || null);
  caller.close();
  other.close();
});
