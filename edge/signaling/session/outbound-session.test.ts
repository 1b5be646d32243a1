import { describe, expect, it } from 'vitest';
import { outboundLegScene } from '../../../test/kit/edge/outbound-leg.ts';
import type { Sent } from '../../../test/kit/fakes/drachtio-server.ts';
import { fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';

const scene = outboundLegScene();
const { idle, up, peer } = scene;

/** The next request with that method from the leg; ACKs of failures may precede it. */
async function nextRequest(method: string): Promise<Sent> {
  for (;;) {
    const sent = await scene.server.next();
    if (sent.startLine.startsWith(`${method} `)) return sent;
  }
}

describe('the session of an outgoing call', () => {
  it('is refreshed at half its interval when we are the refresher', async () => {
    await up({ 'Session-Expires': '600;refresher=uac', Allow: 'INVITE, UPDATE' });
    scene.clock.advance(300_000);
    const update = await scene.server.next();
    expect(update.startLine).toMatch(/^UPDATE /);
    expect(update.headers['session-expires']).toBe('600;refresher=uac');
    scene.server.answer(update, 200, 'OK', { headers: { 'Session-Expires': '600;refresher=uac' } });
    await idle();
    scene.clock.advance(300_000);
    expect((await scene.server.next()).startLine).toMatch(/^UPDATE /);
  });

  it.each([['0'], ['-1'], ['1 (soon)']])(
    'is refreshed at most once a second when the callee answers 500 with Retry-After: %s',
    async (pause) => {
      await up({ 'Session-Expires': '600;refresher=uac', Allow: 'INVITE, UPDATE' });
      scene.clock.advance(300_000);
      for (let round = 0; round < 3; round++) {
        const update = await scene.server.next();
        scene.server.answer(update, 500, 'Server Internal Error', { headers: { 'Retry-After': pause } });
        await idle();
        const before = scene.server.sent.length;
        scene.clock.advance(999);
        await idle();
        expect(scene.server.sent).toHaveLength(before);
        scene.clock.advance(1);
      }
      expect((await scene.server.next()).startLine).toMatch(/^UPDATE /);
      expect(scene.heard).toEqual(['answered with SDP']);
    },
  );

  it('expires when the callee wants no refresh before its end', async () => {
    await up({ 'Session-Expires': '600;refresher=uac', Allow: 'INVITE, UPDATE' });
    scene.clock.advance(300_000);
    const headers = { 'Retry-After': '99999999' };
    scene.server.answer(await scene.server.next(), 503, 'Service Unavailable', { headers });
    await idle();
    const before = scene.server.sent.length;
    scene.clock.advance(267_999);
    await idle();
    expect(scene.server.sent).toHaveLength(before);
    expect(scene.heard).toEqual(['answered with SDP']);
    scene.clock.advance(1);
    expect(scene.heard).toEqual(['answered with SDP', 'lost: session_expired']);
  });

  it('is refreshed with the interval of a 422, a limited number of times', async () => {
    await up({ 'Session-Expires': '600;refresher=uac', Allow: 'INVITE, UPDATE' });
    scene.clock.advance(300_000);
    for (const minS of [601, 602, 603, 604]) {
      const update = await nextRequest('UPDATE');
      expect(update.headers['session-expires']).toBe(`${minS - 1};refresher=uac`);
      scene.server.answer(update, 422, 'Session Interval Too Small', { headers: { 'Min-SE': String(minS) } });
      await idle();
      scene.clock.advance(0);
    }
    await idle();
    expect(scene.server.sent.filter(({ startLine }) => startLine.startsWith('UPDATE '))).toHaveLength(4);
    scene.clock.advance(267_999);
    expect(scene.heard).toEqual(['answered with SDP']);
    scene.clock.advance(1);
    expect(scene.heard).toEqual(['answered with SDP', 'lost: session_expired']);
  });

  it.each([
    ['999999999;refresher=uac', 86_400],
    ['99999999999999999999;refresher=uac', 86_400],
    ['5000000;refresher=uac', 86_400],
    ['1;refresher=uac', 90],
    ['0;refresher=uac', 90],
  ])('works with an interval of %s', async (expires, refreshedS) => {
    await up({ 'Session-Expires': expires, Allow: 'INVITE, UPDATE' });
    scene.clock.advance(refreshedS * 500 - 1);
    await idle();
    expect(scene.server.sent.at(-1)?.startLine).toMatch(/^ACK /);
    scene.clock.advance(1);
    expect((await scene.server.next()).headers['session-expires']).toBe(`${refreshedS};refresher=uac`);
    expect(scene.heard).toEqual(['answered with SDP']);
  });

  it('is lost when the callee must refresh it and does not', async () => {
    await up({ 'Session-Expires': '600;refresher=uas' });
    scene.clock.advance(567_999);
    expect(scene.heard).toEqual(['answered with SDP']);
    scene.clock.advance(1);
    expect(scene.heard).toEqual(['answered with SDP', 'lost: session_expired']);
  });

  it('does not expire when the callee names no interval', async () => {
    await up();
    expect(scene.clock.pending).toBe(0);
  });

  it('accepts a re-INVITE from the callee, and rejects an unacceptable one', async () => {
    const invite = await up();
    peer(invite, 'INVITE', fakeAnswer);
    const ok = await scene.server.next();
    expect([ok.startLine, ok.body]).toEqual(['SIP/2.0 200 OK', fakeAnswer]);
    peer(invite, 'ACK');
    peer(invite, 'INVITE', 'v=0\r\n');
    expect((await scene.server.next()).startLine).toMatch(/^SIP\/2\.0 488 /);
  });

  it('is not refreshed again after a collision when the callee has refreshed it meanwhile', async () => {
    const invite = await up({ 'Session-Expires': '600;refresher=uac', Allow: 'INVITE, UPDATE' });
    scene.clock.advance(300_000);
    scene.server.answer(await scene.server.next(), 491, 'Request Pending');
    await idle();
    peer(invite, 'UPDATE', '', { Supported: 'timer', 'Session-Expires': '600;refresher=uas' });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    await idle();
    const before = scene.server.sent.length;
    scene.clock.advance(299_999);
    await idle();
    expect(scene.server.sent).toHaveLength(before);
    scene.clock.advance(1);
    expect((await scene.server.next()).startLine).toMatch(/^UPDATE /);
  });

  it('is renegotiated by re-INVITE, retried at least 2.1 s after a collision', async () => {
    await up({ Allow: 'INVITE, UPDATE' });
    scene.leg.renegotiate('required');
    const first = await scene.server.next();
    expect([first.startLine.split(' ')[0], first.body]).toEqual(['INVITE', fakeAnswer]);
    scene.server.answer(first, 491, 'Request Pending');
    await idle();
    scene.clock.advance(2_099);
    await idle();
    expect(scene.server.sent.filter(({ startLine }) => startLine.startsWith('INVITE '))).toHaveLength(2);
    scene.clock.advance(1);
    const second = await nextRequest('INVITE');
    scene.server.answer(second, 200, 'OK', {
      headers: { 'Content-Type': 'application/sdp' },
      body: fakeAnswer,
    });
    await nextRequest('ACK');
    await expect.poll(() => scene.heard).toEqual(['answered with SDP', 'new answer']);
  });

  it('takes the answer to a new offer from a multipart body', async () => {
    await up();
    scene.leg.renegotiate('required');
    scene.server.answer(await scene.server.next(), 200, 'OK', {
      headers: { 'Content-Type': 'multipart/mixed;boundary=b' },
      body: `--b\r\nContent-Type: application/isup\r\n\r\nx\r\n--b\r\nContent-Type: application/sdp\r\n\r\n${fakeAnswer}\r\n--b--\r\n`,
    });
    await nextRequest('ACK');
    await expect.poll(() => scene.heard).toEqual(['answered with SDP', 'new answer']);
  });

  it('is lost when a new offer gets no answer', async () => {
    await up();
    scene.leg.renegotiate('required');
    scene.server.answer(await scene.server.next(), 200, 'OK');
    await nextRequest('ACK');
    await expect.poll(() => scene.heard).toEqual(['answered with SDP', 'lost: bad_answer']);
  });

  it('is lost when a new offer is rejected', async () => {
    await up();
    scene.leg.renegotiate('required');
    scene.server.answer(await scene.server.next(), 488, 'Not Acceptable Here');
    await idle();
    expect(scene.heard).toEqual(['answered with SDP', 'lost: bad_answer']);
  });

  it('continues unchanged when an offer that is only wanted is rejected', async () => {
    await up();
    scene.leg.renegotiate('wanted');
    scene.server.answer(await scene.server.next(), 488, 'Not Acceptable Here');
    await idle();
    expect(scene.heard).toEqual(['answered with SDP']);
  });

  it('offers once more when a change is ordered while an offer waits for its answer', async () => {
    await up({ Allow: 'INVITE, UPDATE' });
    scene.leg.renegotiate('wanted');
    const first = await scene.server.next();
    scene.leg.renegotiate('wanted');
    scene.server.answer(first, 200, 'OK', {
      headers: { 'Content-Type': 'application/sdp' },
      body: fakeAnswer,
    });
    await nextRequest('ACK');
    scene.clock.advance(1_000);
    const second = await nextRequest('INVITE');
    expect(second.body).toBe(fakeAnswer);
  });

  it('ends with a BYE from the callee, which is reported before its 200', async () => {
    const invite = await up();
    peer(invite, 'BYE');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(scene.heard).toEqual(['answered with SDP', 'bye']);
    expect(scene.signaling.dialogs).toBe(0);
    expect(scene.clock.pending).toBe(0);
  });

  it('ends with our BYE, sent once', async () => {
    await up();
    scene.leg.bye('all said');
    scene.leg.bye('again');
    const bye = await scene.server.next();
    expect(bye.headers).toMatchObject({ reason: 'SIP;cause=200;text="all said"' });
    scene.server.answer(bye, 200, 'OK');
    await idle();
    expect(scene.signaling.dialogs).toBe(0);
    expect(scene.heard).toEqual(['answered with SDP']);
  });

  it('rejects unknown methods', async () => {
    const invite = await up();
    peer(invite, 'MESSAGE');
    expect((await scene.server.next()).startLine).toMatch(/^SIP\/2\.0 405 /);
    peer(invite, 'OPTIONS');
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
  });
});
