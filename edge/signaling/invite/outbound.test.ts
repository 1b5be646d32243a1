/** Outgoing calls: drachtio-srf and the embedded engine against a server whose messages the test writes. */
import { describe, expect, it } from 'vitest';
import { outboundScene, tagOf } from '../../../test/kit/edge/outbound-calls.ts';
import { hopAt, route } from '../../../test/kit/fakes/fake-hunt.ts';
import { sdpOffer } from '../../../test/kit/fakes/fake-leg.ts';
import { fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import { CallRefused } from '../../call/refused.ts';

const scene = outboundScene();
const { agents, media, routes, last, call, hangUp } = scene;

const history = (callId: string) => [...new Set(scene.edge.records.get(callId)?.map(({ status }) => status))];

describe('an outgoing call', () => {
  it('is answered, acknowledged and hung up', async () => {
    const callId = call();
    const invite = await scene.callee.request('INVITE');
    expect(invite.startLine).toBe(
      `INVITE sip:+14155550123@127.0.0.1:${scene.callee.port};transport=tls SIP/2.0`,
    );
    expect(invite.body).toBe(fakeAnswer);
    expect(invite.headers).toMatchObject({
      to: `<sip:+14155550123@127.0.0.1:${scene.callee.port}>`,
      'p-asserted-identity': `<sip:+14155550100@127.0.0.1:${scene.edge.port}>`,
      contact: `<sip:127.0.0.1:${scene.edge.port};transport=tls>`,
      'session-expires': '1800',
      'min-se': '90',
      supported: 'timer, 100rel, replaces, norefersub',
      'user-agent': 'Trunkline/test',
      'content-type': 'application/sdp',
    });
    expect(invite.headers.from).toMatch(/^<sip:\+14155550100@127\.0\.0\.1:\d+>;tag=[0-9a-f]{16}$/);
    expect(last(callId)).toMatchObject({ status: 'initiated', sip_call_id: invite.headers['call-id'] });
    scene.callee.answer(invite, '180 Ringing');
    await expect.poll(() => last(callId)?.status).toBe('ringing');
    expect(agents.last.started).toBe(0);
    scene.callee.answer(invite, '200 OK', { body: fakeAnswer });
    const ack = await scene.callee.request('ACK');
    expect(ack.startLine).toBe(`ACK sip:callee@127.0.0.1:${scene.callee.port};transport=tls SIP/2.0`);
    await expect.poll(() => agents.last.started).toBe(1);
    expect(media.last.answers).toEqual([fakeAnswer]);
    const bye = await hangUp(callId);
    expect(bye.headers.reason).toBe('SIP;cause=200;text="The call was stopped through the API."');
    expect(history(callId)).toEqual(['queued', 'initiated', 'ringing', 'in-progress', 'completed']);
    expect(last(callId)).toMatchObject({
      direction: 'outbound',
      trunk_id: 'trunk-1',
      number: '+14155550100',
      source_ip: '127.0.0.1',
      sip_code: 200,
      hangup_by: 'api',
      failover_attempts: [],
    });
  });

  it('is hung up by the callee', async () => {
    const callId = call();
    const invite = await scene.callee.request('INVITE');
    scene.callee.answer(invite, '200 OK', { body: fakeAnswer });
    await scene.callee.request('ACK');
    const { from, to, 'call-id': id } = invite.headers;
    const bye = [
      'Via: SIP/2.0/TLS 127.0.0.1:5061;branch=z9hG4bKbye',
      `From: ${to};tag=callee`,
      `To: ${from}`,
    ];
    scene.callee.send(
      [
        'BYE sip:x SIP/2.0',
        ...bye,
        `Call-ID: ${id}`,
        'CSeq: 1 BYE',
        'Max-Forwards: 70',
        'Content-Length: 0',
        '',
        '',
      ].join('\r\n'),
    );
    expect((await scene.callee.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(last(callId)).toMatchObject({
      termination: 'callee_hangup',
      hangup_by: 'peer',
      status: 'completed',
    });
  });

  it('is answered by any 2xx', async () => {
    const callId = call();
    scene.callee.answer(await scene.callee.request('INVITE'), '202 Accepted', { body: fakeAnswer });
    await scene.callee.request('ACK');
    await expect.poll(() => last(callId)?.status).toBe('in-progress');
    await hangUp(callId);
  });

  it('is acknowledged and ended when a 2xx has no answer to our offer', async () => {
    const callId = call();
    scene.callee.answer(await scene.callee.request('INVITE'), '204 No Notification');
    await scene.callee.request('ACK');
    scene.callee.answer(await scene.callee.request('BYE'), '200 OK');
    await expect.poll(() => last(callId)?.termination).toBe('bad_answer');
  });

  it('is acknowledged and ended when the 200 has no Contact', async () => {
    const callId = call();
    scene.callee.answer(await scene.callee.request('INVITE'), '200 OK', { body: fakeAnswer, contact: false });
    await scene.callee.request('ACK');
    scene.callee.answer(await scene.callee.request('BYE'), '200 OK');
    await expect.poll(() => last(callId)?.termination).toBe('bad_answer');
  });

  it('accepts an offer before the answer, once a reliable response has answered its own', async () => {
    const callId = call();
    const invite = await scene.callee.request('INVITE');
    scene.callee.answer(invite, '183 Session Progress', {
      headers: ['Require: 100rel', 'RSeq: 7'],
      body: fakeAnswer,
    });
    scene.callee.answer(await scene.callee.request('PRACK'), '200 OK');
    const { from, to, 'call-id': id } = invite.headers;
    for (const cseq of [1, 2]) {
      scene.callee.send(
        [
          'UPDATE sip:x SIP/2.0',
          `Via: SIP/2.0/TLS 127.0.0.1:5061;branch=z9hG4bKupdate${cseq}`,
          `From: ${to};tag=callee`,
          `To: ${from}`,
          `Call-ID: ${id}`,
          `CSeq: ${cseq} UPDATE`,
          'Max-Forwards: 70',
          `Contact: <sip:callee@127.0.0.1:${scene.callee.port};transport=tls>`,
          'Content-Type: application/sdp',
          `Content-Length: ${sdpOffer.length}`,
          '',
          sdpOffer,
        ].join('\r\n'),
      );
      const ok = await scene.callee.next();
      expect([ok.startLine, ok.headers.cseq, ok.body]).toEqual([
        'SIP/2.0 200 OK',
        `${cseq} UPDATE`,
        fakeAnswer,
      ]);
    }
    scene.callee.answer(invite, '200 OK');
    await scene.callee.request('ACK');
    await expect.poll(() => last(callId)?.status).toBe('in-progress');
    await hangUp(callId);
  });

  it('sends the headers that its configuration maps', async () => {
    const headers = [
      { type: 'custom', key: 'customer', value: 'X-Customer' },
      { type: 'custom', key: 'X-Site', value: 'north\r\nVia: evil', passthrough: true },
      { type: 'custom', key: 'Contact', value: '<sip:evil@x>', passthrough: true },
      { type: 'uui', target: 'u', purpose: 'crm', encoding: 'hex', content: 'customer' },
    ] as const;
    const callId = call([hopAt(scene.callee.port, { route: { ...route, headers } })]);
    const invite = await scene.callee.request('INVITE');
    expect(invite.headers).toMatchObject({
      'x-customer': '42',
      'x-site': 'north Via: evil',
      'user-to-user': '3432;encoding=hex;purpose=crm',
    });
    expect(invite.headers.contact).not.toContain('evil');
    scene.callee.answer(invite, '486 Busy Here');
    await scene.callee.request('ACK');
    await expect.poll(() => last(callId)?.status).toBe('busy');
  });

  it('to a name connects to its address and requires a certificate for the name', async () => {
    const target = {
      host: 'trunk.example',
      address: '127.0.0.1',
      port: scene.callee.port,
      serverName: 'trunk.example',
    };
    const callId = call([hopAt(scene.callee.port, { target })], '4#7');
    const invite = await scene.callee.request('INVITE');
    expect(invite.startLine).toBe(
      `INVITE sip:4%237@trunk.example:${scene.callee.port};transport=tls SIP/2.0`,
    );
    scene.callee.answer(invite, '404 Not Found');
    await scene.callee.request('ACK');
    await expect.poll(() => last(callId)?.termination).toBe('callee_unknown');
  });

  it.each([
    ['486 Busy Here', 'busy', 'callee_busy'],
    ['600 Busy Everywhere', 'busy', 'callee_busy'],
    ['480 Temporarily Unavailable', 'no-answer', 'no_answer'],
    ['603 Decline', 'failed', 'callee_refused'],
    ['302 Moved Temporarily', 'failed', 'route_refused'],
    ['488 Not Acceptable Here', 'failed', 'route_media_refused'],
  ])('that gets %s is %s and tries no other target', async (answer, status, termination) => {
    const callId = call([hopAt(scene.callee.port), hopAt(1)]);
    const invite = await scene.callee.request('INVITE');
    scene.callee.answer(invite, answer, { headers: ['Contact: <sip:elsewhere@192.0.2.1>'] });
    await scene.callee.request('ACK');
    await expect.poll(() => last(callId)?.ended_at).not.toBeNull();
    expect(last(callId)).toMatchObject({
      status,
      termination,
      sip_code: Number(answer.slice(0, 3)),
      sip_reason: answer.slice(4),
      failover_attempts: [],
    });
  });

  it('that is stopped while ringing is canceled', async () => {
    const callId = call();
    const invite = await scene.callee.request('INVITE');
    scene.callee.answer(invite, '180 Ringing');
    await expect.poll(() => last(callId)?.status).toBe('ringing');
    scene.edge.calls.stop(callId);
    const cancel = await scene.callee.request('CANCEL');
    expect(cancel.headers.reason).toMatch(/^SIP;cause=487;/);
    scene.callee.answer(cancel, '200 OK');
    scene.callee.answer(invite, '487 Request Terminated');
    await scene.callee.request('ACK');
    expect(last(callId)).toMatchObject({ status: 'canceled', hangup_by: 'api', sip_code: null });
    expect(routes.last.outcomes).toEqual([{ kind: 'canceled' }]);
  });

  it('that is stopped before any response is canceled after the first one', async () => {
    const callId = call();
    const invite = await scene.callee.request('INVITE');
    scene.edge.calls.stop(callId);
    expect(last(callId)?.status).toBe('canceled');
    scene.callee.answer(invite, '100 Trying', { tag: '' });
    scene.callee.answer(await scene.callee.request('CANCEL'), '200 OK');
    scene.callee.answer(invite, '487 Request Terminated');
    await scene.callee.request('ACK');
  });

  it('whose answer crosses the CANCEL is acknowledged and ended by BYE', async () => {
    const callId = call();
    const invite = await scene.callee.request('INVITE');
    scene.callee.answer(invite, '180 Ringing');
    await expect.poll(() => last(callId)?.status).toBe('ringing');
    scene.edge.calls.stop(callId);
    scene.callee.answer(await scene.callee.request('CANCEL'), '200 OK');
    scene.callee.answer(invite, '200 OK', { body: fakeAnswer });
    await scene.callee.request('ACK');
    scene.callee.answer(await scene.callee.request('BYE'), '200 OK');
    expect(last(callId)?.status).toBe('canceled');
  });
});

describe('before the answer', () => {
  it('early media from a 183 is used and kept after the answer', async () => {
    const callId = call();
    const invite = await scene.callee.request('INVITE');
    scene.callee.answer(invite, '183 Session Progress', { body: fakeAnswer });
    await expect.poll(() => media.last.answers).toEqual([fakeAnswer]);
    expect(last(callId)).toMatchObject({ status: 'ringing', answered_at: null });
    scene.callee.answer(invite, '200 OK', { body: fakeAnswer });
    await scene.callee.request('ACK');
    await expect.poll(() => agents.last.started).toBe(1);
    expect(media.last.answers).toEqual([fakeAnswer]);
    await hangUp(callId);
  });

  it('each reliable response gets one PRACK, in order', async () => {
    const callId = call();
    const invite = await scene.callee.request('INVITE');
    const reliable = (rseq: number) => ({ headers: ['Require: 100rel', `RSeq: ${rseq}`] });
    scene.callee.answer(invite, '183 Session Progress', { ...reliable(7), body: fakeAnswer });
    const prack = await scene.callee.request('PRACK');
    expect(prack.headers.rack).toBe('7 1 INVITE');
    scene.callee.answer(prack, '200 OK');
    scene.callee.answer(invite, '183 Session Progress', reliable(7));
    scene.callee.answer(invite, '180 Ringing', reliable(9));
    scene.callee.answer(invite, '180 Ringing', reliable(8));
    const next = await scene.callee.request('PRACK');
    expect(next.headers.rack).toBe('8 1 INVITE');
    scene.callee.answer(next, '200 OK');
    // RFC 3262 section 5: the answer was in the reliable response.
    scene.callee.answer(invite, '200 OK');
    await scene.callee.request('ACK');
    await expect.poll(() => agents.last.started).toBe(1);
    await hangUp(callId);
  });

  it('the PRACK of each fork is in its early dialog', async () => {
    const callId = call();
    const invite = await scene.callee.request('INVITE');
    const reliable = (tag: string) => ({ headers: ['Require: 100rel', 'RSeq: 1'], tag, body: fakeAnswer });
    // At once, as behind a proxy that rings several phones.
    for (const tag of ['a', 'b']) scene.callee.answer(invite, '183 Session Progress', reliable(tag));
    for (const tag of ['a', 'b']) {
      const prack = await scene.callee.request('PRACK');
      expect([tagOf(prack.headers.to), prack.headers.rack]).toEqual([tag, '1 1 INVITE']);
      scene.callee.answer(prack, '200 OK');
    }
    scene.callee.answer(invite, '200 OK', { tag: 'a' });
    await scene.callee.request('ACK');
    await expect.poll(() => agents.last.started).toBe(1);
    await hangUp(callId);
  });

  it('a fork other than the one with early media may answer, and gets a new offer', async () => {
    const callId = call();
    const invite = await scene.callee.request('INVITE');
    scene.callee.answer(invite, '183 Session Progress', { body: fakeAnswer, tag: 'a' });
    await expect.poll(() => media.last.answers).toEqual([fakeAnswer]);
    media.last.accept = () => Promise.reject(new CallRefused(488, 'The answer moves media'));
    const other = fakeAnswer.replace('10000', '20000');
    scene.callee.answer(invite, '200 OK', { body: other, tag: 'b' });
    expect(tagOf((await scene.callee.request('ACK')).headers.to)).toBe('b');
    const again = await scene.callee.request('INVITE');
    expect([tagOf(again.headers.to), again.headers.cseq, again.body]).toEqual(['b', '2 INVITE', fakeAnswer]);
    expect(agents.last.started).toBe(0);
    scene.callee.answer(again, '200 OK', { body: other });
    await scene.callee.request('ACK');
    await expect.poll(() => agents.last.started).toBe(1);
    expect(media.last.answers).toEqual([other]);
    await hangUp(callId);
  });

  it('a 422 is followed by an INVITE with the interval that it requires', async () => {
    const callId = call();
    const first = await scene.callee.request('INVITE');
    scene.callee.answer(first, '422 Session Interval Too Small', { headers: ['Min-SE: 3600'] });
    await scene.callee.request('ACK');
    const second = await scene.callee.request('INVITE');
    expect(second.headers).toMatchObject({ 'session-expires': '3600', 'min-se': '3600', cseq: '2 INVITE' });
    scene.callee.answer(second, '200 OK', { body: fakeAnswer });
    await scene.callee.request('ACK');
    await hangUp(callId);
  });
});
