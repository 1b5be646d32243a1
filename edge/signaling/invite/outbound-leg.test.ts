import { describe, expect, it } from 'vitest';
import { connectionFailure } from '#shared/connection-faults.ts';
import { endTexts } from '#shared/engine-protocol/ends.ts';
import { writeFailure } from '#shared/engine-protocol/failures.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import { invitation, outboundLegScene, target } from '../../../test/kit/edge/outbound-leg.ts';
import type { Sent } from '../../../test/kit/fakes/drachtio-server.ts';
import { fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';

const scene = outboundLegScene();
const { events, idle, dial, up, peer } = scene;

describe('an outgoing INVITE', () => {
  it('reports the custom headers that it lacks, once for all its attempts', async () => {
    const leftOut: unknown[] = [];
    const headers = [
      { type: 'custom' as const, key: 'crm', value: 'X-Crm-Id' },
      { type: 'custom' as const, key: 'plan', value: 'X-Plan' },
    ];
    const credentials = { username: 'u', password: 'p', realm: null };
    const invite = { ...invitation, headers, variables: { plan: 'gold' }, credentials };
    scene.leg = scene.signaling.dial(target, invite, {
      ...events,
      headersLeftOut: (some) => leftOut.push(...some),
    });
    const first = await scene.server.next();
    expect(first.headers).toMatchObject({ 'x-plan': 'gold' });
    const challenge = { 'WWW-Authenticate': 'Digest realm="r", nonce="n", qop="auth"' };
    scene.server.answer(first, 401, 'Unauthorized', { headers: challenge });
    expect((await scene.server.next()).startLine).toMatch(/^INVITE /);
    expect(leftOut).toEqual([{ name: 'X-Crm-Id', why: 'the variable crm has no value' }]);
  });

  it('uses the domain as Request-URI and the address as next hop', async () => {
    const invite = await dial({ to: 'sip:anna.b@pbx.example;user=phone' });
    expect(invite.startLine).toBe('INVITE sip:anna.b@trunk.example:5061;transport=tls SIP/2.0');
    expect(invite.proxy).toBe('sip:192.0.2.1:5061;transport=tls');
    expect(invite.headers).toMatchObject({
      to: '<sip:anna.b@trunk.example:5061>',
      contact: '<sip:edge.example:5061;transport=tls>',
      'p-asserted-identity': '<sip:+14155550100@edge.example>',
    });
  });

  it('asserts no identity to a foreign host (RFC 3325)', async () => {
    scene.leg = scene.signaling.dial({ ...target, foreign: true }, invitation, events);
    const { headers } = await scene.server.next();
    expect(headers.from).toMatch(/^<sip:\+14155550100@edge\.example>;tag=/);
    expect(headers).not.toHaveProperty('p-asserted-identity');
  });

  it('without any response in 6 s times out and is canceled', async () => {
    const invite = await dial();
    await idle();
    scene.clock.advance(5_999);
    expect(scene.heard).toEqual([]);
    scene.clock.advance(1);
    expect(scene.heard).toEqual(['timeout']);
    const cancel = await scene.server.next();
    expect(cancel.startLine).toMatch(/^CANCEL /);
    expect(cancel.transactionId).toBe(invite.transactionId);
    scene.server.answer(invite, 487, 'Request Terminated');
    await idle();
    expect(scene.heard).toEqual(['timeout']);
    expect(scene.signaling.dialogs).toBe(0);
    expect(scene.clock.pending).toBe(0);
  });

  it('with a 100 in time does not time out', async () => {
    const invite = await dial();
    scene.server.answer(invite, 100, 'Trying');
    await idle();
    scene.clock.advance(60_000);
    expect(scene.heard).toEqual(['100']);
    scene.leg.cancel('enough');
    expect((await scene.server.next()).startLine).toMatch(/^CANCEL /);
    scene.server.answer(invite, 487, 'Request Terminated');
    await idle();
    expect(scene.heard).toEqual(['100']);
    expect(scene.signaling.dialogs).toBe(0);
  });

  it('that is canceled before it is sent is never sent', async () => {
    scene.leg = scene.signaling.dial(target, invitation, events);
    scene.leg.cancel('never mind');
    await new Promise((resolve) => setImmediate(resolve));
    await idle();
    expect(scene.server.sent).toEqual([]);
    expect(scene.signaling.dialogs).toBe(0);
    expect(scene.clock.pending).toBe(0);
  });

  it('that is canceled while it is repeated is canceled once, as soon as the engine has the repetition', async () => {
    const first = await dial({ credentials: { username: 'u', password: 'p', realm: null } });
    const challenge = { 'WWW-Authenticate': 'Digest realm="r", nonce="n", qop="auth"' };
    scene.server.answer(first, 401, 'Unauthorized', { headers: challenge });
    const second = await scene.server.next();
    expect(second.startLine).toMatch(/^INVITE /);
    scene.leg.cancel('enough');
    const cancel = await scene.server.next();
    expect(cancel.startLine).toMatch(/^CANCEL /);
    expect(cancel.transactionId).toBe(second.transactionId);
    scene.server.answer(second, 487, 'Request Terminated');
    await idle();
    expect(scene.server.sent.filter(({ startLine }) => startLine.startsWith('CANCEL'))).toHaveLength(1);
    expect(scene.heard).toEqual([]);
    expect(scene.signaling.dialogs).toBe(0);
    expect(scene.clock.pending).toBe(0);
  });

  it('reports a rejection with its details', async () => {
    const invite = await dial();
    scene.server.answer(invite, 503, 'Service Unavailable', {
      headers: { 'Retry-After': '30 (maintenance)', Warning: '399 sbc "down for \\"repair\\""' },
    });
    await idle();
    expect(scene.heard).toEqual(['refused 503 down for "repair" 30']);
    expect(scene.signaling.dialogs).toBe(0);
    expect(scene.clock.pending).toBe(0);
  });

  it('does not treat a response made by the engine as one from the peer', async () => {
    const first = await dial();
    const text = '192.0.2.1:5061: connection refused';
    const headers = {
      Warning: `399 edge "${text}"`,
      [privateHeaders.failure]: writeFailure(connectionFailure('refused', text)),
    };
    scene.server.answer(first, 503, 'Service Unavailable', { address: '', headers });
    const second = await dial();
    scene.server.answer(second, 408, 'Request Timeout', { address: '' });
    await idle();
    expect(scene.heard).toEqual(['unreachable (refused): 192.0.2.1:5061: connection refused', 'timeout']);
  });

  it("that the engine rejects reports the engine's reason", async () => {
    scene.server.refuse = () => 'requested protocol/transport not available';
    await dial();
    await idle();
    expect(scene.heard).toEqual(['unreachable (unknown): requested protocol/transport not available']);
    expect(scene.clock.pending).toBe(0);
  });

  it('to the edge itself says so', async () => {
    scene.server.refuse = () => 'can not send request to myself';
    await dial();
    await idle();
    expect(scene.heard).toEqual(['unreachable (own_address): can not send request to myself']);
  });

  it('without an engine reports the loss of the engine, after dial() has returned', async () => {
    scene.server.drop();
    await expect.poll(() => scene.signaling.up).toBe(false);
    scene.leg = scene.signaling.dial(target, invitation, events);
    expect(scene.heard).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(scene.heard).toEqual(['lost: engine_lost']);
    expect(scene.signaling.dialogs).toBe(0);
  });

  it('is forgotten when the engine is lost', async () => {
    await dial();
    scene.server.drop();
    await expect.poll(() => scene.signaling.dialogs).toBe(0);
    scene.leg.cancel('too late');
    expect(scene.heard).toEqual([]);
  });

  it('uses the session interval of a 422, a limited number of times', async () => {
    const answer = (sent: Sent, minS: number) =>
      scene.server.answer(sent, 422, 'Session Interval Too Small', { headers: { 'Min-SE': String(minS) } });
    answer(await dial(), 2000);
    for (const minS of [2100, 2200, 2300]) {
      const again = await scene.server.next();
      expect(again.headers['session-expires']).toBe(String(minS - 100));
      answer(again, minS);
    }
    await idle();
    expect(scene.heard).toEqual(['refused 422 null null']);
  });
});

describe('an answer from the callee', () => {
  it('may be any 2xx (RFC 3261 section 13.2.2.4)', async () => {
    const invite = await dial();
    scene.server.answer(invite, 202, 'Accepted', {
      headers: { Contact: '<sip:them@192.0.2.1>', 'Content-Type': 'application/sdp' },
      body: fakeAnswer,
    });
    expect((await scene.server.next()).startLine).toMatch(/^ACK /);
    expect(scene.heard).toEqual(['answered with SDP']);
  });

  it('that is a 2xx other than 200 is a bad answer if the engine creates no dialog for it', async () => {
    const invite = await dial();
    scene.server.refuse = ({ startLine }) =>
      startLine.startsWith('ACK ') ? 'unable to find dialog for dialog id provided' : null;
    scene.server.answer(invite, 202, 'Accepted', {
      headers: { 'Content-Type': 'application/sdp' },
      body: fakeAnswer,
    });
    await scene.server.next();
    await idle();
    expect(scene.heard).toEqual(['answered with SDP', 'lost: bad_answer']);
  });

  it('without Contact is a bad answer, which the engine ends', async () => {
    const invite = await up();
    const { dialogId } = invite;
    scene.server.peer({
      method: 'BYE',
      callId: invitation.sipCallId,
      toTag: 'x',
      dialogId,
      source: 'application',
      headers: {
        Reason: `SIP;cause=200;text="${endTexts.no_contact}"`,
        [privateHeaders.end]: 'no_contact',
      },
    });
    await idle();
    expect(scene.heard).toEqual(['answered with SDP', 'lost: bad_answer']);
  });
});

describe('a probe', () => {
  it('waits for an engine that is not connected yet', async () => {
    scene.server.drop();
    await expect.poll(() => scene.signaling.up).toBe(false);
    const outcome = scene.signaling.probe(target, 5_000);
    scene.clock.advance(200);
    const options = await scene.server.next();
    expect(options.startLine).toBe('OPTIONS sip:trunk.example:5061;transport=tls SIP/2.0');
    scene.clock.advance(40);
    scene.server.answer(options, 200, 'OK');
    expect(await outcome).toEqual({ sipCode: 200, responseTimeMs: 40, error: null });
    expect(scene.clock.pending).toBe(0);
  });

  it('reports that there is no engine when none connects in time', async () => {
    scene.server.drop();
    await expect.poll(() => scene.signaling.up).toBe(false);
    const outcome = scene.signaling.probe(target, 100);
    scene.clock.advance(100);
    expect(await outcome).toMatchObject({ sipCode: null, error: 'the SIP engine is not connected' });
  });
});

describe('the early dialog', () => {
  const reliable = (rseq: number) => ({
    headers: { Require: '100rel', RSeq: String(rseq), 'Content-Type': 'application/sdp' },
    body: fakeAnswer,
  });

  it('accepts an offer in UPDATE once a reliable response has answered ours (RFC 3311 section 5.1)', async () => {
    const invite = await dial();
    scene.server.answer(invite, 183, 'Session Progress', reliable(5));
    expect((await scene.server.next()).startLine).toMatch(/^PRACK /);
    for (const cseq of [2, 3]) {
      scene.server.peer({
        method: 'UPDATE',
        callId: 'call-1@edge',
        toTag: 'x',
        dialogId: invite.dialogId,
        cseq,
        body: fakeAnswer,
      });
      const ok = await scene.server.next();
      expect([ok.startLine, ok.body]).toEqual(['SIP/2.0 200 OK', fakeAnswer]);
    }
    peer(invite, 'UPDATE', 'v=0\r\n');
    expect((await scene.server.next()).startLine).toMatch(/^SIP\/2\.0 488 /);
    // The first answer repeated in the 200 changes nothing (RFC 3261 section 13.2.1).
    scene.server.answer(invite, 200, 'OK', {
      headers: { 'Content-Type': 'application/sdp' },
      body: fakeAnswer,
    });
    expect((await scene.server.next()).startLine).toMatch(/^ACK /);
    expect(scene.heard).toEqual(['183 with SDP', 'answered']);
  });

  it('of an INVITE that is repeated is that of the repetition', async () => {
    const first = await dial({ credentials: { username: 'u', password: 'p', realm: null } });
    const other = { ...reliable(5).headers, To: '<sip:them@x>;tag=other' };
    scene.server.answer(first, 183, 'Session Progress', { ...reliable(5), headers: other });
    expect((await scene.server.next()).startLine).toMatch(/^PRACK /);
    const challenge = { 'WWW-Authenticate': 'Digest realm="r", nonce="n", qop="auth"' };
    scene.server.answer(first, 401, 'Unauthorized', { headers: challenge });
    const second = await scene.server.next();
    expect(second.startLine).toMatch(/^INVITE /);
    scene.server.answer(second, 183, 'Session Progress', reliable(5));
    expect((await scene.server.next()).startLine).toMatch(/^PRACK /);
    peer(second, 'UPDATE', fakeAnswer);
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
  });

  it('uses the answer in the 200 when there was no offer since the reliable response', async () => {
    const invite = await dial();
    scene.server.answer(invite, 183, 'Session Progress', reliable(5));
    await scene.server.next();
    scene.server.answer(invite, 200, 'OK', {
      headers: { 'Content-Type': 'application/sdp' },
      body: fakeAnswer,
    });
    await scene.server.next();
    expect(scene.heard).toEqual(['183 with SDP', 'answered with SDP']);
  });

  it('accepts no offer from another fork than the one that has answered', async () => {
    const invite = await dial();
    scene.server.answer(invite, 183, 'Session Progress', {
      ...reliable(5),
      headers: { ...reliable(5).headers, To: '<sip:them@x>;tag=other' },
    });
    await scene.server.next();
    peer(invite, 'UPDATE', fakeAnswer);
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 491 Request Pending');
    peer(invite, 'UPDATE');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
  });

  it('rejects an offer in UPDATE that would cross ours (RFC 3311 section 5.2)', async () => {
    const invite = await dial();
    scene.server.answer(invite, 180, 'Ringing');
    peer(invite, 'UPDATE', fakeAnswer);
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 491 Request Pending');
  });

  it.each([
    ['OPTIONS', 200],
    ['INFO', 200],
    ['REFER', 403],
    ['MESSAGE', 405],
  ] as const)('is not denied when the callee sends %s', async (method, status) => {
    const invite = await dial();
    scene.server.answer(invite, 180, 'Ringing');
    peer(invite, method);
    expect((await scene.server.next()).startLine).toMatch(new RegExp(`^SIP/2\\.0 ${status} `));
  });

  it('is not ended by a BYE from the callee (RFC 3261 section 15)', async () => {
    const invite = await dial();
    scene.server.answer(invite, 180, 'Ringing');
    peer(invite, 'BYE');
    expect((await scene.server.next()).startLine).toMatch(/^SIP\/2\.0 481 /);
    expect(scene.heard).toEqual(['180']);
  });
});
