/** Refreshes of an inbound call (RFC 4028), by UPDATE and by re-INVITE. */
import { describe, expect, it } from 'vitest';
import { invite, signalingScene } from '../../../test/kit/edge/fake-engine-signaling.ts';
import { sdpOffer } from '../../../test/kit/fakes/fake-leg.ts';

const scene = signalingScene();
const { last, answered } = scene;

describe('the session timer', () => {
  it('is refreshed by us with UPDATE when the caller supports it', async () => {
    const ok = await answered({ Supported: 'timer', Allow: 'INVITE, UPDATE' });
    expect(ok.headers['session-expires']).toBe('1800;refresher=uas');
    scene.clock.advance(900_000);
    const update = await scene.server.next();
    expect(update.startLine).toMatch(/^UPDATE /);
    expect(update.headers).toMatchObject({
      'session-expires': '1800;refresher=uac',
      contact: '<sip:edge.example:5061;transport=tls>',
    });
    scene.server.answer(update, 200, 'OK', { headers: { 'Session-Expires': '1800;refresher=uac' } });
    await scene.server.idle();
    scene.clock.advance(900_000);
    expect((await scene.server.next()).startLine).toMatch(/^UPDATE /);
    expect(scene.calls.size).toBe(1);
  });

  it('is refreshed by us with re-INVITE otherwise, again after a glare', async () => {
    await answered({ Supported: 'timer' });
    scene.clock.advance(900_000);
    await scene.server.idle();
    const first = await scene.server.next();
    expect(first.startLine).toMatch(/^INVITE /);
    scene.server.peer({ ...invite, toTag: 't' });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 491 Request Pending');
    scene.server.answer(first, 491, 'Request Pending');
    await scene.server.idle();
    scene.clock.advance(1000);
    await scene.server.idle();
    const second = await scene.server.next();
    expect(second.startLine).toMatch(/^INVITE /);
    scene.server.answer(second, 200, 'OK', {
      headers: { 'Content-Type': 'application/sdp' },
      body: sdpOffer,
    });
    expect((await scene.server.next()).startLine).toMatch(/^ACK /);
    expect(scene.media.last.answers).toEqual([sdpOffer]);
  });

  it('ends the call when the caller must refresh and does not', async () => {
    const ok = await answered({ Supported: 'timer', 'Session-Expires': '90;refresher=uac' });
    expect(ok.headers).toMatchObject({ 'session-expires': '90;refresher=uac', require: 'timer' });
    scene.clock.advance(59_000);
    scene.server.peer({
      method: 'UPDATE',
      toTag: 't',
      headers: { Supported: 'timer', 'Session-Expires': '90;refresher=uac' },
    });
    await scene.server.next();
    await scene.server.idle();
    scene.clock.advance(59_000);
    expect(scene.calls.size).toBe(1);
    scene.clock.advance(1_000);
    expect((await scene.server.next()).startLine).toMatch(/^BYE /);
    expect(last()).toMatchObject({ termination: 'session_expired', hangup_by: 'timeout' });
  });

  it('ends the call when the caller no longer knows the dialog', async () => {
    await answered({ Supported: 'timer', Allow: 'UPDATE' });
    scene.clock.advance(900_000);
    scene.server.answer(await scene.server.next(), 481, 'Call/Transaction Does Not Exist');
    expect((await scene.server.next()).startLine).toMatch(/^BYE /);
    expect(last()?.termination).toBe('session_expired');
  });

  it('uses the interval of a 422', async () => {
    await answered({ Supported: 'timer', Allow: 'UPDATE' });
    scene.clock.advance(900_000);
    scene.server.answer(await scene.server.next(), 422, 'Session Interval Too Small', {
      headers: { 'Min-SE': '3600' },
    });
    await scene.server.idle();
    scene.clock.advance(1);
    expect((await scene.server.next()).headers).toMatchObject({
      'session-expires': '3600;refresher=uac',
      'min-se': '3600',
    });
  });
});

describe('the session timer on a drachtio-server, which refreshes at half the interval itself', () => {
  const onServer = signalingScene('v0.9.10');

  it('is refreshed by our re-INVITE before that, although the caller supports UPDATE', async () => {
    await onServer.answered({ Supported: 'timer', Allow: 'INVITE, UPDATE' });
    onServer.clock.advance(719_999);
    await onServer.server.idle();
    onServer.clock.advance(1);
    const refresh = await onServer.server.next();
    expect(refresh.startLine).toMatch(/^INVITE /);
    expect(refresh.headers['session-expires']).toBe('1800;refresher=uac');
  });

  it.each([
    ['1800;refresher=uas', 'uac'],
    ['1800;refresher=uac', 'uas'],
  ])(
    'is run by the side that the server expects, when the interval was %s and a refresh names none',
    async (first, expected) => {
      await onServer.answered({ Supported: 'timer', 'Session-Expires': first });
      const headers = { Supported: 'timer', 'Session-Expires': '1800' };
      onServer.server.peer({ method: 'UPDATE', toTag: 't', headers });
      expect((await onServer.server.next()).headers['session-expires']).toBe(`1800;refresher=${expected}`);
    },
  );
});
