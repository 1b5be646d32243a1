import { describe, expect, it } from 'vitest';
import { notifyText, referScene, target } from '../../../test/kit/edge/refers.ts';

const scene = referScene();
const { inbound, outbound, idle, peer } = scene;

describe.each([
  ['that came in', inbound],
  ['that went out', outbound],
])('a REFER from the peer in a call %s', (_name, begin) => {
  it('is delivered, and followed by NOTIFYs one at a time', async () => {
    const call = await begin();
    peer(call, 'REFER', { ...target, 'Referred-By': '<sip:bob@pbx.example>' });
    await idle();
    expect(scene.refers[0]).toMatchObject({
      target: 'sip:+14155550177@pbx.example',
      replaces: null,
      referredBy: '<sip:bob@pbx.example>',
    });
    scene.refers[0]?.accept();
    scene.refers[0]?.notify(180, 'Ringing');
    scene.refers[0]?.notify(183, 'Session Progress');
    scene.refers[0]?.notify(200, 'OK');
    const accepted = await scene.server.next();
    expect(accepted.startLine).toBe('SIP/2.0 202 Accepted');
    expect(accepted.headers.contact).toBe('<sip:edge.example:5061;transport=tls>');
    const trying = await scene.server.next();
    expect(trying.dialogId).toBe(call.dialogId);
    expect(trying.headers).toMatchObject({
      event: 'refer',
      'subscription-state': 'active;expires=180',
      'content-type': 'message/sipfrag;version=2.0',
      contact: '<sip:edge.example:5061;transport=tls>',
    });
    expect(trying.body).toBe('SIP/2.0 100 Trying\r\n');
    await idle();
    expect(scene.server.sent.filter(({ startLine }) => startLine.startsWith('NOTIFY'))).toHaveLength(1);
    scene.server.answer(trying, 200, 'OK');
    const ringing = await scene.server.next();
    expect(notifyText(ringing)).toBe('NOTIFY active;expires=180 SIP/2.0 183 Session Progress');
    scene.server.answer(ringing, 200, 'OK');
    const done = await scene.server.next();
    expect(notifyText(done)).toBe('NOTIFY terminated;reason=noresource SIP/2.0 200 OK');
    scene.server.answer(done, 200, 'OK');
    await idle();
    scene.refers[0]?.notify(500, 'late');
    scene.refers[0]?.refuse(500, 'late');
    await idle();
    expect(scene.counted).toEqual(['received accepted', 'received succeeded']);
    call.leg.bye('done');
    expect((await scene.server.next()).startLine).toMatch(/^BYE /);
  });

  it('is rejected with the given status', async () => {
    const call = await begin();
    peer(call, 'REFER', target);
    await idle();
    scene.refers[0]?.refuse(403, 'Transfer target not allowed');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 403 Transfer target not allowed');
    scene.refers[0]?.accept();
    scene.refers[0]?.notify(200, 'OK');
    await idle();
    expect(scene.server.sent.filter(({ startLine }) => startLine.startsWith('NOTIFY'))).toEqual([]);
    peer(call, 'REFER', target);
    await idle();
    expect(scene.refers).toHaveLength(2);
  });

  it.each([
    [{}, 'SIP/2.0 400 Missing Refer-To'],
    [{ 'Refer-To': '<https://x.example/>' }, 'SIP/2.0 416 Unsupported URI Scheme'],
    [{ ...target, Require: 'multiple-refer' }, 'SIP/2.0 420 Bad Extension'],
  ])('%o gets %s', async (headers, startLine) => {
    const call = await begin();
    peer(call, 'REFER', headers);
    expect((await scene.server.next()).startLine).toBe(startLine);
    expect(scene.refers).toEqual([]);
    expect(scene.counted).toEqual(['received refused']);
  });

  it('gets 491 while another one is pending, and has its own subscription afterwards', async () => {
    const call = await begin();
    peer(call, 'REFER', target);
    await idle();
    scene.refers[0]?.accept();
    await scene.server.next();
    const trying = await scene.server.next();
    peer(call, 'REFER', target);
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 491 Transfer Pending');
    scene.refers[0]?.notify(486, 'Busy Here');
    scene.server.answer(trying, 200, 'OK');
    const failed = await scene.server.next();
    expect(notifyText(failed)).toBe('NOTIFY terminated;reason=noresource SIP/2.0 486 Busy Here');
    scene.server.answer(failed, 200, 'OK');
    await idle();
    peer(call, 'REFER', target);
    await idle();
    scene.refers[1]?.accept();
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 202 Accepted');
    expect((await scene.server.next()).headers.event).toBe(`refer;id=${scene.cseq}`);
  });

  it('without a subscription gets no NOTIFY', async () => {
    const call = await begin();
    peer(call, 'REFER', { ...target, 'Refer-Sub': 'false', Require: 'norefersub' });
    await idle();
    scene.refers[0]?.accept();
    const accepted = await scene.server.next();
    expect([accepted.startLine, accepted.headers['refer-sub']]).toEqual(['SIP/2.0 202 Accepted', 'false']);
    scene.refers[0]?.notify(180, 'Ringing');
    scene.refers[0]?.notify(200, 'OK');
    await idle();
    expect(scene.server.sent.at(-1)?.startLine).toBe('SIP/2.0 202 Accepted');
    peer(call, 'REFER', target);
    await idle();
    expect(scene.refers).toHaveLength(2);
  });

  it('ends with 503 when no outcome is reported', async () => {
    const call = await begin();
    peer(call, 'REFER', target);
    await idle();
    scene.refers[0]?.onExpiry(() => void scene.heard.push('expired'));
    scene.refers[0]?.accept();
    await scene.server.next();
    scene.server.answer(await scene.server.next(), 200, 'OK');
    await idle();
    scene.clock.advance(180_000);
    expect(scene.heard.at(-1)).toBe('expired');
    expect(notifyText(await scene.server.next())).toBe(
      'NOTIFY terminated;reason=noresource SIP/2.0 503 No outcome in time',
    );
    scene.refers[0]?.notify(200, 'OK');
    expect(scene.counted).toEqual(['received accepted', 'received timed_out']);
  });

  it('is forgotten when the peer has no such subscription', async () => {
    const call = await begin();
    peer(call, 'REFER', target);
    await idle();
    scene.refers[0]?.accept();
    await scene.server.next();
    scene.server.answer(await scene.server.next(), 481, 'Subscription does not exist');
    await idle();
    scene.refers[0]?.notify(200, 'OK');
    await idle();
    const methods = scene.server.sent.map(({ startLine }) => startLine.split(' ')[0]);
    expect(methods.slice(-2)).toEqual(['NOTIFY', 'OPTIONS']);
    peer(call, 'REFER', target);
    await idle();
    expect(scene.refers).toHaveLength(2);
  });

  it('ends with the dialog', async () => {
    const call = await begin();
    peer(call, 'REFER', target);
    await idle();
    scene.refers[0]?.accept();
    await scene.server.next();
    scene.server.answer(await scene.server.next(), 200, 'OK');
    peer(call, 'BYE');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    const before = scene.server.sent.length;
    scene.refers[0]?.notify(200, 'OK');
    await idle();
    expect(scene.server.sent).toHaveLength(before);
    expect(scene.heard).toEqual(['bye']);
    expect(scene.clock.pending).toBe(0);
  });

  it('has its last NOTIFY sent before our BYE', async () => {
    const call = await begin();
    peer(call, 'REFER', target);
    await idle();
    scene.refers[0]?.accept();
    await scene.server.next();
    await scene.server.next();
    scene.refers[0]?.notify(200, 'OK');
    call.leg.bye('transferred');
    expect(notifyText(await scene.server.next())).toBe('NOTIFY terminated;reason=noresource SIP/2.0 200 OK');
    const bye = await scene.server.next();
    expect(bye.startLine).toMatch(/^BYE /);
    scene.server.answer(bye, 200, 'OK');
    await idle();
    expect(scene.signaling.dialogs).toBe(0);
    expect(scene.clock.pending).toBe(0);
  });

  it('is answered 500 when the call cannot handle it, and does not block the next one', async () => {
    const call = await begin();
    const { push } = scene.refers;
    scene.refers.push = () => {
      throw new Error('a fault');
    };
    peer(call, 'REFER', target);
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 500 Server Internal Error');
    scene.refers.push = push;
    peer(call, 'REFER', target);
    await idle();
    expect(scene.refers).toHaveLength(1);
  });
});

describe('a REFER outside calls', () => {
  it('is forbidden', async () => {
    scene.server.peer({ method: 'REFER', headers: target });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 403 REFER is only supported within calls');
  });
});
