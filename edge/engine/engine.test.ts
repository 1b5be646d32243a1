/**
 * Proves that an application written on drachtio-srf 5 runs on this engine: two engine programs, each with an
 * application, call each other over TLS.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type App,
  type AppDialog,
  type AppRequest,
  type AppResponse,
  connectApp,
  EngineProgram,
  leave,
  newApp,
  responseTo,
  TestCertificates,
} from '../../test/kit/edge/engine.ts';
import { TestPeer } from '../../test/kit/edge/sip-peer.ts';

const OFFER = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 4000 RTP/SAVP 0\r\na=sendrecv\r\n';
const ANSWER = 'v=0\r\no=- 2 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 5000 RTP/SAVP 0\r\na=sendrecv\r\n';

let certificates: TestCertificates;
let near: EngineProgram;
let far: EngineProgram;

beforeAll(async () => {
  certificates = new TestCertificates();
  [near, far] = await Promise.all([EngineProgram.start(certificates), EngineProgram.start(certificates)]);
});

afterAll(async () => {
  expect(await Promise.all([near.stop(), far.stop()])).toEqual([0, 0]);
  expect([...near.complaints, ...far.complaints]).toEqual([]);
  certificates.remove();
});

let caller: App;
let callee: App;

beforeEach(async () => {
  caller = await connectApp(near);
  callee = newApp();
});

afterEach(async () => {
  await Promise.all([leave(caller), leave(callee)]);
});

const uri = (user = '1000') => `sip:${user}@127.0.0.1:${far.sipPort};transport=tls`;

async function connected(): Promise<{ uac: AppDialog; uas: AppDialog }> {
  const uas = new Promise<AppDialog>((resolve) => {
    callee.invite((request, response) => {
      void callee.createUAS(request, response, { localSdp: ANSWER }).then(resolve);
    });
  });
  await connectApp(far, callee);
  const uac = await caller.createUAC(uri(), { localSdp: OFFER });
  return { uac, uas: await uas };
}

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
      callee.invite((request, response) => {
        resolve(request);
        void callee.createUAS(request, response, { localSdp: ANSWER, headers: { 'x-answer': 'b' } });
      });
    });
    await connectApp(far, callee);
    const progress: AppRequest[] = [];
    const uac = await caller.createUAC(
      uri(),
      { localSdp: OFFER, callingNumber: '+15550100', headers: { 'user-agent': 'test/1', 'X-Trace': 'a' } },
      { cbRequest: (_error, request) => void progress.push(request) },
    );
    const answer = uac.res;
    const invite = await seen;
    expect(invite.get('User-Agent')).toBe('test/1');
    expect(invite.get('X-Trace')).toBe('a');
    expect(invite.callingNumber).toBe('+15550100');
    expect(invite.get('From')).toContain(`<sip:+15550100@127.0.0.1:${near.sipPort}>`);
    expect(invite.get('Contact')).toBe(`<sip:+15550100@127.0.0.1:${near.sipPort};transport=tls>`);
    expect(invite.receivedOn).toBe(`127.0.0.1:${far.sipPort}`);
    expect(invite.source_address).toBe('127.0.0.1');
    expect(answer.get('X-Answer')).toBe('b');
    expect(progress[0]?.source).toBe('application');
    await uac.destroy();
  });

  it('are rejected with the status and headers of the callee', async () => {
    callee.invite((_request, response) => response.send(486, { headers: { 'Retry-After': '9' } }));
    await connectApp(far, callee);
    const refusal = await caller.createUAC(uri(), { localSdp: OFFER }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 486 });
  });

  it('are canceled while ringing', async () => {
    const cancelled = new Promise<AppRequest>((resolve) => {
      callee.invite((request, response) => {
        request.on('cancel', resolve);
        response.send(180);
      });
    });
    await connectApp(far, callee);
    let invite: AppRequest | undefined;
    const outcome = caller.createUAC(
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
      callee.invite((request, response) => {
        response.send(183, { body: ANSWER, headers: { Require: '100rel' } }, undefined, (prack) => {
          resolve(prack);
          void callee.createUAS(request, response, { localSdp: ANSWER });
        });
      });
    });
    await connectApp(far, callee);
    const early: AppResponse[] = [];
    const uac = await caller.createUAC(
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
      callee.invite((_request, response) => {
        response.send(183, { headers: { Require: '100rel' } }, (error) => {
          resolve(error);
          response.send(480);
        });
      });
    });
    await connectApp(far, callee);
    await expect(caller.createUAC(uri(), { localSdp: OFFER })).rejects.toMatchObject({ status: 480 });
    expect(await refused).toBe('Remote endpoint does not support 100rel');
  });

  it('answer a digest challenge and remain one dialog', async () => {
    const attempts: AppRequest[] = [];
    callee.invite((request, response) => {
      attempts.push(request);
      if (!request.has('Proxy-Authorization')) {
        response.send(407, { headers: { 'Proxy-Authenticate': 'Digest realm="r", nonce="n", qop="auth"' } });
      } else {
        void callee.createUAS(request, response, { localSdp: ANSWER });
      }
    });
    await connectApp(far, callee);
    const uac = await caller.createUAC(uri(), {
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
      callee.invite((request, response) => {
        const onward = `sip:2000@127.0.0.1:${near.sipPort};transport=tls`;
        void callee
          .createB2BUA(request, response, onward, {
            localSdpB: request.body,
            proxyRequestHeaders: ['X-Trace'],
            proxyResponseHeaders: ['X-Answer'],
          })
          .then(resolve);
      });
    });
    await connectApp(far, callee);
    const answered = new Promise<AppDialog>((resolve) => {
      caller.invite((request, response) => {
        const headers = { 'X-Answer': request.get('X-Trace') };
        void caller.createUAS(request, response, { localSdp: ANSWER, headers }).then(resolve);
      });
    });
    const uac = await caller.createUAC(uri(), { localSdp: OFFER, headers: { 'X-Trace': 'through' } });
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
      callee.invite((request, response) => {
        void callee
          .createUAS(request, response, { localSdp: ANSWER })
          .then((dialog) => dialog.on('ack', resolve));
      });
    });
    await connectApp(far, callee);
    const pending = await caller.createUAC(uri(), { noAck: true });
    expect(pending.sdp).toBe(ANSWER);
    const dialog = await pending.ack(OFFER);
    expect((await acknowledged).body).toBe(OFFER);
    await dialog.destroy();
  });
});

describe('in a dialog', () => {
  it.each(['caller', 'callee'] as const)('the %s changes the session', async (who) => {
    const { uac, uas } = await connected();
    const [changes, changed] = who === 'caller' ? [uac, uas] : [uas, uac];
    changed.on('modify', (request: AppRequest, response: AppResponse) => {
      response.send(200, { body: request.body.replace('o=- 1', 'o=- 9') });
    });
    const acknowledged = once(changed, 'ack');
    expect(await changes.modify(OFFER)).toBe(OFFER.replace('o=- 1', 'o=- 9'));
    await acknowledged;
    await uac.destroy();
  });

  it('a call is put on hold', async () => {
    const { uac, uas } = await connected();
    const modified = new Promise<string>((resolve) => {
      uas.on('modify', (request: AppRequest, response: AppResponse) => {
        resolve(request.body);
        response.send(200, { body: ANSWER });
      });
    });
    await uac.modify('hold');
    expect(await modified).toContain('a=inactive');
    await uac.destroy();
  });

  it.each(['INFO', 'UPDATE', 'NOTIFY', 'REFER', 'MESSAGE', 'OPTIONS'])(
    '%s works both ways',
    async (method) => {
      const { uac, uas } = await connected();
      for (const [from, to] of [
        [uac, uas],
        [uas, uac],
      ] as const) {
        to.once(method.toLowerCase(), (request: AppRequest, response: AppResponse) => {
          response.send(202, { headers: { 'X-Echo': `${request.get('X-Say')} ${request.body ?? ''}` } });
        });
        const response = await from.request({
          method,
          headers: {
            'X-Say': 'hello',
            'Content-Type': 'text/plain',
            'Refer-To': '<sip:x@y>',
            Event: 'refer',
          },
          body: 'body',
        });
        expect([response.status, response.get('X-Echo')]).toEqual([202, 'hello body']);
      }
      await uac.destroy();
    },
  );

  it('when the far end no longer knows the dialog, the application learns of it', async () => {
    const { uac, uas } = await connected();
    const gone = once(uac, 'destroy');
    await uas.destroy();
    await gone;
    await expect(uac.request({ method: 'INFO' })).rejects.toMatchObject({ code: 'ENODIALOG' });
  });

  it('a subscription is made, notified and ended', async () => {
    const subscribed = new Promise<AppDialog>((resolve) => {
      callee.subscribe((request, response) => {
        void callee.createUAS(request, response, { headers: { Expires: '60' } }).then(resolve);
      });
    });
    await connectApp(far, callee);
    const subscriber = await caller.createUAC(uri('1000'), {
      method: 'SUBSCRIBE',
      headers: { To: `<${uri()}>`, From: '<sip:1000@localhost>', Event: 'presence', Expires: '60' },
    });
    const notifier = await subscribed;
    const notified = once(subscriber, 'notify');
    const sent = notifier.request({
      method: 'NOTIFY',
      headers: { Event: 'presence', 'Subscription-State': 'active' },
    });
    const [notify, answer] = (await notified) as [AppRequest, AppResponse];
    expect(notify.get('Subscription-State')).toBe('active');
    answer.send(200);
    expect((await sent).status).toBe(200);
    const ended = once(subscriber, 'destroy');
    await notifier.destroy();
    await ended;
  });
});

describe('outside dialogs', () => {
  it('OPTIONS and MESSAGE are answered by the application', async () => {
    callee.options((_request, response) => response.send(200, { headers: { Allow: 'INVITE' } }));
    callee.use('message', (request, response) =>
      response.send(202, { body: request.body, headers: { 'Content-Type': 'text/plain' } }),
    );
    await connectApp(far, callee);
    const options = await responseTo(caller, uri(), { method: 'OPTIONS' });
    expect([options.status, options.get('Allow')]).toEqual([200, 'INVITE']);
    const message = await responseTo(caller, uri(), {
      method: 'MESSAGE',
      headers: { 'Content-Type': 'text/plain' },
      body: 'grüße',
    });
    expect([message.status, message.body]).toEqual([202, 'grüße']);
  });

  it('a request that no application routes gets 503', async () => {
    expect((await responseTo(caller, uri(), { method: 'OPTIONS' })).status).toBe(503);
    await expect(caller.createUAC(uri(), { localSdp: OFFER })).rejects.toMatchObject({ status: 503 });
  });

  it('requests are distributed round robin among the applications that route them', async () => {
    const second = newApp();
    const answers: string[] = [];
    for (const [name, app] of [['first', callee] as const, ['second', second] as const]) {
      app.options((_request, response) => {
        answers.push(name);
        response.send(200);
      });
      await connectApp(far, app);
    }
    for (let i = 0; i < 4; i++) await responseTo(caller, uri(), { method: 'OPTIONS' });
    expect(answers.toSorted()).toEqual(['first', 'first', 'second', 'second']);
    await leave(second);
  });

  it('a bad request from the application is rejected with the reason', async () => {
    await expect(
      responseTo(caller, 'sip:x@127.0.0.1:5060;transport=udp', { method: 'OPTIONS' }),
    ).rejects.toThrow('requested protocol/transport not available');
    const self = `sip:x@127.0.0.1:${near.sipPort}`;
    await expect(responseTo(caller, self, { method: 'OPTIONS' })).rejects.toThrow(
      'can not send request to myself',
    );
    await expect(responseTo(caller, uri(), { method: 'MESSAGE', body: 'x' })).rejects.toThrow(
      'missing content-type',
    );
  });

  it('a refused connection gives a 503 that names the cause', async () => {
    const response = await responseTo(caller, 'sip:x@127.0.0.1:1;transport=tls', { method: 'OPTIONS' });
    expect(response.status).toBe(503);
    expect(response.get('Warning')).toMatch(/^399 \S+ "127\.0\.0\.1:1: .*refused/i);
  });

  it('a certificate from an unknown authority gives a 503 that names the cause', async () => {
    const stranger = new TestCertificates();
    const server = createServer({ cert: readFileSync(stranger.cert), key: readFileSync(stranger.key) });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const response = await responseTo(caller, `sips:x@127.0.0.1:${port}`, { method: 'OPTIONS' });
    expect(response.status).toBe(503);
    expect(response.get('Warning')).toMatch(/certificate/);
    server.close();
    stranger.remove();
  });
});

describe('applications that disconnect', () => {
  it('end their calls with a BYE; a new application takes new calls', async () => {
    const { uac } = await connected();
    const ended = once(uac, 'destroy');
    await leave(callee);
    const [bye]: AppRequest[] = await ended;
    expect(bye?.get('Reason')).toBe('SIP;cause=200;text="application disconnected"');
    await expect(uac.request({ method: 'INFO' })).rejects.toMatchObject({ code: 'ENODIALOG' });
    callee = newApp();
    const again = await connected();
    await again.uac.destroy();
  });

  it('have their ringing callers answered 503', async () => {
    callee.invite((_request, response) => response.send(180, {}, () => void leave(callee)));
    await connectApp(far, callee);
    await expect(caller.createUAC(uri(), { localSdp: OFFER })).rejects.toMatchObject({ status: 503 });
  });

  it('have their outgoing ringing calls canceled', async () => {
    const cancelled = new Promise<AppRequest>((resolve) => {
      callee.invite((request, response) => {
        request.on('cancel', resolve);
        response.send(180);
      });
    });
    await connectApp(far, callee);
    caller.createUAC(uri(), { localSdp: OFFER }, { cbProvisional: () => void leave(caller) }).catch(() => {});
    expect((await cancelled).method).toBe('CANCEL');
    caller = await connectApp(near);
  });
});

describe('call records', () => {
  it('report attempt, start and stop', async () => {
    const records: string[] = [];
    for (const kind of ['attempt', 'start', 'stop']) {
      callee.on(`cdr:${kind}`, (source: string, _time: string, ...rest: unknown[]) => {
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
      callee.invite((request, response) => {
        void callee.createUAS(request, response, { localSdp: ANSWER }).then(resolve);
      });
    });
    await connectApp(far, callee);
    const peer = await TestPeer.connect(far.sipPort, certificates.ca);
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
