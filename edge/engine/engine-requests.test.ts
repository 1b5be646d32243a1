/** Requests between two engine programs, inside dialogs and outside, and applications that disconnect. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import { describe, expect, it } from 'vitest';
import {
  type AppDialog,
  type AppRequest,
  type AppResponse,
  connectApp,
  leave,
  newApp,
  responseTo,
  TestCertificates,
} from '../../test/kit/edge/engine.ts';
import { ANSWER, engineScene, OFFER } from '../../test/kit/edge/engine-calls.ts';

const scene = engineScene();
const { uri, connected } = scene;

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
      scene.callee.subscribe((request, response) => {
        void scene.callee.createUAS(request, response, { headers: { Expires: '60' } }).then(resolve);
      });
    });
    await connectApp(scene.far, scene.callee);
    const subscriber = await scene.caller.createUAC(uri('1000'), {
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
    scene.callee.options((_request, response) => response.send(200, { headers: { Allow: 'INVITE' } }));
    scene.callee.use('message', (request, response) =>
      response.send(202, { body: request.body, headers: { 'Content-Type': 'text/plain' } }),
    );
    await connectApp(scene.far, scene.callee);
    const options = await responseTo(scene.caller, uri(), { method: 'OPTIONS' });
    expect([options.status, options.get('Allow')]).toEqual([200, 'INVITE']);
    const message = await responseTo(scene.caller, uri(), {
      method: 'MESSAGE',
      headers: { 'Content-Type': 'text/plain' },
      body: 'grüße',
    });
    expect([message.status, message.body]).toEqual([202, 'grüße']);
  });

  it('a request that no application routes gets 503', async () => {
    expect((await responseTo(scene.caller, uri(), { method: 'OPTIONS' })).status).toBe(503);
    await expect(scene.caller.createUAC(uri(), { localSdp: OFFER })).rejects.toMatchObject({ status: 503 });
  });

  it('requests are distributed round robin among the applications that route them', async () => {
    const second = newApp();
    const answers: string[] = [];
    for (const [name, app] of [['first', scene.callee] as const, ['second', second] as const]) {
      app.options((_request, response) => {
        answers.push(name);
        response.send(200);
      });
      await connectApp(scene.far, app);
    }
    for (let i = 0; i < 4; i++) await responseTo(scene.caller, uri(), { method: 'OPTIONS' });
    expect(answers.toSorted()).toEqual(['first', 'first', 'second', 'second']);
    await leave(second);
  });

  it('a bad request from the application is rejected with the reason', async () => {
    await expect(
      responseTo(scene.caller, 'sip:x@127.0.0.1:5060;transport=udp', { method: 'OPTIONS' }),
    ).rejects.toThrow('requested protocol/transport not available');
    const self = `sip:x@127.0.0.1:${scene.near.sipPort}`;
    await expect(responseTo(scene.caller, self, { method: 'OPTIONS' })).rejects.toThrow(
      'can not send request to myself',
    );
    await expect(responseTo(scene.caller, uri(), { method: 'MESSAGE', body: 'x' })).rejects.toThrow(
      'missing content-type',
    );
  });

  it('a refused connection gives a 503 that names the cause', async () => {
    const response = await responseTo(scene.caller, 'sip:x@127.0.0.1:1;transport=tls', { method: 'OPTIONS' });
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
    const response = await responseTo(scene.caller, `sips:x@127.0.0.1:${port}`, { method: 'OPTIONS' });
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
    await leave(scene.callee);
    const [bye]: AppRequest[] = await ended;
    expect(bye?.get('Reason')).toBe('SIP;cause=200;text="application disconnected"');
    await expect(uac.request({ method: 'INFO' })).rejects.toMatchObject({ code: 'ENODIALOG' });
    scene.callee = newApp();
    const again = await connected();
    await again.uac.destroy();
  });

  it('have their ringing callers answered 503', async () => {
    scene.callee.invite((_request, response) => response.send(180, {}, () => void leave(scene.callee)));
    await connectApp(scene.far, scene.callee);
    await expect(scene.caller.createUAC(uri(), { localSdp: OFFER })).rejects.toMatchObject({ status: 503 });
  });

  it('have their outgoing ringing calls canceled', async () => {
    const cancelled = new Promise<AppRequest>((resolve) => {
      scene.callee.invite((request, response) => {
        request.on('cancel', resolve);
        response.send(180);
      });
    });
    await connectApp(scene.far, scene.callee);
    scene.caller
      .createUAC(uri(), { localSdp: OFFER }, { cbProvisional: () => void leave(scene.caller) })
      .catch(() => {});
    expect((await cancelled).method).toBe('CANCEL');
    scene.caller = await connectApp(scene.near);
  });
});
