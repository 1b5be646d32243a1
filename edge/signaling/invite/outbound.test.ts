/** Outgoing calls: drachtio-srf and the embedded engine against a server whose messages the test writes. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#shared/ids.ts';
import { TestEdge } from '../../../test/kit/edge/signaling.ts';
import { echoAgent, FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeRoutes, placeAt, route } from '../../../test/kit/fakes/fake-hunt.ts';
import { sdpOffer } from '../../../test/kit/fakes/fake-leg.ts';
import { FakeMedia, fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import { releaseAll } from '../../../test/kit/fakes/release.ts';
import { SipCallee } from '../../../test/kit/fakes/sip-callee.ts';
import type { Heard } from '../../../test/kit/fakes/sip-caller.ts';
import { freeTcpPort } from '../../../test/kit/programs/ports.ts';
import { CallRefused } from '../../call/call-refused.ts';
import type { Place } from '../../call/ports/routes.ts';
import { authorization, parseChallenges } from '../srf/digest.ts';

const agents = new FakeAgents();
const media = new FakeMedia();
const routes = new FakeRoutes();
let edge: TestEdge;
let callee: SipCallee;

beforeAll(async () => {
  edge = await TestEdge.start({
    media,
    agents,
    outbound: { routes, ringTimeoutMs: 60_000 },
    noResponseMs: 5_000,
  });
});

afterAll(() => edge.stop());

beforeEach(async () => {
  agents.ready = true;
  callee = await SipCallee.listen(edge.certificate);
});

afterEach(() =>
  releaseAll(
    () => callee.close(),
    () => expect.poll(() => edge.calls.size + edge.signaling.dialogs).toBe(0),
  ),
);

const last = (callId: string) => edge.last(callId);
const history = (callId: string) => [...new Set(edge.records.get(callId)?.map(({ status }) => status))];

/** Calls over these targets, by default the callee. @returns the id of the call */
function call(places: readonly Place[] = [placeAt(callee.port)], to = '+14155550123'): string {
  routes.places = places;
  const callId = newId();
  edge.calls.place({
    callId,
    orgId: 'org',
    from: '+14155550100',
    to,
    agent: echoAgent,
    variables: { customer: '42' },
  });
  return callId;
}

const withCredentials = (): Place =>
  placeAt(callee.port, {
    route: { ...route, credentials: { username: 'acme', password: 'secret', realm: null } },
  });

/** Hangs up an answered call on our side. */
async function hangUp(callId: string, answer = true): Promise<Heard> {
  edge.calls.stop(callId);
  const bye = await callee.request('BYE');
  if (answer) callee.answer(bye, '200 OK');
  return bye;
}

const tagOf = (value = '') => /;tag=([^;]+)/.exec(value)?.[1];

describe('an outgoing call', () => {
  it('is answered, acknowledged and hung up', async () => {
    const callId = call();
    const invite = await callee.request('INVITE');
    expect(invite.startLine).toBe(`INVITE sip:+14155550123@127.0.0.1:${callee.port};transport=tls SIP/2.0`);
    expect(invite.body).toBe(fakeAnswer);
    expect(invite.headers).toMatchObject({
      to: `<sip:+14155550123@127.0.0.1:${callee.port}>`,
      'p-asserted-identity': `<sip:+14155550100@127.0.0.1:${edge.port}>`,
      contact: `<sip:127.0.0.1:${edge.port};transport=tls>`,
      'session-expires': '1800',
      'min-se': '90',
      supported: 'timer, 100rel, replaces, norefersub',
      'user-agent': 'Trunkline/test',
      'content-type': 'application/sdp',
    });
    expect(invite.headers.from).toMatch(/^<sip:\+14155550100@127\.0\.0\.1:\d+>;tag=[0-9a-f]{16}$/);
    expect(last(callId)).toMatchObject({ status: 'initiated', sip_call_id: invite.headers['call-id'] });
    callee.answer(invite, '180 Ringing');
    await expect.poll(() => last(callId)?.status).toBe('ringing');
    expect(agents.last.started).toBe(0);
    callee.answer(invite, '200 OK', { body: fakeAnswer });
    const ack = await callee.request('ACK');
    expect(ack.startLine).toBe(`ACK sip:callee@127.0.0.1:${callee.port};transport=tls SIP/2.0`);
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
    const invite = await callee.request('INVITE');
    callee.answer(invite, '200 OK', { body: fakeAnswer });
    await callee.request('ACK');
    const { from, to, 'call-id': id } = invite.headers;
    const bye = [
      'Via: SIP/2.0/TLS 127.0.0.1:5061;branch=z9hG4bKbye',
      `From: ${to};tag=callee`,
      `To: ${from}`,
    ];
    callee.send(
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
    expect((await callee.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(last(callId)).toMatchObject({
      termination: 'callee_hangup',
      hangup_by: 'peer',
      status: 'completed',
    });
  });

  it('is answered by any 2xx', async () => {
    const callId = call();
    callee.answer(await callee.request('INVITE'), '202 Accepted', { body: fakeAnswer });
    await callee.request('ACK');
    await expect.poll(() => last(callId)?.status).toBe('in-progress');
    await hangUp(callId);
  });

  it('is acknowledged and ended when a 2xx has no answer to our offer', async () => {
    const callId = call();
    callee.answer(await callee.request('INVITE'), '204 No Notification');
    await callee.request('ACK');
    callee.answer(await callee.request('BYE'), '200 OK');
    await expect.poll(() => last(callId)?.termination).toBe('bad_answer');
  });

  it('is acknowledged and ended when the 200 has no Contact', async () => {
    const callId = call();
    callee.answer(await callee.request('INVITE'), '200 OK', { body: fakeAnswer, contact: false });
    await callee.request('ACK');
    callee.answer(await callee.request('BYE'), '200 OK');
    await expect.poll(() => last(callId)?.termination).toBe('bad_answer');
  });

  it('accepts an offer before the answer, once a reliable response has answered its own', async () => {
    const callId = call();
    const invite = await callee.request('INVITE');
    callee.answer(invite, '183 Session Progress', {
      headers: ['Require: 100rel', 'RSeq: 7'],
      body: fakeAnswer,
    });
    callee.answer(await callee.request('PRACK'), '200 OK');
    const { from, to, 'call-id': id } = invite.headers;
    for (const cseq of [1, 2]) {
      callee.send(
        [
          'UPDATE sip:x SIP/2.0',
          `Via: SIP/2.0/TLS 127.0.0.1:5061;branch=z9hG4bKupdate${cseq}`,
          `From: ${to};tag=callee`,
          `To: ${from}`,
          `Call-ID: ${id}`,
          `CSeq: ${cseq} UPDATE`,
          'Max-Forwards: 70',
          `Contact: <sip:callee@127.0.0.1:${callee.port};transport=tls>`,
          'Content-Type: application/sdp',
          `Content-Length: ${sdpOffer.length}`,
          '',
          sdpOffer,
        ].join('\r\n'),
      );
      const ok = await callee.next();
      expect([ok.startLine, ok.headers.cseq, ok.body]).toEqual([
        'SIP/2.0 200 OK',
        `${cseq} UPDATE`,
        fakeAnswer,
      ]);
    }
    callee.answer(invite, '200 OK');
    await callee.request('ACK');
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
    const callId = call([placeAt(callee.port, { route: { ...route, headers } })]);
    const invite = await callee.request('INVITE');
    expect(invite.headers).toMatchObject({
      'x-customer': '42',
      'x-site': 'north Via: evil',
      'user-to-user': '3432;encoding=hex;purpose=crm',
    });
    expect(invite.headers.contact).not.toContain('evil');
    callee.answer(invite, '486 Busy Here');
    await callee.request('ACK');
    await expect.poll(() => last(callId)?.status).toBe('busy');
  });

  it('to a name connects to its address and requires a certificate for the name', async () => {
    const target = {
      host: 'trunk.example',
      address: '127.0.0.1',
      port: callee.port,
      serverName: 'trunk.example',
    };
    const callId = call([placeAt(callee.port, { target })], '4#7');
    const invite = await callee.request('INVITE');
    expect(invite.startLine).toBe(`INVITE sip:4%237@trunk.example:${callee.port};transport=tls SIP/2.0`);
    callee.answer(invite, '404 Not Found');
    await callee.request('ACK');
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
    const callId = call([placeAt(callee.port), placeAt(1)]);
    const invite = await callee.request('INVITE');
    callee.answer(invite, answer, { headers: ['Contact: <sip:elsewhere@192.0.2.1>'] });
    await callee.request('ACK');
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
    const invite = await callee.request('INVITE');
    callee.answer(invite, '180 Ringing');
    await expect.poll(() => last(callId)?.status).toBe('ringing');
    edge.calls.stop(callId);
    const cancel = await callee.request('CANCEL');
    expect(cancel.headers.reason).toMatch(/^SIP;cause=487;/);
    callee.answer(cancel, '200 OK');
    callee.answer(invite, '487 Request Terminated');
    await callee.request('ACK');
    expect(last(callId)).toMatchObject({ status: 'canceled', hangup_by: 'api', sip_code: null });
    expect(routes.last.outcomes).toEqual([{ kind: 'canceled' }]);
  });

  it('that is stopped before any response is canceled after the first one', async () => {
    const callId = call();
    const invite = await callee.request('INVITE');
    edge.calls.stop(callId);
    expect(last(callId)?.status).toBe('canceled');
    callee.answer(invite, '100 Trying', { tag: '' });
    callee.answer(await callee.request('CANCEL'), '200 OK');
    callee.answer(invite, '487 Request Terminated');
    await callee.request('ACK');
  });

  it('whose answer crosses the CANCEL is acknowledged and ended by BYE', async () => {
    const callId = call();
    const invite = await callee.request('INVITE');
    callee.answer(invite, '180 Ringing');
    await expect.poll(() => last(callId)?.status).toBe('ringing');
    edge.calls.stop(callId);
    callee.answer(await callee.request('CANCEL'), '200 OK');
    callee.answer(invite, '200 OK', { body: fakeAnswer });
    await callee.request('ACK');
    callee.answer(await callee.request('BYE'), '200 OK');
    expect(last(callId)?.status).toBe('canceled');
  });
});

describe('a challenge', () => {
  const response = (header: string | undefined) => /response="([0-9a-f]+)"/.exec(header ?? '')?.[1];
  const cnonceOf = (header: string | undefined) => /cnonce="([^"]*)"/.exec(header ?? '')?.[1] ?? '';

  /** The expected credentials. */
  function expected(
    challenge: string,
    given: string | undefined,
    method: string,
    uri: string,
  ): string | undefined {
    const [parsed] = parseChallenges(challenge);
    if (!parsed) throw new Error('no challenge');
    const credentials = { username: 'acme', password: 'secret', method, uri, body: '' };
    return response(authorization(parsed, { ...credentials, nonceCount: 1, cnonce: cnonceOf(given) }));
  }

  it('for two realms is answered for each, also in the ACK', async () => {
    const callId = call([withCredentials()]);
    const realms = (value: string | undefined) =>
      [...(value ?? '').matchAll(/realm="([^"]*)"/g)].map(([, realm]) => realm);
    callee.answer(await callee.request('INVITE'), '407 Proxy Authentication Required', {
      headers: ['near', 'far'].map((realm) => `Proxy-Authenticate: Digest realm="${realm}", nonce="n1"`),
    });
    await callee.request('ACK');
    const invite = await callee.request('INVITE');
    expect(realms(invite.headers['proxy-authorization'])).toEqual(['near', 'far']);
    callee.answer(invite, '200 OK', { body: fakeAnswer });
    expect(realms((await callee.request('ACK')).headers['proxy-authorization'])).toEqual(['near', 'far']);
    await expect.poll(() => agents.last.started).toBe(1);
    await hangUp(callId);
  });

  it.each(['SHA-256', 'MD5'])(
    'with %s is answered in a second INVITE of the same call',
    async (algorithm) => {
      const callId = call([withCredentials()]);
      const first = await callee.request('INVITE');
      const challenge = `Digest realm="trunk", nonce="n1", algorithm=${algorithm}, qop="auth", opaque="o"`;
      callee.answer(first, '407 Proxy Authentication Required', {
        headers: [`Proxy-Authenticate: ${challenge}`],
      });
      await callee.request('ACK');
      const second = await callee.request('INVITE');
      const given = second.headers['proxy-authorization'];
      const uri = second.startLine.split(' ')[1] ?? '';
      expect(response(given)).toBe(expected(challenge, given, 'INVITE', uri));
      expect(second.headers['call-id']).toBe(first.headers['call-id']);
      expect(second.headers.from).toBe(first.headers.from);
      expect(second.headers.cseq).toBe('2 INVITE');
      callee.answer(second, '200 OK', { body: fakeAnswer });
      expect((await callee.request('ACK')).headers['proxy-authorization']).toBe(given);
      await expect.poll(() => agents.last.started).toBe(1);

      const bye = await hangUp(callId, false);
      const stale = `Digest realm="trunk", nonce="n2", algorithm=${algorithm}, qop="auth"`;
      callee.answer(bye, '407 Proxy Authentication Required', { headers: [`Proxy-Authenticate: ${stale}`] });
      const again = await callee.request('BYE');
      const byeUri = again.startLine.split(' ')[1] ?? '';
      const byeAuth = again.headers['proxy-authorization'];
      expect(response(byeAuth)).toBe(expected(stale, byeAuth, 'BYE', byeUri));
      callee.answer(again, '200 OK');
    },
  );

  it('is answered by the strongest digest offered', async () => {
    call([withCredentials()]);
    const first = await callee.request('INVITE');
    callee.answer(first, '401 Unauthorized', {
      headers: [
        'WWW-Authenticate: Digest realm="trunk", nonce="n", algorithm=MD5, qop="auth"',
        'WWW-Authenticate: Digest realm="trunk", nonce="n", algorithm=SHA-256, qop="auth"',
      ],
    });
    await callee.request('ACK');
    const second = await callee.request('INVITE');
    expect(second.headers.authorization).toContain('algorithm=SHA-256');
    callee.answer(second, '404 Not Found');
    await callee.request('ACK');
  });

  it('that is repeated ends the call, as does one without credentials', async () => {
    const wrong = call([withCredentials()]);
    const challenge = { headers: ['WWW-Authenticate: Digest realm="trunk", nonce="n1", qop="auth"'] };
    for (const _ of [1, 2]) {
      callee.answer(await callee.request('INVITE'), '401 Unauthorized', challenge);
      await callee.request('ACK');
    }
    await expect.poll(() => last(wrong)?.termination).toBe('route_auth_failed');
    expect(routes.last.outcomes).toMatchObject([
      { kind: 'final', status: 401, phase: 'silent', credentialsSent: true },
    ]);
    const without = call();
    callee.answer(await callee.request('INVITE'), '401 Unauthorized', challenge);
    await callee.request('ACK');
    await expect.poll(() => last(without)?.termination).toBe('route_auth_failed');
    expect(routes.last.outcomes).toMatchObject([{ credentialsSent: false }]);
  });
});

describe('before the answer', () => {
  it('early media from a 183 is used and kept after the answer', async () => {
    const callId = call();
    const invite = await callee.request('INVITE');
    callee.answer(invite, '183 Session Progress', { body: fakeAnswer });
    await expect.poll(() => media.last.answers).toEqual([fakeAnswer]);
    expect(last(callId)).toMatchObject({ status: 'ringing', answered_at: null });
    callee.answer(invite, '200 OK', { body: fakeAnswer });
    await callee.request('ACK');
    await expect.poll(() => agents.last.started).toBe(1);
    expect(media.last.answers).toEqual([fakeAnswer]);
    await hangUp(callId);
  });

  it('each reliable response gets one PRACK, in order', async () => {
    const callId = call();
    const invite = await callee.request('INVITE');
    const reliable = (rseq: number) => ({ headers: ['Require: 100rel', `RSeq: ${rseq}`] });
    callee.answer(invite, '183 Session Progress', { ...reliable(7), body: fakeAnswer });
    const prack = await callee.request('PRACK');
    expect(prack.headers.rack).toBe('7 1 INVITE');
    callee.answer(prack, '200 OK');
    callee.answer(invite, '183 Session Progress', reliable(7));
    callee.answer(invite, '180 Ringing', reliable(9));
    callee.answer(invite, '180 Ringing', reliable(8));
    const next = await callee.request('PRACK');
    expect(next.headers.rack).toBe('8 1 INVITE');
    callee.answer(next, '200 OK');
    // RFC 3262 section 5: the answer was in the reliable response.
    callee.answer(invite, '200 OK');
    await callee.request('ACK');
    await expect.poll(() => agents.last.started).toBe(1);
    await hangUp(callId);
  });

  it('a fork other than the one with early media may answer, and gets a new offer', async () => {
    const callId = call();
    const invite = await callee.request('INVITE');
    callee.answer(invite, '183 Session Progress', { body: fakeAnswer, tag: 'a' });
    await expect.poll(() => media.last.answers).toEqual([fakeAnswer]);
    media.last.accept = () => Promise.reject(new CallRefused(488, 'The answer moves media'));
    const other = fakeAnswer.replace('10000', '20000');
    callee.answer(invite, '200 OK', { body: other, tag: 'b' });
    expect(tagOf((await callee.request('ACK')).headers.to)).toBe('b');
    const again = await callee.request('INVITE');
    expect([tagOf(again.headers.to), again.headers.cseq, again.body]).toEqual(['b', '2 INVITE', fakeAnswer]);
    expect(agents.last.started).toBe(0);
    callee.answer(again, '200 OK', { body: other });
    await callee.request('ACK');
    await expect.poll(() => agents.last.started).toBe(1);
    expect(media.last.answers).toEqual([other]);
    await hangUp(callId);
  });

  it('a 422 is followed by an INVITE with the interval that it requires', async () => {
    const callId = call();
    const first = await callee.request('INVITE');
    callee.answer(first, '422 Session Interval Too Small', { headers: ['Min-SE: 3600'] });
    await callee.request('ACK');
    const second = await callee.request('INVITE');
    expect(second.headers).toMatchObject({ 'session-expires': '3600', 'min-se': '3600', cseq: '2 INVITE' });
    callee.answer(second, '200 OK', { body: fakeAnswer });
    await callee.request('ACK');
    await hangUp(callId);
  });
});

describe('the call fails over to another target', () => {
  const dead = async () => placeAt(await freeTcpPort());

  it('when the connection is refused', async () => {
    const callId = call([
      await dead(),
      placeAt(callee.port, { endpoint: { host: 'b', port: 1, priority: 1 } }),
    ]);
    const invite = await callee.request('INVITE');
    expect(last(callId)?.failover_attempts).toMatchObject([
      { priority: 0, sip_code: null, error: expect.stringContaining('connection refused') },
    ]);
    callee.answer(invite, '200 OK', { body: fakeAnswer });
    await callee.request('ACK');
    await hangUp(callId);
    expect(routes.last.outcomes.map(({ kind }) => kind)).toEqual(['no_connection', 'final']);
  });

  it('when the certificate is for another name, which the attempt reports', async () => {
    const other = await SipCallee.listen(edge.certificate);
    const target = {
      host: 'other.example',
      address: '127.0.0.1',
      port: other.port,
      serverName: 'other.example',
    };
    const callId = call([placeAt(other.port, { target }), placeAt(callee.port)]);
    const invite = await callee.request('INVITE');
    expect(last(callId)?.failover_attempts?.[0]?.error).toMatch(/certificate.*other\.example/);
    callee.answer(invite, '486 Busy Here');
    await callee.request('ACK');
    await other.close();
  });

  it('when no response comes in time, with a new From tag and SRTP keys of its own', async () => {
    const silent = await SipCallee.listen(edge.certificate);
    const legs = media.legs.length;
    const callId = call([placeAt(silent.port), placeAt(callee.port)]);
    const first = await silent.request('INVITE');
    const second = await callee.request('INVITE');
    expect(last(callId)?.failover_attempts).toMatchObject([{ error: 'timeout' }]);
    expect(second.headers['call-id']).toBe(first.headers['call-id']);
    expect(tagOf(second.headers.from)).not.toBe(tagOf(first.headers.from));
    expect(media.legs.slice(legs).map(({ closed }) => closed)).toEqual([1, 0]);
    callee.answer(second, '200 OK', { body: fakeAnswer });
    await callee.request('ACK');
    // The first target answers too late: its call is ended.
    silent.answer(first, '200 OK', { body: fakeAnswer });
    await silent.request('ACK');
    silent.answer(await silent.request('BYE'), '200 OK');
    expect(last(callId)?.status).toBe('in-progress');
    await hangUp(callId);
    await silent.close();
  });

  it('when the connection is lost before ringing, but not after', async () => {
    const first = await SipCallee.listen(edge.certificate);
    const moved = call([placeAt(first.port), placeAt(callee.port)]);
    await first.request('INVITE');
    first.drop();
    callee.answer(await callee.request('INVITE'), '404 Not Found');
    await callee.request('ACK');
    await expect.poll(() => last(moved)?.ended_at).not.toBeNull();

    const ringing = call([placeAt(first.port), placeAt(callee.port)]);
    first.answer(await first.request('INVITE'), '180 Ringing');
    await expect.poll(() => last(ringing)?.status).toBe('ringing');
    first.drop();
    await expect.poll(() => last(ringing)?.termination).toBe('route_failed');
    expect(last(ringing)?.failover_attempts).toEqual([]);
    await first.close();
  });

  it('until none is left', async () => {
    const callId = call([await dead(), await dead()]);
    await expect.poll(() => last(callId)?.termination).toBe('route_unreachable');
    expect(last(callId)).toMatchObject({ status: 'failed', sip_code: null, hangup_by: 'error' });
    expect(last(callId)?.failover_attempts).toHaveLength(2);
    expect(last(callId)?.termination_detail).toContain('the connection was refused');
  });
});

describe('a probe', () => {
  const target = () => placeAt(callee.port).target;

  it('reports the status of the response', async () => {
    const outcome = edge.signaling.probe(target(), 5000);
    const options = await callee.request('OPTIONS');
    expect(options.startLine).toBe(`OPTIONS sip:127.0.0.1:${callee.port};transport=tls SIP/2.0`);
    callee.answer(options, '404 Not Found');
    expect(await outcome).toEqual({ sipCode: 404, responseTimeMs: expect.any(Number), error: null });
  });

  it('reports why there is none', async () => {
    const refused = await edge.signaling.probe({ ...target(), port: await freeTcpPort() }, 5000);
    expect(refused).toMatchObject({ sipCode: null, responseTimeMs: null });
    expect(refused.error).toMatch(/^Nothing listens at 127\.0\.0\.1:\d+: the connection was refused; /);
    expect(await edge.signaling.probe(target(), 100)).toEqual({
      sipCode: null,
      responseTimeMs: null,
      error: 'timeout',
    });
  });
});
