/** Calls of browsers over WebSockets (RFC 7118). */
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { browserScene, CONTACT } from '../../test/kit/edge/browser.ts';
import { type AppDialog, type AppRequest, type AppResponse, connectApp } from '../../test/kit/edge/engine.ts';
import type { SipResponse } from './message/message.ts';

const scene = browserScene();
const { nothingLeft } = scene;

const OFFER = 'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\n';
const ANSWER = OFFER.replace('o=- 1', 'o=- 2');

/** A call from the phone, answered by the application and acknowledged by the phone. */
async function established(): Promise<{ uas: AppDialog; ok: SipResponse }> {
  const dialog = new Promise<AppDialog>((resolve) => {
    scene.app.invite((request, response) => {
      void scene.app.createUAS(request, response, { localSdp: ANSWER }).then(resolve);
    });
  });
  await connectApp({ appPort: scene.appPort }, scene.app);
  scene.phone.request('INVITE', 1, {}, OFFER);
  const ok = await scene.phone.response();
  scene.phone.request('ACK', 1, { To: ok.headers.get('to') ?? '' });
  return { uas: await dialog, ok };
}

describe('a call from a browser', () => {
  it('stays on its WebSocket in both directions, although its Contact is unreachable', async () => {
    const { uas, ok } = await established();
    expect(ok.status).toBe(200);
    const sentBy = `SIP/2.0/WSS abc.invalid;branch=z9hG4bK-INVITE-1;rport=`;
    expect(ok.headers.get('via')).toMatch(new RegExp(`^${sentBy}\\d+;received=127\\.0\\.0\\.1$`));
    expect(ok.headers.get('contact')).toBe(`<sip:127.0.0.1:${scene.port};transport=ws>`);
    expect(uas.remote.sdp).toBe(OFFER);

    const modified = uas.modify(ANSWER);
    const again = await scene.phone.incoming();
    expect([again.method, again.uri]).toEqual(['INVITE', CONTACT]);
    expect(again.headers.get('via')).toMatch(
      new RegExp(`^SIP/2\\.0/WSS 127\\.0\\.0\\.1:${scene.port};branch=z9hG4bK[0-9a-f]{24};rport$`),
    );
    expect(again.headers.get('contact')).toBe(`<sip:127.0.0.1:${scene.port};transport=ws>`);
    scene.phone.answer(again, 200, [`Contact: <${CONTACT}>`, 'Content-Type: application/sdp'], OFFER);
    expect(await modified).toBe(OFFER);
    const ack = await scene.phone.incoming();
    expect([ack.method, ack.uri]).toEqual(['ACK', CONTACT]);

    void uas.destroy();
    const bye = await scene.phone.incoming();
    expect([bye.method, bye.uri]).toEqual(['BYE', CONTACT]);
    scene.phone.answer(bye, 200);
    await expect.poll(() => scene.stack.metrics().dialogs).toBe(0);
    expect(scene.phone.frames.filter(({ binary }) => binary)).toEqual([]);
    await nothingLeft(1);
  });

  it('is ended by the browser', async () => {
    const { uas, ok } = await established();
    const destroyed = once(uas, 'destroy');
    scene.phone.request('BYE', 2, { To: ok.headers.get('to') ?? '' });
    const [bye] = (await destroyed) as [AppRequest];
    expect(bye.source_address).toBe('127.0.0.1');
    expect(await scene.phone.status()).toBe(200);
    await nothingLeft(1);
  });

  it('is copied to the trace collector with its transport and its call', async () => {
    const { uas, ok } = await established();
    const gone = once(uas, 'destroy');
    scene.phone.request('BYE', 2, { To: ok.headers.get('to') ?? '' });
    await gone;
    expect(await scene.phone.status()).toBe(200);
    await expect.poll(() => scene.copies.length).toBe(6);
    expect(
      scene.copies.map(({ direction, transport, callId, payload }) => [
        direction,
        transport,
        callId,
        payload.toString().split(/[ \r]/, 2).join(' '),
      ]),
    ).toEqual([
      ['received', 'wss', 'call', 'INVITE sip:b@example.com'],
      ['sent', 'wss', 'call', 'SIP/2.0 100'],
      ['sent', 'wss', 'call', 'SIP/2.0 200'],
      ['received', 'wss', 'call', 'ACK sip:b@example.com'],
      ['received', 'wss', 'call', 'BYE sip:b@example.com'],
      ['sent', 'wss', 'call', 'SIP/2.0 200'],
    ]);
    expect(scene.copies[0]?.destination).toEqual({ address: '127.0.0.1', port: scene.port });
  });

  it('answers a digest challenge', async () => {
    const challenge = 'Digest realm="r", nonce="n", qop="auth"';
    const credentials = 'Digest username="x", realm="r", nonce="n", uri="sip:b@example.com", response="0"';
    const seen = new Promise<string>((resolve) => {
      scene.app.invite((request, response) => {
        if (!request.has('Proxy-Authorization')) {
          response.send(407, { headers: { 'Proxy-Authenticate': challenge } });
          return;
        }
        resolve(request.get('Proxy-Authorization'));
        response.send(486);
      });
    });
    await connectApp({ appPort: scene.appPort }, scene.app);
    for (const [cseq, status, changes] of [
      [1, 407, {}],
      [2, 486, { 'Proxy-Authorization': credentials }],
    ] as const) {
      const [, via = ''] = scene.phone.request('INVITE', cseq, changes, OFFER);
      const refusal = await scene.phone.response();
      expect(refusal.status).toBe(status);
      if (status === 407) expect(refusal.headers.get('proxy-authenticate')).toBe(challenge);
      scene.phone.request('ACK', cseq, {
        Via: via.slice('Via: '.length),
        To: refusal.headers.get('to') ?? '',
      });
    }
    expect(await seen).toBe(credentials);
    await expect.poll(() => scene.stack.metrics().server_transactions).toBe(0);
  });

  it('is canceled', async () => {
    const cancelled = new Promise<AppRequest>((resolve) => {
      scene.app.invite((request, response) => {
        request.on('cancel', resolve);
        response.send(180);
      });
    });
    await connectApp({ appPort: scene.appPort }, scene.app);
    const [, via = ''] = scene.phone.request('INVITE', 1, {}, OFFER);
    expect(await scene.phone.status()).toBe(180);
    scene.phone.request('CANCEL', 1, { Via: via.slice('Via: '.length) });
    expect([await scene.phone.status(), await scene.phone.status()]).toEqual([200, 487]);
    expect((await cancelled).method).toBe('CANCEL');
    scene.phone.request('ACK', 1, { Via: via.slice('Via: '.length) });
    await expect.poll(() => scene.stack.metrics().server_transactions).toBe(0);
    await nothingLeft(1);
  });

  it('whose connection is lost has later requests answered 503', async () => {
    const { uas } = await established();
    scene.phone.socket.terminate();
    await expect.poll(() => scene.stack.metrics().transport_inbound).toBe(0);
    const info: AppResponse = await uas.request({ method: 'INFO' });
    expect(info.status).toBe(503);
    expect(info.get('Warning')).toContain('a WebSocket client cannot be dialed');
    expect((await uas.request({ method: 'BYE' })).status).toBe(503);
    await nothingLeft(0);
  });

  it('whose connection is lost before the BYE is answered has it answered 503', async () => {
    const { uas } = await established();
    const outcome = uas.request({ method: 'BYE' });
    expect((await scene.phone.incoming()).method).toBe('BYE');
    scene.phone.socket.terminate();
    const response = await outcome;
    expect(response.status).toBe(503);
    expect(response.get('Warning')).toMatch(/127\.0\.0\.1:\d+: connection lost: /);
    await nothingLeft(0);
  });

  it('whose phone has vanished has its BYE answered 408', async () => {
    const { uas } = await established();
    const outcome = uas.request({ method: 'BYE' });
    await scene.phone.incoming();
    scene.clock.advance(32_000);
    expect((await outcome).status).toBe(408);
    await nothingLeft(1);
  });
});
