import { describe, expect, it } from 'vitest';
import { notifyText, referScene, target, type UpCall } from '../../../test/kit/edge/refers.ts';
import type { Sent } from '../../../test/kit/fakes/drachtio-server.ts';
import { sdpOffer } from '../../../test/kit/fakes/fake-leg.ts';
import type { ReferEvents } from '../../call/ports/refer.ts';

const scene = referScene();
const { inbound, outbound, idle, peer } = scene;

const referEvents: ReferEvents = {
  accepted: () => void scene.heard.push('accepted'),
  progress: (status, reason) => void scene.heard.push(`progress ${status} ${reason}`),
  done: (status, reason) => void scene.heard.push(`done ${status} ${reason}`),
  failed: (status, reason) => void scene.heard.push(`failed ${status} ${reason}`),
};

function notify(call: UpCall, statusLine: string, state = 'active;expires=60', event = 'refer'): void {
  const headers = { Event: event, 'Subscription-State': state, 'Content-Type': 'message/sipfrag' };
  peer(call, 'NOTIFY', headers, `${statusLine}\r\n`);
}

describe.each([
  ['that came in', inbound],
  ['that went out', outbound],
])('a REFER of ours in a call %s', (_name, begin) => {
  async function sendRefer(call: UpCall): Promise<Sent> {
    call.leg.refer({ target: 'sip:+14155550177@pbx.example?X-Crm=17' }, referEvents);
    const refer = await scene.server.next();
    expect(refer.startLine).toMatch(/^REFER /);
    expect(scene.heard).toEqual([]);
    return refer;
  }

  it('names the target and us, and reports the progress', async () => {
    const call = await begin();
    const refer = await sendRefer(call);
    expect(refer.dialogId).toBe(call.dialogId);
    expect(refer.headers).toMatchObject({
      'refer-to': '<sip:+14155550177@pbx.example?X-Crm=17>',
      contact: '<sip:edge.example:5061;transport=tls>',
    });
    expect(refer.headers['referred-by']).toMatch(/^<sip:\+14155550100@/);
    scene.server.answer(refer, 202, 'Accepted');
    notify(call, 'SIP/2.0 100 Trying');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    notify(call, 'SIP/2.0 200 OK', 'terminated;reason=noresource');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(scene.heard).toEqual(['accepted', 'progress 100 Trying', 'done 200 OK']);
    expect(scene.counted).toEqual(['sent succeeded']);
    notify(call, 'SIP/2.0 200 OK', 'terminated;reason=noresource');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 481 Subscription does not exist');
  });

  it('may cross one from the peer: each has its own subscription', async () => {
    const call = await begin();
    call.leg.refer({ target: 'sip:+14155550177@pbx.example' }, referEvents);
    const ours = await scene.server.next();
    peer(call, 'REFER', target);
    await idle();
    scene.refers[0]?.accept();
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 202 Accepted');
    const trying = await scene.server.next();
    expect(notifyText(trying)).toBe('NOTIFY active;expires=180 SIP/2.0 100 Trying');
    scene.server.answer(ours, 202, 'Accepted');
    notify(call, 'SIP/2.0 200 OK', 'terminated;reason=noresource');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    scene.server.answer(trying, 200, 'OK');
    scene.refers[0]?.notify(603, 'Decline');
    expect(notifyText(await scene.server.next())).toBe(
      'NOTIFY terminated;reason=noresource SIP/2.0 603 Decline',
    );
    expect(scene.heard).toEqual(['accepted', 'done 200 OK']);
  });

  it('is accepted by a NOTIFY that arrives before the response', async () => {
    const call = await begin();
    const refer = await sendRefer(call);
    notify(call, 'SIP/2.0 100 Trying');
    await scene.server.next();
    scene.server.answer(refer, 202, 'Accepted');
    notify(call, 'SIP/2.0 486 Busy Here');
    await scene.server.next();
    expect(scene.heard).toEqual(['accepted', 'progress 100 Trying', 'done 486 Busy Here']);
    notify(call, 'SIP/2.0 486 Busy Here', 'terminated');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(scene.heard).toHaveLength(3);
    expect(scene.counted).toEqual(['sent failed']);
  });

  it('is not confused with an earlier one whose subscription is still active', async () => {
    const call = await begin();
    scene.server.answer(await sendRefer(call), 202, 'Accepted');
    notify(call, 'SIP/2.0 486 Busy Here', 'active;expires=60');
    await scene.server.next();
    call.leg.refer({ target: 'sip:other@pbx.example' }, referEvents);
    scene.server.answer(await scene.server.next(), 202, 'Accepted');
    notify(call, 'SIP/2.0 200 OK', 'terminated;reason=noresource');
    await scene.server.next();
    expect(scene.heard).toEqual(['accepted', 'done 486 Busy Here', 'accepted', 'done 200 OK']);
  });

  it('fails when it is rejected', async () => {
    const call = await begin();
    scene.server.answer(await sendRefer(call), 603, 'Declined');
    await idle();
    expect(scene.heard).toEqual(['failed 603 Declined']);
    notify(call, 'SIP/2.0 100 Trying');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 481 Subscription does not exist');
  });

  it('fails without a status when there is no response', async () => {
    const call = await begin();
    scene.server.answer(await sendRefer(call), 408, 'Request Timeout', { address: '' });
    await idle();
    expect(scene.heard).toEqual(['failed null Request Timeout']);
  });

  it('fails when the subscription ends without a final status', async () => {
    const call = await begin();
    scene.server.answer(await sendRefer(call), 202, 'Accepted');
    notify(call, 'no status', 'terminated;reason=giveup');
    await scene.server.next();
    expect(scene.heard).toEqual([
      'accepted',
      'failed null The peer ended the subscription (terminated;reason=giveup)',
    ]);
  });

  it('fails when no NOTIFY arrives in time; each one restarts the timer', async () => {
    const call = await begin();
    scene.server.answer(await sendRefer(call), 202, 'Accepted');
    await idle();
    scene.clock.advance(59_000);
    notify(call, 'SIP/2.0 180 Ringing', 'active;expires=120');
    await scene.server.next();
    scene.clock.advance(119_000);
    expect(scene.heard).toEqual(['accepted', 'progress 180 Ringing']);
    scene.clock.advance(1_000);
    expect(scene.heard.at(-1)).toBe('failed null Timed out waiting for the peer to report the outcome');
    notify(call, 'SIP/2.0 200 OK', 'terminated');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 481 Subscription does not exist');
  });

  it('fails when the peer reports no outcome at all', async () => {
    const call = await begin();
    scene.server.answer(await sendRefer(call), 202, 'Accepted', { headers: { 'Refer-Sub': 'false' } });
    await idle();
    expect(scene.heard).toEqual(['accepted', 'failed null The peer does not report the outcome']);
  });

  it('fails once when the dialog ends, after the BYE is reported', async () => {
    const call = await begin();
    scene.server.answer(await sendRefer(call), 202, 'Accepted');
    peer(call, 'BYE');
    await scene.server.next();
    expect(scene.heard).toEqual(['accepted', 'bye', 'failed null The call has ended']);
    call.leg.refer({ target: 'sip:a@pbx.example' }, referEvents);
    await idle();
    expect(scene.heard.at(-1)).toBe('failed null The call is not up');
    expect(scene.clock.pending).toBe(0);
  });

  it('has its NOTIFYs answered while our BYE is pending', async () => {
    const call = await begin();
    scene.server.answer(await sendRefer(call), 202, 'Accepted');
    notify(call, 'SIP/2.0 200 OK');
    await scene.server.next();
    call.leg.bye('transferred');
    const bye = await scene.server.next();
    notify(call, 'SIP/2.0 200 OK', 'terminated;reason=noresource');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    scene.server.answer(bye, 200, 'OK');
    await idle();
    expect(scene.heard).toEqual(['accepted', 'done 200 OK']);
    expect(scene.signaling.dialogs).toBe(0);
    expect(scene.clock.pending).toBe(0);
  });

  it('is not sent with a target that would break out of its header', async () => {
    const call = await begin();
    const before = scene.server.sent.length;
    call.leg.refer({ target: 'sip:a@x>\r\nX: 1' }, referEvents);
    await idle();
    expect(scene.heard).toEqual(['failed null The target is not a URI']);
    expect(scene.server.sent).toHaveLength(before);
  });

  it('is lost with the engine', async () => {
    const call = await begin();
    await sendRefer(call);
    scene.server.drop();
    await expect.poll(() => scene.heard).toEqual(['failed null The call has ended']);
  });

  it('is allowed when the latest Allow lists it', async () => {
    expect((await begin()).leg.takesRefer).toBe(true);
  });
});

describe('a REFER of ours to a trunk', () => {
  it('answers a challenge', async () => {
    const call = await outbound();
    call.leg.refer({ target: 'sip:a@pbx.example' }, referEvents);
    const challenge = {
      'Proxy-Authenticate': 'Digest realm="pbx", nonce="n", algorithm=SHA-256, qop="auth"',
    };
    scene.server.answer(await scene.server.next(), 407, 'Proxy Authentication Required', {
      headers: challenge,
    });
    const again = await scene.server.next();
    expect(again.startLine).toMatch(/^REFER /);
    expect(again.headers['proxy-authorization']).toContain('username="trunk"');
    scene.server.answer(again, 202, 'Accepted');
    await idle();
    expect(scene.heard).toEqual(['accepted']);
  });
});

describe('whether the peer supports REFER', () => {
  it.each<[string, typeof inbound]>([
    ['that came in', inbound],
    ['that went out', outbound],
  ])('follows its Allow, in a call %s', async (_name, begin) => {
    const call = await begin({ Allow: 'INVITE, ACK, BYE' });
    expect(call.leg.takesRefer).toBe(false);
    peer(call, 'UPDATE', { Allow: 'INVITE, ACK, BYE, REFER, UPDATE' });
    await scene.server.next();
    expect(call.leg.takesRefer).toBe(true);
    peer(call, 'UPDATE');
    await scene.server.next();
    expect(call.leg.takesRefer).toBe(true);
  });
});

describe('the identifiers of a dialog', () => {
  it("are those on the wire, with the peer's latest target", async () => {
    const call = await inbound();
    expect(call.leg.dialog).toEqual({
      callId: 'call-1@peer',
      localTag: 'server-tag',
      remoteTag: 'peer-tag',
      remoteTarget: 'sip:ada@192.0.2.1:5061;transport=tls',
    });
    peer(call, 'UPDATE', { Contact: '<sip:ada@192.0.2.9:5061;transport=tls>' });
    await scene.server.next();
    expect(call.leg.dialog?.remoteTarget).toBe('sip:ada@192.0.2.9:5061;transport=tls');
    const other = await outbound();
    expect(other.leg.dialog).toEqual({
      callId: 'call-2@edge',
      localTag: other.dialogId.replace('call-2@edge;from-tag=', ''),
      remoteTag: 'peer-tag',
      remoteTarget: 'sip:them@192.0.2.1:5061',
    });
  });

  it('are unknown before the answer', async () => {
    scene.server.peer({ method: 'INVITE', body: sdpOffer });
    await idle();
    expect(scene.admitted?.dialog).toBeNull();
    expect(scene.admitted?.takesRefer).toBe(true);
    scene.server.cancel();
    await idle();
  });
});
