/**
 * Proves that an application written on drachtio-srf 5 runs on this engine: two engine programs, each with an
 * application, call each other over TLS.
 */
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type AppDialog, type AppRequest, type AppResponse, connectApp } from '../../test/kit/edge/engine.ts';
import { ANSWER, engineScene, OFFER } from '../../test/kit/edge/engine-calls.ts';
import { TestPeer } from '../../test/kit/edge/sip-peer.ts';

const scene = engineScene();
const { uri, connected } = scene;

describe('a call', () => {
  it('is made, and ended by the caller', async () => {
    const { uac, uas } = await connected();
    expect(uac.remote.sdp).toBe(ANSWER);
    expect(uas.remote.sdp).toBe(OFFER);
    expect(uac.sip).toEqual({
      callId: uas.sip.callId,
      localTag: uas.sip.remoteTag,
      remoteTag: uas.sip.localTag,
    });
    expect(uac.id).toBe(`${uac.sip.callId};from-tag=${uac.sip.localTag}`);
    expect(uas.id).toBe(uac.id);
    const destroyed = once(uas, 'destroy');
    const bye = await uac.destroy({ headers: { 'X-Why': 'enough' } });
    expect(bye.method).toBe('BYE');
    const [received] = (await destroyed) as [AppRequest];
    expect(received.get('X-Why')).toBe('enough');
  });
});

describe('calls between two applications', () => {
  it('are ended by the callee', async () => {
    const { uac, uas } = await connected();
    const destroyed = once(uac, 'destroy');
    await uas.destroy();
    const [bye] = (await destroyed) as [AppRequest];
    expect(bye.method).toBe('BYE');
  });

  it("carry the application's headers both ways, and our address for localhost", async () => {
    const seen = new Promise<AppRequest>((resolve) => {
      scene.callee.invite((request, response) => {
        resolve(request);
        void scene.callee.createUAS(request, response, { localSdp: ANSWER, headers: { 'x-answer': 'b' } });
      });
    });
    await connectApp(scene.far, scene.callee);
    const progress: AppRequest[] = [];
    const uac = await scene.caller.createUAC(
      uri(),
      { localSdp: OFFER, callingNumber: '+15550100', headers: { 'user-agent': 'test/1', 'X-Trace': 'a' } },
      { cbRequest: (_error, request) => void progress.push(request) },
    );
    const answer = uac.res;
    const invite = await seen;
    expect(invite.get('User-Agent')).toBe('test/1');
    expect(invite.get('X-Trace')).toBe('a');
    expect(invite.callingNumber).toBe('+15550100');
    expect(invite.get('From')).toContain(`<sip:+15550100@127.0.0.1:${scene.near.sipPort}>`);
    expect(invite.get('Contact')).toBe(`<sip:+15550100@127.0.0.1:${scene.near.sipPort};transport=tls>`);
    expect(invite.receivedOn).toBe(`127.0.0.1:${scene.far.sipPort}`);
    expect(invite.source_address).toBe('127.0.0.1');
    expect(answer.get('X-Answer')).toBe('b');
    expect(progress[0]?.source).toBe('application');
    await uac.destroy();
  });

  it('are rejected with the status and headers of the callee', async () => {
    scene.callee.invite((_request, response) => response.send(486, { headers: { 'Retry-After': '9' } }));
    await connectApp(scene.far, scene.callee);
    const refusal = await scene.caller.createUAC(uri(), { localSdp: OFFER }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 486 });
  });

  it('are canceled while ringing', async () => {
    const cancelled = new Promise<AppRequest>((resolve) => {
      scene.callee.invite((request, response) => {
        request.on('cancel', resolve);
        response.send(180);
      });
    });
    await connectApp(scene.far, scene.callee);
    let invite: AppRequest | undefined;
    const outcome = scene.caller.createUAC(
      uri(),
      { localSdp: OFFER },
      {
        cbRequest: (_error, request) => {
          invite = request;
        },
        cbProvisional: () => invite?.cancel(),
      },
    );
    await expect(outcome).rejects.toMatchObject({ status: 487 });
    expect((await cancelled).method).toBe('CANCEL');
  });

  it('have early media and a reliable provisional response', async () => {
    const pracked = new Promise<AppRequest>((resolve) => {
      scene.callee.invite((request, response) => {
        response.send(183, { body: ANSWER, headers: { Require: '100rel' } }, undefined, (prack) => {
          resolve(prack);
          void scene.callee.createUAS(request, response, { localSdp: ANSWER });
        });
      });
    });
    await connectApp(scene.far, scene.callee);
    const early: AppResponse[] = [];
    const uac = await scene.caller.createUAC(
      uri(),
      { localSdp: OFFER, headers: { Supported: '100rel' } },
      { cbProvisional: (response) => void early.push(response) },
    );
    expect(early.map((response) => [response.status, response.body])).toEqual([[183, ANSWER]]);
    const rseq = early[0]?.get('RSeq');
    expect((await pracked).get('RAck')).toMatch(new RegExp(`^${rseq} \\d+ INVITE$`));
    await uac.destroy();
  });

  it('reject a reliable provisional response to a caller that does not support it', async () => {
    const refused = new Promise<unknown>((resolve) => {
      scene.callee.invite((_request, response) => {
        response.send(183, { headers: { Require: '100rel' } }, (error) => {
          resolve(error);
          response.send(480);
        });
      });
    });
    await connectApp(scene.far, scene.callee);
    await expect(scene.caller.createUAC(uri(), { localSdp: OFFER })).rejects.toMatchObject({ status: 480 });
    expect(await refused).toBe('Remote endpoint does not support 100rel');
  });

  it('answer a digest challenge and remain one dialog', async () => {
    const attempts: AppRequest[] = [];
    scene.callee.invite((request, response) => {
      attempts.push(request);
      if (!request.has('Proxy-Authorization')) {
        response.send(407, { headers: { 'Proxy-Authenticate': 'Digest realm="r", nonce="n", qop="auth"' } });
      } else {
        void scene.callee.createUAS(request, response, { localSdp: ANSWER });
      }
    });
    await connectApp(scene.far, scene.callee);
    const uac = await scene.caller.createUAC(uri(), {
      localSdp: OFFER,
      auth: { username: 'alice', password: 'secret' },
    });
    const [first, second] = attempts;
    expect(second?.get('Call-ID')).toBe(first?.get('Call-ID'));
    expect(second?.get('From')).toBe(first?.get('From'));
    expect(Number.parseInt(second?.get('CSeq') ?? '', 10)).toBe(
      Number.parseInt(first?.get('CSeq') ?? '', 10) + 1,
    );
    expect(second?.get('Proxy-Authorization')).toContain('username="alice"');
    const bye = await uac.destroy();
    expect(Number.parseInt(bye.get('CSeq'), 10)).toBe(Number.parseInt(second?.get('CSeq') ?? '', 10) + 1);
  });

  it('are bridged by a back-to-back user agent', async () => {
    const bridged = new Promise<{ uas: AppDialog; uac: AppDialog }>((resolve) => {
      scene.callee.invite((request, response) => {
        const onward = `sip:2000@127.0.0.1:${scene.near.sipPort};transport=tls`;
        void scene.callee
          .createB2BUA(request, response, onward, {
            localSdpB: request.body,
            proxyRequestHeaders: ['X-Trace'],
            proxyResponseHeaders: ['X-Answer'],
          })
          .then(resolve);
      });
    });
    await connectApp(scene.far, scene.callee);
    const answered = new Promise<AppDialog>((resolve) => {
      scene.caller.invite((request, response) => {
        const headers = { 'X-Answer': request.get('X-Trace') };
        void scene.caller.createUAS(request, response, { localSdp: ANSWER, headers }).then(resolve);
      });
    });
    const uac = await scene.caller.createUAC(uri(), { localSdp: OFFER, headers: { 'X-Trace': 'through' } });
    const { uas: middleUas, uac: middleUac } = await bridged;
    const end = await answered;
    expect(uac.remote.sdp).toBe(ANSWER);
    expect(end.remote.sdp).toBe(OFFER);
    expect(uac.res.get('X-Answer')).toBe('through');
    middleUac.on('destroy', () => void middleUas.destroy());
    const destroyed = once(uac, 'destroy');
    await end.destroy();
    await destroyed;
  });

  it('take the answer from the ACK when the INVITE has no offer', async () => {
    const acknowledged = new Promise<AppRequest>((resolve) => {
      scene.callee.invite((request, response) => {
        void scene.callee
          .createUAS(request, response, { localSdp: ANSWER })
          .then((dialog) => dialog.on('ack', resolve));
      });
    });
    await connectApp(scene.far, scene.callee);
    const pending = await scene.caller.createUAC(uri(), { noAck: true });
    expect(pending.sdp).toBe(ANSWER);
    const dialog = await pending.ack(OFFER);
    expect((await acknowledged).body).toBe(OFFER);
    await dialog.destroy();
  });
});

describe('call records', () => {
  it('report attempt, start and stop', async () => {
    const records: string[] = [];
    for (const kind of ['attempt', 'start', 'stop']) {
      scene.callee.on(`cdr:${kind}`, (source: string, _time: string, ...rest: unknown[]) => {
        records.push([kind, source, ...rest.slice(0, -1)].join(' '));
      });
    }
    const { uac, uas } = await connected();
    const gone = once(uas, 'destroy');
    await uac.destroy();
    await gone;
    expect(records).toEqual(['attempt network', 'start application uas', 'stop network normal-release']);
  });
});

describe('a peer behind a NAT', () => {
  it('gets requests over its own connection, whatever its Contact says', async () => {
    const dialog = new Promise<AppDialog>((resolve) => {
      scene.callee.invite((request, response) => {
        void scene.callee.createUAS(request, response, { localSdp: ANSWER }).then(resolve);
      });
    });
    await connectApp(scene.far, scene.callee);
    const peer = await TestPeer.connect(scene.far.sipPort, scene.certificates.ca);
    const common = ['From: <sip:pbx@10.0.0.1>;tag=pbx', 'Call-ID: nat@10.0.0.1'];
    peer.send(
      [
        `INVITE ${uri()} SIP/2.0`,
        'Via: SIP/2.0/TLS 10.0.0.1:5061;branch=z9hG4bK-nat-1',
        ...common,
        `To: <${uri()}>`,
        'CSeq: 7 INVITE',
        'Contact: <sip:pbx@10.0.0.1:5061;transport=tls>',
        'Content-Type: application/sdp',
      ],
      OFFER,
    );
    const ok = await peer.next();
    if (ok.kind !== 'response') throw new Error('no response');
    expect(ok.status).toBe(200);
    expect(ok.headers.get('via')).toBe(
      `SIP/2.0/TLS 10.0.0.1:5061;branch=z9hG4bK-nat-1;rport=${peer.port};received=127.0.0.1`,
    );
    const to = ok.headers.get('to') ?? '';
    peer.send([
      `ACK ${uri()} SIP/2.0`,
      'Via: SIP/2.0/TLS 10.0.0.1:5061;branch=z9hG4bK-nat-2',
      ...common,
      `To: ${to}`,
      'CSeq: 7 ACK',
    ]);
    const uas = await dialog;
    void uas.destroy();
    const bye = await peer.next();
    if (bye.kind !== 'request') throw new Error('no request');
    expect([bye.method, bye.uri]).toEqual(['BYE', 'sip:pbx@10.0.0.1:5061;transport=tls']);
    expect(bye.headers.get('cseq')).toBe('8 BYE');
    expect(bye.headers.get('to')).toBe('<sip:pbx@10.0.0.1>;tag=pbx');
    peer.close();
  });
});
