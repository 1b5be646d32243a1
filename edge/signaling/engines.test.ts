/**
 * What signaling does on every engine (test/kit/edge/engines.ts); media and agents are fake, the clock too.
 * Long because all of it shares one engine of each kind.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { type Ability, type Bench, engines, type RunningEngine } from '../../test/kit/edge/engines.ts';
import { echoAgent, FakeAgents } from '../../test/kit/fakes/fake-agents.ts';
import { sdpOffer } from '../../test/kit/fakes/fake-leg.ts';
import { FakeMedia, fakeAnswer } from '../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';
import { type Heard, SipCaller, sipRequest, toTagOf } from '../../test/kit/fakes/sip-caller.ts';
import { Calls } from '../call/calls.ts';
import { Signaling } from './signaling.ts';

/** The final response to a request. A 2xx is repeated until its ACK arrives (RFC 3261 section 13.3.1.4). */
async function finalTo(peer: SipCaller, callId: string, cseq: string): Promise<Heard | null> {
  for (;;) {
    const heard = await peer.final();
    if (!heard || (heard.headers['call-id'] === callId && heard.headers.cseq === cseq)) return heard;
  }
}

const patience = { timeout: 60_000 };

describe.each(engines)('on $name', (kind) => {
  let engine: RunningEngine | null = null;
  let bench: Bench;
  let clock: FakeClock;
  let media: FakeMedia;
  let agents: FakeAgents;
  let calls: Calls;
  let signaling: Signaling;
  let records: CallRecord[];

  beforeAll(async () => {
    engine = await kind.start();
  });
  afterAll(() => engine?.stop());

  beforeEach(async () => {
    if (!engine) throw new Error('the engine was not started');
    bench = await engine.bench();
    clock = new FakeClock(Date.UTC(2030, 0, 1));
    media = new FakeMedia();
    agents = new FakeAgents();
    // For this test alone: calls of the previous test end while it closes.
    const ownRecords: CallRecord[] = [];
    records = ownRecords;
    let id = 0;
    calls = new Calls({
      clock,
      media,
      agents,
      log: new QuietLog(),
      newId: () => `id-${++id}`,
      maxCalls: 100,
      settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 0 },
      reporter: { report: (body) => void (body.type === 'call' && ownRecords.push(body.call)) },
    });
    const up = Promise.withResolvers<void>();
    signaling = new Signaling({
      clock,
      log: new QuietLog(),
      calls,
      publicAddress: 'edge.example:5061',
      software: 'Trunkline/test',
      session: { expiresS: 1800, minS: 90 },
      strangers: { tries: 2, windowS: 60, blockS: 600, maxSources: 10 },
      refused: () => {},
      random: () => 0.5,
      engineUp: () => up.resolve(),
    });
    const headers = [{ type: 'custom', key: 'X-Crm', value: 'crm' } as const];
    const source = { auth_mode: 'ip', allowed_ips: [bench.peerAddress], source_host: null } as const;
    signaling.configure({
      version: 1,
      organizations: [],
      numbers: [
        {
          number: '+14155550100',
          org_id: 'org-1',
          inbound: [
            { id: 'trunk-1', ...source, allowed_ips: [...source.allowed_ips], headers, codecs: ['PCMU'] },
          ],
          outbound: [],
          agent: { ...echoAgent, max_duration: 720 },
        },
      ],
      pathways: [],
      allowed_private_targets: [],
      open_inbound: false,
    });
    signaling.connect(bench.app);
    await up.promise;
    await bench.served();
  });

  afterEach(() =>
    releaseAll(
      () => signaling.close(),
      () => bench.close(),
    ),
  );

  const invite = { method: 'INVITE', body: sdpOffer };
  const last = () => records.at(-1);
  const lastOf = (sipCallId: string) => records.findLast((record) => record.sip_call_id === sipCallId);

  /** Skips the test on an engine that lacks an ability, with the reason in the table. */
  function needs(ability: Ability, { skip }: TestContext): void {
    const why = kind.lacks[ability];
    if (why !== undefined) skip(why);
  }

  /** An answered call, with the ACK. @returns its 200 */
  async function answered(headers: Record<string, string> = {}) {
    bench.peer({ ...invite, headers });
    const ok = await bench.next();
    expect(ok.startLine).toBe('SIP/2.0 200 OK');
    bench.peer({ method: 'ACK', toTag: 't' });
    await bench.idle();
    return ok;
  }

  async function caller(from?: string): Promise<SipCaller> {
    const tls = engine?.tls;
    if (!tls) throw new Error('the engine has no connections');
    return SipCaller.connect(tls.port, tls.ca, from);
  }

  describe('an inbound call', () => {
    it('is answered with our SDP, Contact and capabilities', async () => {
      const ok = await answered({ 'X-Crm': '17', 'X-Other': 'x' });
      expect(ok.body).toBe(fakeAnswer);
      expect(ok.headers).toMatchObject({
        contact: '<sip:edge.example:5061;transport=tls>',
        'content-type': 'application/sdp',
        allow: 'INVITE, ACK, BYE, CANCEL, OPTIONS, REFER, NOTIFY, PRACK, UPDATE, INFO',
        supported: 'timer, 100rel, replaces, norefersub',
        server: 'Trunkline/test',
      });
      expect(last()).toMatchObject({
        status: 'in-progress',
        from: '+14155550123',
        to: '+14155550100',
        trunk_id: 'trunk-1',
        source_ip: bench.peerAddress,
        sip_call_id: expect.stringMatching(/^call-1@peer/),
        variables: { crm: '17', 'sip_header_x-other': 'x' },
      });
      expect(agents.last.started).toBe(1);
    });

    it('ends with BYE when the agent hangs up', async () => {
      await answered();
      agents.last.host.hangup('done');
      const bye = await bench.next();
      expect(bye.startLine).toMatch(/^BYE /);
      expect(bye.dialogId).toBe('call-1@peer;from-tag=peer-tag');
      expect(bye.headers).toMatchObject({
        reason: 'SIP;cause=200;text="done"',
        'user-agent': 'Trunkline/test',
      });
      expect(signaling.dialogs).toBe(1);
      bench.answer(bye, 200, 'OK');
      await expect.poll(() => signaling.dialogs, patience).toBe(0);
      expect(records.filter((record) => record.ended_at !== null)).toHaveLength(1);
    });

    it('takes a BYE that crosses ours', async () => {
      await answered();
      agents.last.host.hangup('done');
      const bye = await bench.next();
      bench.peer({ method: 'BYE', toTag: 't' });
      expect((await bench.next()).startLine).toBe('SIP/2.0 200 OK');
      bench.answer(bye, 200, 'OK');
      await expect.poll(() => signaling.dialogs, patience).toBe(0);
      expect(records.filter((record) => record.ended_at !== null)).toHaveLength(1);
    });

    it('is canceled before the answer', async () => {
      agents.ready = false;
      bench.peer(invite);
      await bench.idle();
      bench.cancel();
      await bench.idle();
      expect(last()).toMatchObject({ termination: 'caller_canceled', status: 'canceled', sip_code: 487 });
      expect(calls.size).toBe(0);
    });

    it('rings reliably only when the caller requires it', async () => {
      agents.ready = false;
      bench.peer({ ...invite, callId: 'a', headers: { Supported: '100rel' } });
      await bench.idle();
      clock.advance(200);
      const plain = await bench.next();
      expect([plain.startLine, plain.headers.require]).toEqual(['SIP/2.0 180 Ringing', undefined]);
      bench.peer({ ...invite, callId: 'b', headers: { Require: '100rel' } });
      await bench.idle();
      clock.advance(200);
      const reliable = await bench.next();
      expect([reliable.startLine, reliable.headers.require]).toEqual(['SIP/2.0 180 Ringing', '100rel']);
      const headers = { RAck: `${reliable.headers.rseq ?? 1} 1 INVITE` };
      bench.peer({ method: 'PRACK', callId: 'b', toTag: 't', headers });
      expect((await bench.next()).startLine).toBe('SIP/2.0 200 OK');
    });

    it('is ended by a BYE in its early dialog', async () => {
      agents.ready = false;
      bench.peer(invite);
      await bench.idle();
      clock.advance(200);
      await bench.next();
      bench.peer({ method: 'BYE', toTag: 't' });
      expect((await bench.next()).headers.cseq).toMatch(/ BYE$/);
      expect((await bench.next()).startLine).toBe('SIP/2.0 487 Request Terminated');
      expect(last()?.termination).toBe('caller_canceled');
    });

    it('offers in its 200 when the INVITE did not, and takes the answer from the ACK', async () => {
      bench.peer({ method: 'INVITE' });
      expect((await bench.next()).body).toBe(fakeAnswer);
      bench.peer({ method: 'ACK', toTag: 't', body: sdpOffer });
      await bench.idle();
      expect(media.last.answers).toEqual([sdpOffer]);
      expect(agents.last.started).toBe(1);
    });
  });

  describe('a request in a dialog', () => {
    const hold = `${sdpOffer}a=sendonly\r\n`;

    it('puts the call on hold and resumes it by re-INVITE', async () => {
      await answered();
      bench.peer({ ...invite, toTag: 't', body: hold });
      const held = await bench.next();
      expect(held.startLine).toBe('SIP/2.0 200 OK');
      expect(held.body).toContain('a=recvonly');
      expect(calls.find('id-1')?.state).toBe('held');
      bench.peer({ method: 'ACK', toTag: 't' });
      bench.peer({ ...invite, toTag: 't' });
      await bench.next();
      expect(calls.find('id-1')?.state).toBe('up');
    });

    it('is rejected with 488 and a Warning when its offer is bad, and the session continues', async () => {
      await answered();
      bench.peer({ ...invite, toTag: 't', body: 'v=0\r\n' });
      const refusal = await bench.next();
      expect(refusal.startLine).toBe('SIP/2.0 488 Not Acceptable Here');
      expect(refusal.headers.warning).toBe(
        '399 edge.example:5061 "SRTP with AES_CM_128_HMAC_SHA1_80 is required"',
      );
      expect(calls.find('id-1')?.state).toBe('up');
    });

    it('gets our offer when it is a re-INVITE without one', async () => {
      await answered();
      bench.peer({ method: 'INVITE', toTag: 't' });
      expect((await bench.next()).body).toBe(fakeAnswer);
      bench.peer({ method: 'UPDATE', toTag: 't', body: sdpOffer });
      expect((await bench.next()).startLine).toBe('SIP/2.0 491 Request Pending');
      bench.peer({ method: 'ACK', toTag: 't', body: 'v=0\r\n' });
      await bench.idle();
      expect(last()?.termination).toBe('bad_answer');
      expect((await bench.next()).startLine).toMatch(/^BYE /);
    });

    it.each<[string, Record<string, string>, string]>([
      ['REFER', {}, 'SIP/2.0 400 Missing Refer-To'],
      ['NOTIFY', {}, 'SIP/2.0 481 Subscription does not exist'],
      ['INFO', {}, 'SIP/2.0 200 OK'],
      ['INFO', { 'Info-Package': 'dtmf' }, 'SIP/2.0 415 Unsupported Media Type'],
      ['PUBLISH', {}, 'SIP/2.0 405 Method Not Allowed'],
      ['OPTIONS', {}, 'SIP/2.0 200 OK'],
      ['UPDATE', {}, 'SIP/2.0 200 OK'],
      ['UPDATE', { Require: 'foo' }, 'SIP/2.0 420 Bad Extension'],
      ['UPDATE', { Supported: 'timer', 'Session-Expires': '30' }, 'SIP/2.0 422 Session Interval Too Small'],
    ])('%s with %o gets %s', async (method, headers, startLine) => {
      await answered();
      bench.peer({ method, toTag: 't', headers });
      expect((await bench.next()).startLine).toBe(startLine);
      expect(calls.size).toBe(1);
    });

    it('reports a key in INFO, and names what it takes to another body', async () => {
      await answered();
      const info = (type: string, body: string) => {
        bench.peer({ method: 'INFO', toTag: 't', headers: { 'Content-Type': type }, body });
        return bench.next();
      };
      expect((await info('application/dtmf-relay', 'Signal=5\r\nDuration=160\r\n')).startLine).toMatch(
        / 200 /,
      );
      expect((await info('application/dtmf', '#')).startLine).toMatch(/ 200 /);
      expect(agents.last.keys).toEqual(['5', '#']);
      const other = await info('application/media_control+xml', '<media_control/>');
      expect(other.startLine).toBe('SIP/2.0 415 Unsupported Media Type');
      expect(other.headers.accept).toBe('application/dtmf-relay, application/dtmf');
      const malformed = await info('application/dtmf-relay', 'Signal=hello\r\n');
      expect(malformed.startLine).toBe('SIP/2.0 400 Malformed Key Press');
      expect(malformed.headers.warning).toContain('Signal must be one of');
      expect(calls.size).toBe(1);
    });

    it('ends the call by BYE, whose headers are variables like those of the INVITE', async () => {
      await answered({ 'X-Crm': '17', 'X-Other': 'x' });
      bench.peer({ method: 'BYE', toTag: 't', headers: { 'X-Crm': '18', 'X-Survey': '5\tstars' } });
      expect((await bench.next()).startLine).toBe('SIP/2.0 200 OK');
      expect(last()?.variables).toMatchObject({
        crm: '18',
        'sip_header_x-other': 'x',
        'sip_header_x-survey': '5 stars',
      });
    });

    it('ends by our BYE with the headers and cause that the agent asked for', async () => {
      await answered();
      agents.last.host.hangup('sold', { q850: 16, headers: { 'X-Disposition': 'sold; 2 items' } });
      const bye = await bench.next();
      expect(bye.headers).toMatchObject({
        reason: 'SIP;cause=200;text="sold", Q.850;cause=16',
        'x-disposition': 'sold; 2 items',
      });
      bench.answer(bye, 200, 'OK');
    });

    it('gets 481 when there is no such dialog', async () => {
      bench.peer({ method: 'BYE', toTag: 'unknown' });
      expect((await bench.next()).startLine).toMatch(/^SIP\/2.0 481/);
    });
  });

  describe('a call over TLS', () => {
    it('whose ACK and BYE arrive in one TLS record is always completed', async (context) => {
      needs('connections', context);
      const ada = await caller();
      for (let round = 0; round < 50; round++) {
        const callId = `quick-${round}`;
        ada.send(sipRequest('INVITE', { callId, body: sdpOffer }));
        const toTag = toTagOf(await finalTo(ada, callId, '1 INVITE'));
        ada.send(sipRequest('ACK', { callId, toTag }), sipRequest('BYE', { callId, toTag, cseq: 2 }));
        expect((await finalTo(ada, callId, '2 BYE'))?.startLine).toBe('SIP/2.0 200 OK');
        expect(lastOf(callId)).toMatchObject({ termination: 'caller_hangup', status: 'completed' });
      }
      expect(calls.size).toBe(0);
      expect(signaling.dialogs).toBe(0);
      ada.close();
    });

    it('is canceled by a CANCEL in the TLS record of its INVITE', async (context) => {
      needs('connections', context);
      needs('transactions', context);
      agents.ready = false;
      const ada = await caller();
      const branch = 'same';
      ada.send(
        sipRequest('INVITE', { callId: 'cancel', body: sdpOffer, branch }),
        sipRequest('CANCEL', { callId: 'cancel', branch }),
      );
      const finals = [await ada.final(), await ada.final()].map(
        (heard) => `${heard?.startLine} ${heard?.headers.cseq}`,
      );
      expect(finals.sort()).toEqual(['SIP/2.0 200 OK 1 CANCEL', 'SIP/2.0 487 Request Terminated 1 INVITE']);
      await expect.poll(() => lastOf('cancel')?.termination, patience).toBe('caller_canceled');
      ada.close();
    });

    it('is hung up by the agent with a BYE to the Contact of its INVITE', async (context) => {
      needs('connections', context);
      const ada = await caller();
      ada.send(sipRequest('INVITE', { callId: 'agent', body: sdpOffer }));
      const answer = await ada.final();
      ada.send(sipRequest('ACK', { callId: 'agent', toTag: toTagOf(answer) }));
      await expect.poll(() => agents.last.started, patience).toBe(1);
      agents.last.host.hangup('all said');
      let bye = await ada.next();
      while (bye?.startLine.startsWith('SIP/2.0')) bye = await ada.next();
      expect(bye?.startLine).toBe('BYE sip:ada@127.0.0.1:5061;transport=tls SIP/2.0');
      ada.close();
    });

    it('continues after the PRACK of its reliable 180', async (context) => {
      needs('transactions', context);
      agents.ready = false;
      bench.peer({ ...invite, headers: { Require: '100rel' } });
      await bench.idle();
      clock.advance(200);
      const { headers } = await bench.next();
      bench.peer({ method: 'PRACK', toTag: 't', headers: { RAck: `${headers.rseq} 1 INVITE` } });
      expect(await bench.next()).toMatchObject({ startLine: 'SIP/2.0 200 OK', headers: { cseq: '2 PRACK' } });
      agents.last.becomeReady();
      expect(await bench.next()).toMatchObject({
        startLine: 'SIP/2.0 200 OK',
        headers: { cseq: '1 INVITE' },
      });
      bench.peer({ method: 'ACK', toTag: 't' });
      bench.peer({ method: 'BYE', toTag: 't' });
      expect((await bench.next()).startLine).toBe('SIP/2.0 200 OK');
    });

    it('from a stranger is rejected, and after the last allowed attempt the engine blocks its address', async (context) => {
      needs('blocking', context);
      const stranger = await caller('127.0.0.2');
      stranger.send(sipRequest('INVITE', { callId: 's1', body: sdpOffer }));
      const first = await stranger.final();
      expect(first?.startLine).toBe('SIP/2.0 403 Forbidden');
      stranger.send(sipRequest('ACK', { callId: 's1', toTag: toTagOf(first), branch: 's1-1-INVITE' }));
      stranger.send(sipRequest('INVITE', { callId: 's2', body: sdpOffer }));
      const second = await stranger.final();
      expect(second?.headers['x-trunkline-block']).toBeUndefined();
      stranger.send(sipRequest('OPTIONS', { callId: 's3' }));
      expect(await stranger.final()).toBeNull();
    });
  });
});
