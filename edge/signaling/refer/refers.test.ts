import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import { DrachtioServer, type Sent } from '../../../test/kit/fakes/drachtio-server.ts';
import { echoAgent } from '../../../test/kit/fakes/fake-agents.ts';
import { sdpOffer } from '../../../test/kit/fakes/fake-leg.ts';
import { fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { releaseAll } from '../../../test/kit/fakes/release.ts';
import type { DialEvents } from '../../call/ports/dialing.ts';
import type { PeerRefer, ReferEvents } from '../../call/ports/refer.ts';
import type { CallLeg, DialogLeg, LegEvents } from '../../call/ports/signaling.ts';
import { Signaling } from '../signaling.ts';

const trunk = {
  id: 'trunk-1',
  auth_mode: 'ip',
  allowed_ips: ['192.0.2.0/24'],
  source_host: null,
  headers: [],
  codecs: [],
} as const;
const number = {
  number: '+14155550100',
  org_id: 'org-1',
  inbound: [{ ...trunk, allowed_ips: [...trunk.allowed_ips], headers: [], codecs: [] }],
  outbound: [],
  agent: { ...echoAgent, max_duration: 720 },
};
const config: EdgeConfig = {
  version: 1,
  organizations: [],
  numbers: [number],
  pathways: [],
  allowed_private_targets: [],
  open_inbound: false,
};

let server: DrachtioServer;
let clock: FakeClock;
let signaling: Signaling;
/** Events from signaling, in order. */
let heard: string[];
/** REFERs from the peer. */
let refers: PeerRefer[];
let counted: string[];
/** Legs that request to replace a call's dialog. */
let replacing: CallLeg[];
let admitted: CallLeg | null;
let cseq: number;

const legEvents: LegEvents & DialEvents = {
  answered: () => void heard.push('answered'),
  acknowledged: () => void heard.push('acknowledged'),
  canceled: () => void heard.push('canceled'),
  progress: () => {},
  refused: () => {},
  unreachable: () => {},
  timeout: () => {},
  bye: () => void heard.push('bye'),
  lost: (code) => void heard.push(`lost: ${code}`),
  reanswer: async () => fakeAnswer,
  reoffer: async () => fakeAnswer,
  reaccept: async () => {},
  referred: (refer) => void refers.push(refer),
  replacedBy: (leg) => {
    leg.listen(legEvents);
    replacing.push(leg);
  },
};

const referEvents: ReferEvents = {
  accepted: () => void heard.push('accepted'),
  progress: (status, reason) => void heard.push(`progress ${status} ${reason}`),
  done: (status, reason) => void heard.push(`done ${status} ${reason}`),
  failed: (status, reason) => void heard.push(`failed ${status} ${reason}`),
};

beforeEach(async () => {
  server = await DrachtioServer.listen();
  clock = new FakeClock();
  heard = [];
  refers = [];
  counted = [];
  replacing = [];
  admitted = null;
  cseq = 10;
  const up = Promise.withResolvers<void>();
  signaling = new Signaling({
    clock,
    log: new QuietLog(),
    calls: {
      admit: (leg) => {
        leg.listen(legEvents);
        admitted = leg;
      },
      refuse: (leg) => leg.reject({ status: 403 }),
      endAll: () => {},
      draining: false,
      closedFor: () => null,
      unrecordable: null,
    },
    publicAddress: 'edge.example:5061',
    software: 'Trunkline/test',
    session: { expiresS: 1800, minS: 90 },
    strangers: { tries: 3, windowS: 60, blockS: 600, maxSources: 100 },
    refused: (reason) => counted.push(reason),
    countRefer: (from, outcome) => counted.push(`${from} ${outcome}`),
    random: () => 0,
    engineUp: () => up.resolve(),
  });
  signaling.configure(config);
  signaling.connect({ host: '127.0.0.1', port: server.port, secret: 'cymru' });
  await up.promise;
});

afterEach(() =>
  releaseAll(
    () => signaling.close(),
    () => server.close(),
  ),
);

/** An answered call, and the headers its peer uses in it. */
interface UpCall {
  readonly leg: DialogLeg;
  readonly dialogId: string;
  readonly callId: string;
}

async function inbound(headers: Record<string, string> = {}): Promise<UpCall> {
  server.peer({ method: 'INVITE', body: sdpOffer, headers });
  await server.idle();
  const leg = admitted;
  if (!leg) throw new Error('no call came');
  leg.answer(fakeAnswer);
  const ok = await server.next();
  server.peer({ method: 'ACK', toTag: 'server-tag' });
  await server.idle();
  heard = [];
  return { leg, dialogId: ok.dialogId, callId: 'call-1@peer' };
}

async function outbound(headers: Record<string, string> = {}): Promise<UpCall> {
  const target = { host: 'trunk.example', address: '192.0.2.1', port: 5061, serverName: 'trunk.example' };
  const sipCallId = 'call-2@edge';
  const invite = {
    sipCallId,
    from: '+14155550100',
    to: '+14155550123',
    offer: fakeAnswer,
    headers: [],
    variables: {},
    credentials: { username: 'trunk', password: 'secret', realm: null },
  };
  const leg = signaling.dial(target, invite, legEvents);
  const sent = await server.next();
  server.answer(sent, 200, 'OK', {
    headers: { Contact: '<sip:them@192.0.2.1:5061>', 'Content-Type': 'application/sdp', ...headers },
    body: fakeAnswer,
  });
  expect((await server.next()).startLine).toMatch(/^ACK /);
  heard = [];
  return { leg, dialogId: sent.dialogId, callId: sipCallId };
}

const idle = () => server.idle();

/** A request from the peer in the call's dialog. */
function peer(call: UpCall, method: string, headers: Record<string, string> = {}, body = ''): void {
  const { callId, dialogId } = call;
  server.peer({ method, callId, dialogId, toTag: 'server-tag', cseq: ++cseq, headers, body });
}

function notify(call: UpCall, statusLine: string, state = 'active;expires=60', event = 'refer'): void {
  const headers = { Event: event, 'Subscription-State': state, 'Content-Type': 'message/sipfrag' };
  peer(call, 'NOTIFY', headers, `${statusLine}\r\n`);
}

/** Status line and subscription of a NOTIFY that we sent. */
function told(sent: Sent): string {
  return `${sent.startLine.split(' ')[0]} ${sent.headers['subscription-state']} ${sent.body.trim()}`;
}

const target = { 'Refer-To': '<sip:+14155550177@pbx.example>' };

describe.each([
  ['that came in', inbound],
  ['that went out', outbound],
])('a REFER from the peer in a call %s', (_name, begin) => {
  it('is delivered, and followed by NOTIFYs one at a time', async () => {
    const call = await begin();
    peer(call, 'REFER', { ...target, 'Referred-By': '<sip:bob@pbx.example>' });
    await idle();
    expect(refers[0]).toMatchObject({
      target: 'sip:+14155550177@pbx.example',
      replaces: null,
      referredBy: '<sip:bob@pbx.example>',
    });
    refers[0]?.accept();
    refers[0]?.notify(180, 'Ringing');
    refers[0]?.notify(183, 'Session Progress');
    refers[0]?.notify(200, 'OK');
    const accepted = await server.next();
    expect(accepted.startLine).toBe('SIP/2.0 202 Accepted');
    expect(accepted.headers.contact).toBe('<sip:edge.example:5061;transport=tls>');
    const trying = await server.next();
    expect(trying.dialogId).toBe(call.dialogId);
    expect(trying.headers).toMatchObject({
      event: 'refer',
      'subscription-state': 'active;expires=180',
      'content-type': 'message/sipfrag;version=2.0',
      contact: '<sip:edge.example:5061;transport=tls>',
    });
    expect(trying.body).toBe('SIP/2.0 100 Trying\r\n');
    await idle();
    expect(server.sent.filter(({ startLine }) => startLine.startsWith('NOTIFY'))).toHaveLength(1);
    server.answer(trying, 200, 'OK');
    const ringing = await server.next();
    expect(told(ringing)).toBe('NOTIFY active;expires=180 SIP/2.0 183 Session Progress');
    server.answer(ringing, 200, 'OK');
    const done = await server.next();
    expect(told(done)).toBe('NOTIFY terminated;reason=noresource SIP/2.0 200 OK');
    server.answer(done, 200, 'OK');
    await idle();
    refers[0]?.notify(500, 'late');
    refers[0]?.refuse(500, 'late');
    await idle();
    expect(counted).toEqual(['received accepted', 'received succeeded']);
    call.leg.bye('done');
    expect((await server.next()).startLine).toMatch(/^BYE /);
  });

  it('is rejected with the given status', async () => {
    const call = await begin();
    peer(call, 'REFER', target);
    await idle();
    refers[0]?.refuse(403, 'Transfer target not allowed');
    expect((await server.next()).startLine).toBe('SIP/2.0 403 Transfer target not allowed');
    refers[0]?.accept();
    refers[0]?.notify(200, 'OK');
    await idle();
    expect(server.sent.filter(({ startLine }) => startLine.startsWith('NOTIFY'))).toEqual([]);
    peer(call, 'REFER', target);
    await idle();
    expect(refers).toHaveLength(2);
  });

  it.each([
    [{}, 'SIP/2.0 400 Missing Refer-To'],
    [{ 'Refer-To': '<https://x.example/>' }, 'SIP/2.0 416 Unsupported URI Scheme'],
    [{ ...target, Require: 'multiple-refer' }, 'SIP/2.0 420 Bad Extension'],
  ])('%o gets %s', async (headers, startLine) => {
    const call = await begin();
    peer(call, 'REFER', headers);
    expect((await server.next()).startLine).toBe(startLine);
    expect(refers).toEqual([]);
    expect(counted).toEqual(['received refused']);
  });

  it('gets 491 while another one is pending, and has its own subscription afterwards', async () => {
    const call = await begin();
    peer(call, 'REFER', target);
    await idle();
    refers[0]?.accept();
    await server.next();
    const trying = await server.next();
    peer(call, 'REFER', target);
    expect((await server.next()).startLine).toBe('SIP/2.0 491 Transfer Pending');
    refers[0]?.notify(486, 'Busy Here');
    server.answer(trying, 200, 'OK');
    const failed = await server.next();
    expect(told(failed)).toBe('NOTIFY terminated;reason=noresource SIP/2.0 486 Busy Here');
    server.answer(failed, 200, 'OK');
    await idle();
    peer(call, 'REFER', target);
    await idle();
    refers[1]?.accept();
    expect((await server.next()).startLine).toBe('SIP/2.0 202 Accepted');
    expect((await server.next()).headers.event).toBe(`refer;id=${cseq}`);
  });

  it('without a subscription gets no NOTIFY', async () => {
    const call = await begin();
    peer(call, 'REFER', { ...target, 'Refer-Sub': 'false', Require: 'norefersub' });
    await idle();
    refers[0]?.accept();
    const accepted = await server.next();
    expect([accepted.startLine, accepted.headers['refer-sub']]).toEqual(['SIP/2.0 202 Accepted', 'false']);
    refers[0]?.notify(180, 'Ringing');
    refers[0]?.notify(200, 'OK');
    await idle();
    expect(server.sent.at(-1)?.startLine).toBe('SIP/2.0 202 Accepted');
    peer(call, 'REFER', target);
    await idle();
    expect(refers).toHaveLength(2);
  });

  it('ends with 503 when no outcome is reported', async () => {
    const call = await begin();
    peer(call, 'REFER', target);
    await idle();
    refers[0]?.onExpiry(() => void heard.push('expired'));
    refers[0]?.accept();
    await server.next();
    server.answer(await server.next(), 200, 'OK');
    await idle();
    clock.advance(180_000);
    expect(heard.at(-1)).toBe('expired');
    expect(told(await server.next())).toBe(
      'NOTIFY terminated;reason=noresource SIP/2.0 503 No outcome in time',
    );
    refers[0]?.notify(200, 'OK');
    expect(counted).toEqual(['received accepted', 'received timed_out']);
  });

  it('is forgotten when the peer has no such subscription', async () => {
    const call = await begin();
    peer(call, 'REFER', target);
    await idle();
    refers[0]?.accept();
    await server.next();
    server.answer(await server.next(), 481, 'Subscription does not exist');
    await idle();
    refers[0]?.notify(200, 'OK');
    await idle();
    expect(server.sent.at(-1)?.body).toBe('SIP/2.0 100 Trying\r\n');
    peer(call, 'REFER', target);
    await idle();
    expect(refers).toHaveLength(2);
  });

  it('ends with the dialog', async () => {
    const call = await begin();
    peer(call, 'REFER', target);
    await idle();
    refers[0]?.accept();
    await server.next();
    server.answer(await server.next(), 200, 'OK');
    peer(call, 'BYE');
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    const before = server.sent.length;
    refers[0]?.notify(200, 'OK');
    await idle();
    expect(server.sent).toHaveLength(before);
    expect(heard).toEqual(['bye']);
    expect(clock.pending).toBe(0);
  });

  it('has its last NOTIFY sent before our BYE', async () => {
    const call = await begin();
    peer(call, 'REFER', target);
    await idle();
    refers[0]?.accept();
    await server.next();
    await server.next();
    refers[0]?.notify(200, 'OK');
    call.leg.bye('transferred');
    expect(told(await server.next())).toBe('NOTIFY terminated;reason=noresource SIP/2.0 200 OK');
    const bye = await server.next();
    expect(bye.startLine).toMatch(/^BYE /);
    server.answer(bye, 200, 'OK');
    await idle();
    expect(signaling.dialogs).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('is answered 500 when the call cannot handle it, and does not block the next one', async () => {
    const call = await begin();
    const { push } = refers;
    refers.push = () => {
      throw new Error('a fault');
    };
    peer(call, 'REFER', target);
    expect((await server.next()).startLine).toBe('SIP/2.0 500 Server Internal Error');
    refers.push = push;
    peer(call, 'REFER', target);
    await idle();
    expect(refers).toHaveLength(1);
  });
});

describe.each([
  ['that came in', inbound],
  ['that went out', outbound],
])('a REFER of ours in a call %s', (_name, begin) => {
  async function sendRefer(call: UpCall): Promise<Sent> {
    call.leg.refer({ target: 'sip:+14155550177@pbx.example?X-Crm=17' }, referEvents);
    const refer = await server.next();
    expect(refer.startLine).toMatch(/^REFER /);
    expect(heard).toEqual([]);
    return refer;
  }

  it('names the target and us, and reports the progress', async () => {
    const call = await begin();
    const refer = await sendRefer(call);
    expect(refer.dialogId).toBe(call.dialogId);
    expect(refer.headers).toMatchObject({
      'refer-to': '<sip:+14155550177@pbx.example?X-Crm=17>',
      contact: '<sip:edge.example:5061;transport=tls>',
    });
    expect(refer.headers['referred-by']).toMatch(/^<sip:\+14155550100@/);
    server.answer(refer, 202, 'Accepted');
    notify(call, 'SIP/2.0 100 Trying');
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    notify(call, 'SIP/2.0 200 OK', 'terminated;reason=noresource');
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(heard).toEqual(['accepted', 'progress 100 Trying', 'done 200 OK']);
    expect(counted).toEqual(['sent succeeded']);
    notify(call, 'SIP/2.0 200 OK', 'terminated;reason=noresource');
    expect((await server.next()).startLine).toBe('SIP/2.0 481 Subscription does not exist');
  });

  it('may cross one from the peer: each has its own subscription', async () => {
    const call = await begin();
    call.leg.refer({ target: 'sip:+14155550177@pbx.example' }, referEvents);
    const ours = await server.next();
    peer(call, 'REFER', target);
    await idle();
    refers[0]?.accept();
    expect((await server.next()).startLine).toBe('SIP/2.0 202 Accepted');
    const trying = await server.next();
    expect(told(trying)).toBe('NOTIFY active;expires=180 SIP/2.0 100 Trying');
    server.answer(ours, 202, 'Accepted');
    notify(call, 'SIP/2.0 200 OK', 'terminated;reason=noresource');
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    server.answer(trying, 200, 'OK');
    refers[0]?.notify(603, 'Decline');
    expect(told(await server.next())).toBe('NOTIFY terminated;reason=noresource SIP/2.0 603 Decline');
    expect(heard).toEqual(['accepted', 'done 200 OK']);
  });

  it('is accepted by a NOTIFY that arrives before the response', async () => {
    const call = await begin();
    const refer = await sendRefer(call);
    notify(call, 'SIP/2.0 100 Trying');
    await server.next();
    server.answer(refer, 202, 'Accepted');
    notify(call, 'SIP/2.0 486 Busy Here');
    await server.next();
    expect(heard).toEqual(['accepted', 'progress 100 Trying', 'done 486 Busy Here']);
    notify(call, 'SIP/2.0 486 Busy Here', 'terminated');
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(heard).toHaveLength(3);
    expect(counted).toEqual(['sent failed']);
  });

  it('is not confused with an earlier one whose subscription is still active', async () => {
    const call = await begin();
    server.answer(await sendRefer(call), 202, 'Accepted');
    notify(call, 'SIP/2.0 486 Busy Here', 'active;expires=60');
    await server.next();
    call.leg.refer({ target: 'sip:other@pbx.example' }, referEvents);
    server.answer(await server.next(), 202, 'Accepted');
    notify(call, 'SIP/2.0 200 OK', 'terminated;reason=noresource');
    await server.next();
    expect(heard).toEqual(['accepted', 'done 486 Busy Here', 'accepted', 'done 200 OK']);
  });

  it('fails when it is rejected', async () => {
    const call = await begin();
    server.answer(await sendRefer(call), 603, 'Declined');
    await idle();
    expect(heard).toEqual(['failed 603 Declined']);
    notify(call, 'SIP/2.0 100 Trying');
    expect((await server.next()).startLine).toBe('SIP/2.0 481 Subscription does not exist');
  });

  it('fails without a status when there is no response', async () => {
    const call = await begin();
    server.answer(await sendRefer(call), 408, 'Request Timeout', { address: '' });
    await idle();
    expect(heard).toEqual(['failed null Request Timeout']);
  });

  it('fails when the subscription ends without a final status', async () => {
    const call = await begin();
    server.answer(await sendRefer(call), 202, 'Accepted');
    notify(call, 'no status', 'terminated;reason=giveup');
    await server.next();
    expect(heard).toEqual([
      'accepted',
      'failed null The peer ended the subscription (terminated;reason=giveup)',
    ]);
  });

  it('fails when no NOTIFY arrives in time; each one restarts the timer', async () => {
    const call = await begin();
    server.answer(await sendRefer(call), 202, 'Accepted');
    await idle();
    clock.advance(59_000);
    notify(call, 'SIP/2.0 180 Ringing', 'active;expires=120');
    await server.next();
    clock.advance(119_000);
    expect(heard).toEqual(['accepted', 'progress 180 Ringing']);
    clock.advance(1_000);
    expect(heard.at(-1)).toBe('failed null Timed out waiting for the peer to report the outcome');
    notify(call, 'SIP/2.0 200 OK', 'terminated');
    expect((await server.next()).startLine).toBe('SIP/2.0 481 Subscription does not exist');
  });

  it('fails when the peer reports no outcome at all', async () => {
    const call = await begin();
    server.answer(await sendRefer(call), 202, 'Accepted', { headers: { 'Refer-Sub': 'false' } });
    await idle();
    expect(heard).toEqual(['accepted', 'failed null The peer does not report the outcome']);
  });

  it('fails once when the dialog ends, after the BYE is reported', async () => {
    const call = await begin();
    server.answer(await sendRefer(call), 202, 'Accepted');
    peer(call, 'BYE');
    await server.next();
    expect(heard).toEqual(['accepted', 'bye', 'failed null The call has ended']);
    call.leg.refer({ target: 'sip:a@pbx.example' }, referEvents);
    await idle();
    expect(heard.at(-1)).toBe('failed null The call is not up');
    expect(clock.pending).toBe(0);
  });

  it('has its NOTIFYs answered while our BYE is pending', async () => {
    const call = await begin();
    server.answer(await sendRefer(call), 202, 'Accepted');
    notify(call, 'SIP/2.0 200 OK');
    await server.next();
    call.leg.bye('transferred');
    const bye = await server.next();
    notify(call, 'SIP/2.0 200 OK', 'terminated;reason=noresource');
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    server.answer(bye, 200, 'OK');
    await idle();
    expect(heard).toEqual(['accepted', 'done 200 OK']);
    expect(signaling.dialogs).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('is not sent with a target that would break out of its header', async () => {
    const call = await begin();
    const before = server.sent.length;
    call.leg.refer({ target: 'sip:a@x>\r\nX: 1' }, referEvents);
    await idle();
    expect(heard).toEqual(['failed null The target is not a URI']);
    expect(server.sent).toHaveLength(before);
  });

  it('is lost with the engine', async () => {
    const call = await begin();
    await sendRefer(call);
    server.drop();
    await expect.poll(() => heard).toEqual(['failed null The call has ended']);
  });

  it('is allowed when the latest Allow lists it', async () => {
    expect((await begin()).leg.takesRefer).toBe(true);
  });
});

describe('a REFER of ours to a trunk', () => {
  it('answers a challenge', async () => {
    const call = await outbound();
    call.leg.refer({ target: 'sip:a@pbx.example' }, referEvents);
    const challenge = {
      'Proxy-Authenticate': 'Digest realm="pbx", nonce="n", algorithm=SHA-256, qop="auth"',
    };
    server.answer(await server.next(), 407, 'Proxy Authentication Required', { headers: challenge });
    const again = await server.next();
    expect(again.startLine).toMatch(/^REFER /);
    expect(again.headers['proxy-authorization']).toContain('username="trunk"');
    server.answer(again, 202, 'Accepted');
    await idle();
    expect(heard).toEqual(['accepted']);
  });
});

describe('whether the peer supports REFER', () => {
  it.each<[string, typeof inbound]>([
    ['that came in', inbound],
    ['that went out', outbound],
  ])('follows its Allow, in a call %s', async (_name, begin) => {
    const call = await begin({ Allow: 'INVITE, ACK, BYE' });
    expect(call.leg.takesRefer).toBe(false);
    peer(call, 'UPDATE', { Allow: 'INVITE, ACK, BYE, REFER, UPDATE' });
    await server.next();
    expect(call.leg.takesRefer).toBe(true);
    peer(call, 'UPDATE');
    await server.next();
    expect(call.leg.takesRefer).toBe(true);
  });
});

describe('the identifiers of a dialog', () => {
  it("are those on the wire, with the peer's latest target", async () => {
    const call = await inbound();
    expect(call.leg.dialog).toEqual({
      callId: 'call-1@peer',
      localTag: 'server-tag',
      remoteTag: 'peer-tag',
      remoteTarget: 'sip:ada@192.0.2.1:5061;transport=tls',
    });
    peer(call, 'UPDATE', { Contact: '<sip:ada@192.0.2.9:5061;transport=tls>' });
    await server.next();
    expect(call.leg.dialog?.remoteTarget).toBe('sip:ada@192.0.2.9:5061;transport=tls');
    const other = await outbound();
    expect(other.leg.dialog).toEqual({
      callId: 'call-2@edge',
      localTag: other.dialogId.replace('call-2@edge;from-tag=', ''),
      remoteTag: 'peer-tag',
      remoteTarget: 'sip:them@192.0.2.1:5061',
    });
  });

  it('are unknown before the answer', async () => {
    server.peer({ method: 'INVITE', body: sdpOffer });
    await idle();
    expect(admitted?.dialog).toBeNull();
    expect(admitted?.takesRefer).toBe(true);
    server.cancel();
    await idle();
  });
});

describe('an INVITE with Replaces', () => {
  /** @returns the start line of the answer, empty when the call decides */
  async function replace(replaces: string, message: Partial<Parameters<DrachtioServer['peer']>[0]> = {}) {
    const before = server.sent.length;
    const headers = { Replaces: replaces, Require: 'replaces', ...message.headers };
    const uri = 'sip:edge.example:5061;transport=tls';
    server.peer({ method: 'INVITE', uri, callId: 'new@peer', body: sdpOffer, ...message, headers });
    await idle();
    return server.sent.length > before ? (await server.next()).startLine : '';
  }

  function nameOf({ leg }: UpCall): string {
    return `${leg.dialog?.callId};to-tag=${leg.dialog?.localTag};from-tag=${leg.dialog?.remoteTag}`;
  }

  it.each<[string, typeof inbound]>([
    ['that came in', inbound],
    ['that went out', outbound],
  ])('is delivered to the call %s', async (_name, begin) => {
    const call = await begin();
    expect(await replace(nameOf(call))).toBe('');
    const [leg] = replacing;
    expect(leg?.facts).toMatchObject({ sipCallId: 'new@peer', to: '+14155550100', offer: sdpOffer });
    leg?.answer(fakeAnswer);
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    server.peer({ method: 'ACK', callId: 'new@peer', toTag: 'server-tag' });
    await idle();
    expect(heard).toEqual(['answered', 'acknowledged']);
    call.leg.bye('replaced');
    const bye = await server.next();
    expect(bye.dialogId).toBe(call.dialogId);
    expect(signaling.dialogs).toBe(2);
  });

  it('is rejected as RFC 3891 requires', async () => {
    const call = await inbound();
    const name = nameOf(call);
    expect(await replace('nonsense')).toBe('SIP/2.0 400 Malformed Replaces');
    expect(await replace(`${name},${name}`)).toBe('SIP/2.0 400 Malformed Replaces');
    expect(await replace(name.replace('server-tag', 'other'))).toMatch(/^SIP\/2.0 481/);
    expect(await replace(`${name};early-only`)).toBe('SIP/2.0 486 Busy Here');
    call.leg.bye('done');
    await server.next();
    expect(await replace(name)).toBe('SIP/2.0 603 Decline');
    expect(replacing).toEqual([]);
  });

  it('does not match an unanswered call', async () => {
    server.peer({ method: 'INVITE', body: sdpOffer });
    await idle();
    admitted?.ring();
    await server.next();
    expect(await replace('call-1@peer;to-tag=server-tag;from-tag=peer-tag')).toMatch(/^SIP\/2.0 481/);
  });

  it('from a stranger is forbidden, whether or not the call exists', async () => {
    const call = await inbound();
    const address = '203.0.113.5';
    expect(await replace(nameOf(call), { address })).toBe('SIP/2.0 403 Forbidden');
    expect(await replace('x@y;to-tag=1;from-tag=2', { address })).toBe('SIP/2.0 403 Forbidden');
    expect(await replace('x@y;to-tag=1;from-tag=2', { address, uri: 'sip:+14155550100@x' })).toBe(
      'SIP/2.0 403 Forbidden',
    );
    expect(replacing).toEqual([]);
  });
});

describe('an outgoing INVITE that replaces a dialog', () => {
  it('carries Replaces and Referred-By', async () => {
    const place = { host: 'pbx.example', port: 5061, serverName: 'pbx.example' };
    const invite = {
      sipCallId: 'call-3@edge',
      from: '+14155550100',
      to: 'ann',
      offer: fakeAnswer,
      headers: [],
      variables: {},
      credentials: null,
      replaces: '1@pbx;to-tag=a;from-tag=b',
      referredBy: '<sip:bob@pbx.example>',
    };
    signaling.dial(place, invite, legEvents);
    expect((await server.next()).headers).toMatchObject({
      replaces: '1@pbx;to-tag=a;from-tag=b',
      require: 'replaces',
      'referred-by': '<sip:bob@pbx.example>',
    });
  });
});

describe('a REFER outside calls', () => {
  it('is forbidden', async () => {
    server.peer({ method: 'REFER', headers: target });
    expect((await server.next()).startLine).toBe('SIP/2.0 403 REFER is only supported within calls');
  });
});
