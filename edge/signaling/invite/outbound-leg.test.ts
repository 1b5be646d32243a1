import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { connectionFailure } from '#shared/connection-faults.ts';
import { endTexts } from '#shared/engine-protocol/ends.ts';
import { writeFailure } from '#shared/engine-protocol/failures.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import { DrachtioServer, type Sent } from '../../../test/kit/fakes/drachtio-server.ts';
import { FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeMedia, fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { releaseAll } from '../../../test/kit/fakes/release.ts';
import { CallRefused } from '../../call/call-refused.ts';
import { Calls } from '../../call/calls.ts';
import type { DialEvents, OutboundInvite, OutboundLeg } from '../../call/ports/dialing.ts';
import { Signaling } from '../signaling.ts';

const target = { host: 'trunk.example', address: '192.0.2.1', port: 5061, serverName: 'trunk.example' };
const invitation: OutboundInvite = {
  sipCallId: 'call-1@edge',
  from: '+14155550100',
  to: '+14155550123',
  offer: fakeAnswer,
  headers: [],
  variables: {},
  credentials: null,
};

let server: DrachtioServer;
let clock: FakeClock;
let signaling: Signaling;
let heard: string[];
let leg: OutboundLeg;

/** Records the leg's events. */
const events: DialEvents = {
  progress: (status, sdp) => heard.push(`${status}${sdp === null ? '' : ' with SDP'}`),
  answered: (sdp) => heard.push(sdp === null ? 'answered' : 'answered with SDP'),
  refused: ({ status, warning, retryAfterS }) => heard.push(`refused ${status} ${warning} ${retryAfterS}`),
  unreachable: ({ fault, text }) => heard.push(`unreachable (${fault}): ${text}`),
  timeout: () => heard.push('timeout'),
  bye: () => heard.push('bye'),
  lost: (code) => heard.push(`lost: ${code}`),
  reanswer: async (offer) => {
    if (!offer.includes('a=crypto')) throw new CallRefused(488, 'no SRTP');
    return fakeAnswer;
  },
  reoffer: async () => fakeAnswer,
  reaccept: async (answer) => void heard.push(answer === fakeAnswer ? 'new answer' : `new answer ${answer}`),
  referred: () => {},
  replacedBy: () => {},
};

beforeEach(async () => {
  server = await DrachtioServer.listen();
  clock = new FakeClock();
  heard = [];
  const log = new QuietLog();
  const up = Promise.withResolvers<void>();
  signaling = new Signaling({
    clock,
    log,
    calls: new Calls({
      clock,
      log,
      media: new FakeMedia(),
      agents: new FakeAgents(),
      newId: () => 'id',
      maxCalls: 1,
      settings: { ringAfterMs: 0, prepareTimeoutMs: 0, mediaTimeoutMs: 0 },
      reporter: { report: () => {} },
    }),
    publicAddress: 'edge.example:5061',
    software: 'Trunkline/test',
    session: { expiresS: 1800, minS: 90 },
    strangers: { tries: 3, windowS: 60, blockS: 600, maxSources: 100 },
    refused: () => {},
    random: () => 0,
    engineUp: () => up.resolve(),
  });
  signaling.connect({ host: '127.0.0.1', port: server.port, secret: 'cymru' });
  await up.promise;
});

afterEach(() =>
  releaseAll(
    () => signaling.close(),
    () => server.close(),
  ),
);

/** Resolves when the leg has handled everything that the server has written so far. */
const idle = () => server.idle();

async function dial(changes: Partial<OutboundInvite> = {}): Promise<Sent> {
  leg = signaling.dial(target, { ...invitation, ...changes }, events);
  return server.next();
}

async function up(headers: Record<string, string> = {}): Promise<Sent> {
  const invite = await dial();
  server.answer(invite, 200, 'OK', {
    headers: { Contact: '<sip:them@192.0.2.1>', 'Content-Type': 'application/sdp', ...headers },
    body: fakeAnswer,
  });
  expect((await server.next()).startLine).toMatch(/^ACK /);
  expect(heard).toEqual(['answered with SDP']);
  return invite;
}

/** A request from the peer in the dialog of `invite`. */
function peer(invite: Sent, method: string, body = '', headers: Record<string, string> = {}): void {
  const { dialogId } = invite;
  server.peer({ method, callId: invitation.sipCallId, toTag: 'x', dialogId, body, headers });
}

describe('an outgoing INVITE', () => {
  it('reports the custom headers that it lacks, once for all its attempts', async () => {
    const told: unknown[] = [];
    const headers = [
      { type: 'custom' as const, key: 'crm', value: 'X-Crm-Id' },
      { type: 'custom' as const, key: 'plan', value: 'X-Plan' },
    ];
    const credentials = { username: 'u', password: 'p', realm: null };
    const invite = { ...invitation, headers, variables: { plan: 'gold' }, credentials };
    leg = signaling.dial(target, invite, { ...events, headersLeftOut: (some) => told.push(...some) });
    const first = await server.next();
    expect(first.headers).toMatchObject({ 'x-plan': 'gold' });
    const challenge = { 'WWW-Authenticate': 'Digest realm="r", nonce="n", qop="auth"' };
    server.answer(first, 401, 'Unauthorized', { headers: challenge });
    expect((await server.next()).startLine).toMatch(/^INVITE /);
    expect(told).toEqual([{ name: 'X-Crm-Id', why: 'the variable crm has no value' }]);
  });

  it('uses the domain as Request-URI and the address as next hop', async () => {
    const invite = await dial({ to: 'sip:anna.b@pbx.example;user=phone' });
    expect(invite.startLine).toBe('INVITE sip:anna.b@trunk.example:5061;transport=tls SIP/2.0');
    expect(invite.proxy).toBe('sip:192.0.2.1:5061;transport=tls');
    expect(invite.headers).toMatchObject({
      to: '<sip:anna.b@trunk.example:5061>',
      contact: '<sip:edge.example:5061;transport=tls>',
      'p-asserted-identity': '<sip:+14155550100@edge.example>',
    });
  });

  it('asserts no identity to a foreign host (RFC 3325)', async () => {
    leg = signaling.dial({ ...target, foreign: true }, invitation, events);
    const { headers } = await server.next();
    expect(headers.from).toMatch(/^<sip:\+14155550100@edge\.example>;tag=/);
    expect(headers).not.toHaveProperty('p-asserted-identity');
  });

  it('without any response in 6 s times out and is canceled', async () => {
    const invite = await dial();
    await idle();
    clock.advance(5_999);
    expect(heard).toEqual([]);
    clock.advance(1);
    expect(heard).toEqual(['timeout']);
    const cancel = await server.next();
    expect(cancel.startLine).toMatch(/^CANCEL /);
    expect(cancel.transactionId).toBe(invite.transactionId);
    server.answer(invite, 487, 'Request Terminated');
    await idle();
    expect(heard).toEqual(['timeout']);
    expect(signaling.dialogs).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('with a 100 in time does not time out', async () => {
    const invite = await dial();
    server.answer(invite, 100, 'Trying');
    await idle();
    clock.advance(60_000);
    expect(heard).toEqual(['100']);
    leg.cancel('enough');
    expect((await server.next()).startLine).toMatch(/^CANCEL /);
    server.answer(invite, 487, 'Request Terminated');
    await idle();
    expect(heard).toEqual(['100']);
    expect(signaling.dialogs).toBe(0);
  });

  it('that is canceled before it is sent is never sent', async () => {
    leg = signaling.dial(target, invitation, events);
    leg.cancel('never mind');
    await new Promise((resolve) => setImmediate(resolve));
    await idle();
    expect(server.sent).toEqual([]);
    expect(signaling.dialogs).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('that is canceled while it is repeated is canceled once, as soon as the engine has the repetition', async () => {
    const first = await dial({ credentials: { username: 'u', password: 'p', realm: null } });
    const challenge = { 'WWW-Authenticate': 'Digest realm="r", nonce="n", qop="auth"' };
    server.answer(first, 401, 'Unauthorized', { headers: challenge });
    const second = await server.next();
    expect(second.startLine).toMatch(/^INVITE /);
    leg.cancel('enough');
    const cancel = await server.next();
    expect(cancel.startLine).toMatch(/^CANCEL /);
    expect(cancel.transactionId).toBe(second.transactionId);
    server.answer(second, 487, 'Request Terminated');
    await idle();
    expect(server.sent.filter(({ startLine }) => startLine.startsWith('CANCEL'))).toHaveLength(1);
    expect(heard).toEqual([]);
    expect(signaling.dialogs).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('reports a rejection with its details', async () => {
    const invite = await dial();
    server.answer(invite, 503, 'Service Unavailable', {
      headers: { 'Retry-After': '30 (maintenance)', Warning: '399 sbc "down for \\"repair\\""' },
    });
    await idle();
    expect(heard).toEqual(['refused 503 down for "repair" 30']);
    expect(signaling.dialogs).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('does not treat a response made by the engine as one from the peer', async () => {
    const first = await dial();
    const text = '192.0.2.1:5061: connection refused';
    const headers = {
      Warning: `399 edge "${text}"`,
      [privateHeaders.failure]: writeFailure(connectionFailure('refused', text)),
    };
    server.answer(first, 503, 'Service Unavailable', { address: '', headers });
    const second = await dial();
    server.answer(second, 408, 'Request Timeout', { address: '' });
    await idle();
    expect(heard).toEqual(['unreachable (refused): 192.0.2.1:5061: connection refused', 'timeout']);
  });

  it("that the engine rejects reports the engine's reason", async () => {
    server.refuse = () => 'requested protocol/transport not available';
    await dial();
    await idle();
    expect(heard).toEqual(['unreachable (unknown): requested protocol/transport not available']);
    expect(clock.pending).toBe(0);
  });

  it('without an engine reports the loss of the engine, after dial() has returned', async () => {
    server.drop();
    await expect.poll(() => signaling.up).toBe(false);
    leg = signaling.dial(target, invitation, events);
    expect(heard).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(['lost: engine_lost']);
    expect(signaling.dialogs).toBe(0);
  });

  it('is forgotten when the engine is lost', async () => {
    await dial();
    server.drop();
    await expect.poll(() => signaling.dialogs).toBe(0);
    leg.cancel('too late');
    expect(heard).toEqual([]);
  });

  it('uses the session interval of a 422, a limited number of times', async () => {
    const answer = (sent: Sent, minS: number) =>
      server.answer(sent, 422, 'Session Interval Too Small', { headers: { 'Min-SE': String(minS) } });
    answer(await dial(), 2000);
    for (const minS of [2100, 2200, 2300]) {
      const again = await server.next();
      expect(again.headers['session-expires']).toBe(String(minS - 100));
      answer(again, minS);
    }
    await idle();
    expect(heard).toEqual(['refused 422 null null']);
  });
});

describe('an answer from the callee', () => {
  it('may be any 2xx (RFC 3261 section 13.2.2.4)', async () => {
    const invite = await dial();
    server.answer(invite, 202, 'Accepted', {
      headers: { Contact: '<sip:them@192.0.2.1>', 'Content-Type': 'application/sdp' },
      body: fakeAnswer,
    });
    expect((await server.next()).startLine).toMatch(/^ACK /);
    expect(heard).toEqual(['answered with SDP']);
  });

  it('that is a 2xx other than 200 is a bad answer if the engine creates no dialog for it', async () => {
    const invite = await dial();
    server.refuse = ({ startLine }) =>
      startLine.startsWith('ACK ') ? 'unable to find dialog for dialog id provided' : null;
    server.answer(invite, 202, 'Accepted', {
      headers: { 'Content-Type': 'application/sdp' },
      body: fakeAnswer,
    });
    await server.next();
    await idle();
    expect(heard).toEqual(['answered with SDP', 'lost: bad_answer']);
  });

  it('without Contact is a bad answer, which the engine ends', async () => {
    const invite = await up();
    const { dialogId } = invite;
    server.peer({
      method: 'BYE',
      callId: invitation.sipCallId,
      toTag: 'x',
      dialogId,
      source: 'application',
      headers: {
        Reason: `SIP;cause=200;text="${endTexts.no_contact}"`,
        [privateHeaders.end]: 'no_contact',
      },
    });
    await idle();
    expect(heard).toEqual(['answered with SDP', 'lost: bad_answer']);
  });
});

describe('a probe', () => {
  it('waits for an engine that is not connected yet', async () => {
    server.drop();
    await expect.poll(() => signaling.up).toBe(false);
    const outcome = signaling.probe(target, 5_000);
    clock.advance(200);
    const options = await server.next();
    expect(options.startLine).toBe('OPTIONS sip:trunk.example:5061;transport=tls SIP/2.0');
    clock.advance(40);
    server.answer(options, 200, 'OK');
    expect(await outcome).toEqual({ sipCode: 200, responseTimeMs: 40, error: null });
    expect(clock.pending).toBe(0);
  });

  it('reports that there is no engine when none connects in time', async () => {
    server.drop();
    await expect.poll(() => signaling.up).toBe(false);
    const outcome = signaling.probe(target, 100);
    clock.advance(100);
    expect(await outcome).toMatchObject({ sipCode: null, error: 'the SIP engine is not connected' });
  });
});

describe('the early dialog', () => {
  const reliable = (rseq: number) => ({
    headers: { Require: '100rel', RSeq: String(rseq), 'Content-Type': 'application/sdp' },
    body: fakeAnswer,
  });

  it('accepts an offer in UPDATE once a reliable response has answered ours (RFC 3311 section 5.1)', async () => {
    const invite = await dial();
    server.answer(invite, 183, 'Session Progress', reliable(5));
    expect((await server.next()).startLine).toMatch(/^PRACK /);
    for (const cseq of [2, 3]) {
      server.peer({
        method: 'UPDATE',
        callId: 'call-1@edge',
        toTag: 'x',
        dialogId: invite.dialogId,
        cseq,
        body: fakeAnswer,
      });
      const ok = await server.next();
      expect([ok.startLine, ok.body]).toEqual(['SIP/2.0 200 OK', fakeAnswer]);
    }
    peer(invite, 'UPDATE', 'v=0\r\n');
    expect((await server.next()).startLine).toMatch(/^SIP\/2\.0 488 /);
    // The first answer repeated in the 200 changes nothing (RFC 3261 section 13.2.1).
    server.answer(invite, 200, 'OK', { headers: { 'Content-Type': 'application/sdp' }, body: fakeAnswer });
    expect((await server.next()).startLine).toMatch(/^ACK /);
    expect(heard).toEqual(['183 with SDP', 'answered']);
  });

  it('of an INVITE that is repeated is that of the repetition', async () => {
    const first = await dial({ credentials: { username: 'u', password: 'p', realm: null } });
    const other = { ...reliable(5).headers, To: '<sip:them@x>;tag=other' };
    server.answer(first, 183, 'Session Progress', { ...reliable(5), headers: other });
    expect((await server.next()).startLine).toMatch(/^PRACK /);
    const challenge = { 'WWW-Authenticate': 'Digest realm="r", nonce="n", qop="auth"' };
    server.answer(first, 401, 'Unauthorized', { headers: challenge });
    const second = await server.next();
    expect(second.startLine).toMatch(/^INVITE /);
    server.answer(second, 183, 'Session Progress', reliable(5));
    expect((await server.next()).startLine).toMatch(/^PRACK /);
    peer(second, 'UPDATE', fakeAnswer);
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
  });

  it('uses the answer in the 200 when there was no offer since the reliable response', async () => {
    const invite = await dial();
    server.answer(invite, 183, 'Session Progress', reliable(5));
    await server.next();
    server.answer(invite, 200, 'OK', { headers: { 'Content-Type': 'application/sdp' }, body: fakeAnswer });
    await server.next();
    expect(heard).toEqual(['183 with SDP', 'answered with SDP']);
  });

  it('accepts no offer from another fork than the one that has answered', async () => {
    const invite = await dial();
    server.answer(invite, 183, 'Session Progress', {
      ...reliable(5),
      headers: { ...reliable(5).headers, To: '<sip:them@x>;tag=other' },
    });
    await server.next();
    peer(invite, 'UPDATE', fakeAnswer);
    expect((await server.next()).startLine).toBe('SIP/2.0 500 Server Internal Error');
    peer(invite, 'UPDATE');
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
  });

  it('rejects an offer in UPDATE that would cross ours (RFC 3311 section 5.2)', async () => {
    const invite = await dial();
    server.answer(invite, 180, 'Ringing');
    peer(invite, 'UPDATE', fakeAnswer);
    expect((await server.next()).startLine).toBe('SIP/2.0 500 Server Internal Error');
  });

  it('is not ended by a BYE from the callee (RFC 3261 section 15)', async () => {
    const invite = await dial();
    server.answer(invite, 180, 'Ringing');
    peer(invite, 'BYE');
    expect((await server.next()).startLine).toMatch(/^SIP\/2\.0 481 /);
    expect(heard).toEqual(['180']);
  });
});

describe('the session of an outgoing call', () => {
  it('is refreshed at half its interval when we are the refresher', async () => {
    await up({ 'Session-Expires': '600;refresher=uac', Allow: 'INVITE, UPDATE' });
    clock.advance(300_000);
    const update = await server.next();
    expect(update.startLine).toMatch(/^UPDATE /);
    expect(update.headers['session-expires']).toBe('600;refresher=uac');
    server.answer(update, 200, 'OK', { headers: { 'Session-Expires': '600;refresher=uac' } });
    await idle();
    clock.advance(300_000);
    expect((await server.next()).startLine).toMatch(/^UPDATE /);
  });

  it.each([['0'], ['-1'], ['1 (soon)']])(
    'is refreshed at most once a second when the callee answers 500 with Retry-After: %s',
    async (pause) => {
      await up({ 'Session-Expires': '600;refresher=uac', Allow: 'INVITE, UPDATE' });
      clock.advance(300_000);
      for (let round = 0; round < 3; round++) {
        const update = await server.next();
        server.answer(update, 500, 'Server Internal Error', { headers: { 'Retry-After': pause } });
        await idle();
        const before = server.sent.length;
        clock.advance(999);
        await idle();
        expect(server.sent).toHaveLength(before);
        clock.advance(1);
      }
      expect((await server.next()).startLine).toMatch(/^UPDATE /);
      expect(heard).toEqual(['answered with SDP']);
    },
  );

  it('expires when the callee wants no refresh before its end', async () => {
    await up({ 'Session-Expires': '600;refresher=uac', Allow: 'INVITE, UPDATE' });
    clock.advance(300_000);
    const headers = { 'Retry-After': '99999999' };
    server.answer(await server.next(), 503, 'Service Unavailable', { headers });
    await idle();
    const before = server.sent.length;
    clock.advance(267_999);
    await idle();
    expect(server.sent).toHaveLength(before);
    expect(heard).toEqual(['answered with SDP']);
    clock.advance(1);
    expect(heard).toEqual(['answered with SDP', 'lost: session_expired']);
  });

  it('is refreshed with the interval of a 422, a limited number of times', async () => {
    await up({ 'Session-Expires': '600;refresher=uac', Allow: 'INVITE, UPDATE' });
    clock.advance(300_000);
    for (const minS of [601, 602, 603, 604]) {
      const update = await nextRequest('UPDATE');
      expect(update.headers['session-expires']).toBe(`${minS - 1};refresher=uac`);
      server.answer(update, 422, 'Session Interval Too Small', { headers: { 'Min-SE': String(minS) } });
      await idle();
      clock.advance(0);
    }
    await idle();
    expect(server.sent.filter(({ startLine }) => startLine.startsWith('UPDATE '))).toHaveLength(4);
    clock.advance(267_999);
    expect(heard).toEqual(['answered with SDP']);
    clock.advance(1);
    expect(heard).toEqual(['answered with SDP', 'lost: session_expired']);
  });

  it.each([
    ['999999999;refresher=uac', 86_400],
    ['99999999999999999999;refresher=uac', 86_400],
    ['5000000;refresher=uac', 86_400],
    ['1;refresher=uac', 90],
    ['0;refresher=uac', 90],
  ])('works with an interval of %s', async (expires, refreshedS) => {
    await up({ 'Session-Expires': expires, Allow: 'INVITE, UPDATE' });
    clock.advance(refreshedS * 500 - 1);
    await idle();
    expect(server.sent.at(-1)?.startLine).toMatch(/^ACK /);
    clock.advance(1);
    expect((await server.next()).headers['session-expires']).toBe(`${refreshedS};refresher=uac`);
    expect(heard).toEqual(['answered with SDP']);
  });

  it('is lost when the callee must refresh it and does not', async () => {
    await up({ 'Session-Expires': '600;refresher=uas' });
    clock.advance(567_999);
    expect(heard).toEqual(['answered with SDP']);
    clock.advance(1);
    expect(heard).toEqual(['answered with SDP', 'lost: session_expired']);
  });

  it('does not expire when the callee names no interval', async () => {
    await up();
    expect(clock.pending).toBe(0);
  });

  it('accepts a re-INVITE from the callee, and rejects an unacceptable one', async () => {
    const invite = await up();
    peer(invite, 'INVITE', fakeAnswer);
    const ok = await server.next();
    expect([ok.startLine, ok.body]).toEqual(['SIP/2.0 200 OK', fakeAnswer]);
    peer(invite, 'ACK');
    peer(invite, 'INVITE', 'v=0\r\n');
    expect((await server.next()).startLine).toMatch(/^SIP\/2\.0 488 /);
  });

  it('is renegotiated by re-INVITE, retried at least 2.1 s after a collision', async () => {
    await up({ Allow: 'INVITE, UPDATE' });
    leg.renegotiate();
    const first = await server.next();
    expect([first.startLine.split(' ')[0], first.body]).toEqual(['INVITE', fakeAnswer]);
    server.answer(first, 491, 'Request Pending');
    await idle();
    clock.advance(2_099);
    await idle();
    expect(server.sent.filter(({ startLine }) => startLine.startsWith('INVITE '))).toHaveLength(2);
    clock.advance(1);
    const second = await nextRequest('INVITE');
    server.answer(second, 200, 'OK', { headers: { 'Content-Type': 'application/sdp' }, body: fakeAnswer });
    await nextRequest('ACK');
    await expect.poll(() => heard).toEqual(['answered with SDP', 'new answer']);
  });

  it('takes the answer to a new offer from a multipart body', async () => {
    await up();
    leg.renegotiate();
    server.answer(await server.next(), 200, 'OK', {
      headers: { 'Content-Type': 'multipart/mixed;boundary=b' },
      body: `--b\r\nContent-Type: application/isup\r\n\r\nx\r\n--b\r\nContent-Type: application/sdp\r\n\r\n${fakeAnswer}\r\n--b--\r\n`,
    });
    await nextRequest('ACK');
    await expect.poll(() => heard).toEqual(['answered with SDP', 'new answer']);
  });

  it('is lost when a new offer gets no answer', async () => {
    await up();
    leg.renegotiate();
    server.answer(await server.next(), 200, 'OK');
    await nextRequest('ACK');
    await expect.poll(() => heard).toEqual(['answered with SDP', 'lost: bad_answer']);
  });

  it('is lost when a new offer is rejected', async () => {
    await up();
    leg.renegotiate();
    server.answer(await server.next(), 488, 'Not Acceptable Here');
    await idle();
    expect(heard).toEqual(['answered with SDP', 'lost: bad_answer']);
  });

  it('ends with a BYE from the callee, which is reported before its 200', async () => {
    const invite = await up();
    peer(invite, 'BYE');
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(heard).toEqual(['answered with SDP', 'bye']);
    expect(signaling.dialogs).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('ends with our BYE, sent once', async () => {
    await up();
    leg.bye('all said');
    leg.bye('again');
    const bye = await server.next();
    expect(bye.headers).toMatchObject({ reason: 'SIP;cause=200;text="all said"' });
    server.answer(bye, 200, 'OK');
    await idle();
    expect(signaling.dialogs).toBe(0);
    expect(heard).toEqual(['answered with SDP']);
  });

  it('rejects unknown methods', async () => {
    const invite = await up();
    peer(invite, 'INFO');
    expect((await server.next()).startLine).toMatch(/^SIP\/2\.0 405 /);
    peer(invite, 'OPTIONS');
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
  });
});

/** The next request with that method from the leg; ACKs of failures may precede it. */
async function nextRequest(method: string): Promise<Sent> {
  for (;;) {
    const sent = await server.next();
    if (sent.startLine.startsWith(`${method} `)) return sent;
  }
}
