/** Signaling on the fake engine, with what only frames can bring about. What must hold on every engine is in engines.test.ts. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { InboundTrunk, NumberConfig } from '#shared/edge-protocol/numbers.ts';
import { endTexts } from '#shared/engine-protocol/ends.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import { DrachtioServer } from '../../test/kit/fakes/drachtio-server.ts';
import { echoAgent, FakeAgents } from '../../test/kit/fakes/fake-agents.ts';
import { sdpOffer } from '../../test/kit/fakes/fake-leg.ts';
import { FakeMedia } from '../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';
import { Calls } from '../call/calls.ts';
import { Signaling } from './signaling.ts';

const trunk: InboundTrunk = {
  id: 'trunk-1',
  auth_mode: 'ip',
  allowed_ips: ['192.0.2.0/24'],
  source_host: null,
  headers: [{ type: 'custom', key: 'X-Crm', value: 'crm' }],
  codecs: ['PCMU'],
};
const config: EdgeConfig = {
  version: 1,
  organizations: [],
  numbers: [
    {
      number: '+14155550100',
      org_id: 'org-1',
      inbound: [trunk],
      outbound: [],
      agent: { ...echoAgent, max_duration: 720 },
    },
    { number: '+14155550101', org_id: 'org-1', inbound: [trunk], outbound: [], agent: null },
  ],
  pathways: [],
  allowed_private_targets: [],
  open_inbound: false,
};

let server: DrachtioServer;
let clock: FakeClock;
let media: FakeMedia;
let agents: FakeAgents;
let log: QuietLog;
let calls: Calls;
let signaling: Signaling;
let records: CallRecord[];
/** Why reports cannot be stored. */
let refusal: string | null;
let refused: string[];
let up: (value: boolean) => void;
/** Resolves when the address of `carrier.example` is known. */
let lookedUp: Promise<void>;
let found: () => void;

const engineUp = () =>
  new Promise<boolean>((resolve) => {
    up = resolve;
  });

beforeEach(async () => {
  server = await DrachtioServer.listen();
  clock = new FakeClock(Date.UTC(2030, 0, 1));
  media = new FakeMedia();
  agents = new FakeAgents();
  log = new QuietLog();
  records = [];
  refusal = null;
  refused = [];
  lookedUp = new Promise((resolve) => {
    found = resolve;
  });
  let id = 0;
  calls = new Calls({
    clock,
    media,
    agents,
    log,
    newId: () => `id-${++id}`,
    maxCalls: 3,
    settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 0 },
    reporter: {
      report: (body) => void (body.type === 'call' && records.push(body.call)),
      get refusal() {
        return refusal;
      },
    },
  });
  signaling = new Signaling({
    clock,
    log,
    calls,
    publicAddress: 'edge.example:5061',
    software: 'Trunkline/test',
    session: { expiresS: 1800, minS: 90 },
    strangers: { tries: 3, windowS: 60, blockS: 600, maxSources: 100 },
    refused: (reason) => refused.push(reason),
    random: () => 0.5,
    engineUp: (value) => up(value),
    resolve: async (host) => {
      if (host !== 'carrier.example') throw new Error('NXDOMAIN');
      setImmediate(found);
      return ['203.0.113.9'];
    },
  });
  signaling.configure(config);
  const ready = engineUp();
  signaling.connect({ host: '127.0.0.1', port: server.port, secret: 'cymru' });
  await ready;
});

afterEach(() =>
  releaseAll(
    () => signaling.close(),
    () => server.close(),
  ),
);

const invite = { method: 'INVITE', body: sdpOffer };
const last = () => records.at(-1);

/** An answered call, with the ACK. @returns the transaction of its 200 */
async function answered(headers: Record<string, string> = {}) {
  server.peer({ ...invite, headers });
  const ok = await server.next();
  expect(ok.startLine).toBe('SIP/2.0 200 OK');
  server.peer({ method: 'ACK', toTag: 't' });
  await server.idle();
  return ok;
}

describe('an inbound call', () => {
  it('has its record reported before the 200 to BYE', async () => {
    await answered();
    let reported: string | null | undefined;
    server.withEcho = (sent) => {
      if (sent.headers.cseq?.endsWith('BYE')) reported = last()?.termination;
      return [];
    };
    server.peer({ method: 'BYE', toTag: 't' });
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(reported).toBe('caller_hangup');
    expect(signaling.dialogs).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('processes a BYE that arrives in one chunk with the echo of its 200 and the ACK', async () => {
    server.withEcho = (sent) =>
      sent.startLine === 'SIP/2.0 200 OK' && sent.headers.cseq?.endsWith('INVITE')
        ? [
            server.peerFrame({ method: 'ACK', toTag: 't' }).frame,
            server.peerFrame({ method: 'BYE', toTag: 't' }).frame,
          ]
        : [];
    for (let round = 0; round < 20; round++) {
      server.peer(invite);
      expect((await server.next()).headers.cseq).toBe('1 INVITE');
      expect((await server.next()).headers.cseq).toBe('1 BYE');
      expect(last()).toMatchObject({ termination: 'caller_hangup', status: 'completed' });
    }
    expect(calls.size).toBe(0);
    expect(signaling.dialogs).toBe(0);
  });

  it('is canceled before the answer, also in the chunk of its INVITE', async () => {
    agents.ready = false;
    server.peer(invite);
    await server.idle();
    server.cancel();
    await server.idle();
    expect(last()).toMatchObject({ termination: 'caller_canceled', status: 'canceled', sip_code: 487 });
    expect(server.sent).toEqual([]);
  });

  it('counts as canceled when the engine no longer knows the INVITE of its 200', async () => {
    server.refuse = () => 'Response not sent due to unknown transaction';
    server.peer(invite);
    await server.next();
    await server.idle();
    expect(last()).toMatchObject({ termination: 'caller_canceled', answered_at: null });
    expect(calls.size).toBe(0);
  });

  it.each<[string, Record<string, string>]>([
    ['the embedded engine', { [privateHeaders.end]: 'no_ack' }],
    ['a drachtio-server', {}],
  ])('ends when %s gives up waiting for the ACK', async (_engine, cause) => {
    server.peer(invite);
    await server.next();
    server.peer({
      method: 'BYE',
      toTag: 't',
      source: 'application',
      headers: { Reason: 'SIP;cause=200;text="ACK timeout"', ...cause },
    });
    await server.idle();
    expect(last()).toMatchObject({
      termination: 'ack_timeout',
      termination_detail: 'No ACK within 32 s of the answer (SIP engine: ACK timeout).',
    });
    expect(server.sent).toHaveLength(1);
  });

  it.each([
    ['no_prack', 504, 'Server Time-out', 'ack_timeout'],
    ['unanswered', 408, 'Request Timeout', 'internal_error'],
    ['connection_lost', 487, 'Request Terminated', 'connection_lost'],
  ] as const)(
    'that the engine gave up (%s, %i) is recorded with the status that the caller got',
    async (cause, status, phrase, code) => {
      agents.ready = false;
      const transactionId = server.peer(invite);
      await server.idle();
      const headers = {
        Reason: `SIP;cause=${status};text="${endTexts[cause]}"`,
        [privateHeaders.end]: cause,
      };
      server.peer({ method: 'CANCEL', transactionId, headers });
      await server.idle();
      // A caller without a connection cannot receive a response.
      const sent = code === 'connection_lost' ? null : status;
      expect(last()).toMatchObject({
        termination: code,
        sip_code: sent,
        sip_reason: sent === null ? null : phrase,
        status: 'failed',
      });
    },
  );

  it.each(['drop', 'reset'] as const)(
    'ends when the engine is lost (%s), and the next call uses a new connection',
    async (how) => {
      await answered();
      const down = engineUp();
      server[how]();
      expect(await down).toBe(false);
      expect(last()).toMatchObject({ termination: 'engine_lost', status: 'completed' });
      expect(signaling.dialogs).toBe(0);
      const ready = engineUp();
      clock.advance(200);
      expect(await ready).toBe(true);
      server.peer({ ...invite, callId: 'call-2' });
      expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    },
  );
});

describe('the session timer', () => {
  it('is refreshed by us with UPDATE when the caller supports it', async () => {
    const ok = await answered({ Supported: 'timer', Allow: 'INVITE, UPDATE' });
    expect(ok.headers['session-expires']).toBe('1800;refresher=uas');
    clock.advance(900_000);
    const update = await server.next();
    expect(update.startLine).toMatch(/^UPDATE /);
    expect(update.headers).toMatchObject({
      'session-expires': '1800;refresher=uac',
      contact: '<sip:edge.example:5061;transport=tls>',
    });
    server.answer(update, 200, 'OK', { headers: { 'Session-Expires': '1800;refresher=uac' } });
    await server.idle();
    clock.advance(900_000);
    expect((await server.next()).startLine).toMatch(/^UPDATE /);
    expect(calls.size).toBe(1);
  });

  it('is refreshed by us with re-INVITE otherwise, again after a glare', async () => {
    await answered({ Supported: 'timer' });
    clock.advance(900_000);
    await server.idle();
    const first = await server.next();
    expect(first.startLine).toMatch(/^INVITE /);
    server.peer({ ...invite, toTag: 't' });
    expect((await server.next()).startLine).toBe('SIP/2.0 491 Request Pending');
    server.answer(first, 491, 'Request Pending');
    await server.idle();
    clock.advance(1000);
    await server.idle();
    const second = await server.next();
    expect(second.startLine).toMatch(/^INVITE /);
    server.answer(second, 200, 'OK', { headers: { 'Content-Type': 'application/sdp' }, body: sdpOffer });
    expect((await server.next()).startLine).toMatch(/^ACK /);
    expect(media.last.answers).toEqual([sdpOffer]);
  });

  it('ends the call when the caller must refresh and does not', async () => {
    const ok = await answered({ Supported: 'timer', 'Session-Expires': '90;refresher=uac' });
    expect(ok.headers).toMatchObject({ 'session-expires': '90;refresher=uac', require: 'timer' });
    clock.advance(59_000);
    server.peer({
      method: 'UPDATE',
      toTag: 't',
      headers: { Supported: 'timer', 'Session-Expires': '90;refresher=uac' },
    });
    await server.next();
    await server.idle();
    clock.advance(59_000);
    expect(calls.size).toBe(1);
    clock.advance(1_000);
    expect((await server.next()).startLine).toMatch(/^BYE /);
    expect(last()).toMatchObject({ termination: 'session_expired', hangup_by: 'timeout' });
  });

  it('ends the call when the caller no longer knows the dialog', async () => {
    await answered({ Supported: 'timer', Allow: 'UPDATE' });
    clock.advance(900_000);
    server.answer(await server.next(), 481, 'Call/Transaction Does Not Exist');
    expect((await server.next()).startLine).toMatch(/^BYE /);
    expect(last()?.termination).toBe('session_expired');
  });

  it('uses the interval of a 422', async () => {
    await answered({ Supported: 'timer', Allow: 'UPDATE' });
    clock.advance(900_000);
    server.answer(await server.next(), 422, 'Session Interval Too Small', { headers: { 'Min-SE': '3600' } });
    await server.idle();
    clock.advance(1);
    expect((await server.next()).headers).toMatchObject({
      'session-expires': '3600;refresher=uac',
      'min-se': '3600',
    });
  });
});

describe('a call from a registrar', () => {
  const registering: InboundTrunk = {
    ...trunk,
    id: 'registered',
    auth_mode: 'register',
    allowed_ips: ['198.51.100.7'],
    registration: { host: 'pbx.example', port: 5061, username: 'acme', password: 'p', expires_s: 300 },
  };
  const agent = { ...echoAgent, max_duration: 720 };
  const numbers = [
    { number: '+14155550100', org_id: 'org-1', inbound: [trunk, registering], outbound: [], agent },
  ];
  const toContact = { ...invite, uri: 'sip:acme@edge.example:5061;transport=tls' };

  beforeEach(() => signaling.configure({ ...config, numbers }));

  it('to the registered Contact belongs to the record and its number', async () => {
    server.peer({ ...toContact, address: '198.51.100.7' });
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(last()).toMatchObject({ trunk_id: 'registered', number: '+14155550100', to: '+14155550100' });
  });

  it('may dial the number directly', async () => {
    server.peer({ ...invite, address: '198.51.100.7' });
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(last()).toMatchObject({ trunk_id: 'registered' });
  });

  it.each(['+14155550100', '14155550100'])(
    'belongs to the number, although another organization registers as %s and lists its source',
    async (username) => {
      const registration = { host: 'thief.example', port: 5061, username, password: 'p', expires_s: 300 };
      const thief = {
        number: '+12025550100',
        org_id: 'org-2',
        inbound: [{ ...registering, id: 'thiefs', registration }],
        outbound: [],
        agent,
      };
      signaling.configure({ ...config, numbers: [thief, ...numbers] });
      server.peer({ ...invite, uri: `sip:${username}@edge.example`, address: '198.51.100.7' });
      expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
      expect(last()).toMatchObject({ trunk_id: 'registered', number: '+14155550100' });
    },
  );

  it('is rejected from every other source', async () => {
    server.peer({ ...toContact, address: '203.0.113.5' });
    expect((await server.next()).startLine).toBe('SIP/2.0 403 Forbidden');
    expect(last()).toMatchObject({
      termination: 'source_not_allowed',
      number: '+14155550100',
      trunk_id: null,
    });
  });
});

describe('a rejected INVITE', () => {
  it.each<[string, Parameters<DrachtioServer['peer']>[0], string, object]>([
    ['unknown number', { ...invite, uri: 'sip:+14155559999@x' }, 'SIP/2.0 404 Not Found', {}],
    ['no number at all', { ...invite, uri: 'sip:x' }, 'SIP/2.0 404 Not Found', {}],
    ['stranger', { ...invite, address: '203.0.113.5' }, 'SIP/2.0 403 Forbidden', {}],
    ['no agent', { ...invite, uri: 'sip:14155550101@x' }, 'SIP/2.0 480 Temporarily Unavailable', {}],
    [
      'unknown extension',
      { ...invite, headers: { Require: 'join, timer' } },
      'SIP/2.0 420 Bad Extension',
      { unsupported: 'join' },
    ],
    [
      'body that is no SDP',
      { ...invite, body: 'hello', headers: { 'Content-Type': 'text/plain' } },
      'SIP/2.0 415 Unsupported Media Type',
      { accept: 'application/sdp' },
    ],
    [
      'body that is compressed',
      { ...invite, headers: { 'Content-Encoding': 'gzip' } },
      'SIP/2.0 415 Unsupported Media Type',
      { 'accept-encoding': 'identity' },
    ],
    [
      'short session',
      { ...invite, headers: { Supported: 'timer', 'Session-Expires': '60' } },
      'SIP/2.0 422 Session Interval Too Small',
      { 'min-se': '90' },
    ],
    [
      'plain RTP',
      { ...invite, body: 'v=0\r\n' },
      'SIP/2.0 488 Not Acceptable Here',
      { warning: '399 edge.example:5061 "SRTP with AES_CM_128_HMAC_SHA1_80 is required"' },
    ],
  ])('%s', async (_name, message, startLine, headers) => {
    server.peer(message);
    const answer = await server.next();
    expect(answer.startLine).toBe(startLine);
    expect(answer.headers).toMatchObject({ server: 'Trunkline/test', ...headers });
  });

  it('is recorded when its number is ours, and otherwise only logged', async () => {
    server.peer({ ...invite, address: '203.0.113.5' });
    await server.next();
    expect(records).toHaveLength(1);
    expect(last()).toMatchObject({
      status: 'failed',
      sip_code: 403,
      termination: 'source_not_allowed',
      trunk_id: null,
    });
    server.peer({ ...invite, callId: 'b', uri: 'sip:+14155559999@x' });
    await server.next();
    expect(records).toHaveLength(1);
    expect(refused).toEqual(['source_not_allowed', 'number_unknown']);
    expect(log.lines.at(-1)?.fields).toMatchObject({
      source_ip: '192.0.2.1',
      dialled: '+14155559999',
      sip_status: 404,
    });
  });

  it('gets 503 with Retry-After at capacity, while draining, and before the first configuration', async () => {
    agents.ready = false;
    for (const callId of ['a', 'b', 'c']) server.peer({ ...invite, callId });
    await server.idle();
    server.peer({ ...invite, callId: 'd' });
    const full = await server.next();
    expect([full.startLine, full.headers['retry-after']]).toEqual(['SIP/2.0 503 Service Unavailable', '10']);
    expect(last()?.termination).toBe('capacity');
    void calls.drain(1000);
    server.peer({ ...invite, callId: 'e' });
    expect((await server.next()).startLine).toBe('SIP/2.0 503 Service Unavailable');
    expect(last()?.termination).toBe('draining');
  });

  it.each(['INVITE', 'OPTIONS'])(
    '%s gets 503 with Retry-After, and leaves no record, while reports cannot be stored',
    async (method) => {
      refusal = 'The edge cannot store its reports';
      server.peer({ ...invite, method });
      const answer = await server.next();
      expect([answer.startLine, answer.headers['retry-after']]).toEqual([
        'SIP/2.0 503 Service Unavailable',
        '10',
      ]);
      expect(records).toEqual([]);
      refusal = null;
      server.peer({ method: 'OPTIONS', callId: 'later' });
      expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
    },
  );

  it('from an unknown source is answered with the block header at the last attempt, then not at all', async () => {
    const stranger = { ...invite, address: '::ffff:203.0.113.5' };
    const answers = [];
    for (const callId of ['a', 'b', 'c']) {
      server.peer({ ...stranger, callId });
      answers.push((await server.next()).headers['x-trunkline-block']);
    }
    expect(answers).toEqual([undefined, undefined, '600']);
    server.peer({ ...stranger, callId: 'd' });
    server.peer({ method: 'OPTIONS', callId: 'e', address: '203.0.113.5' });
    await server.idle();
    expect(server.sent).toHaveLength(3);
    expect(refused).toEqual([
      'source_not_allowed',
      'source_not_allowed',
      'blocked',
      'source_not_allowed',
      'silenced',
      'silenced',
    ]);
    expect(log.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      {
        message: 'unknown source blocked after too many failed attempts',
        fields: { source_ip: '203.0.113.5', seconds: 600 },
      },
    ]);
    clock.advance(600_000);
    server.peer({ method: 'OPTIONS', callId: 'f', address: '203.0.113.5' });
    expect((await server.next()).startLine).toBe('SIP/2.0 200 OK');
  });

  it('counts together with the OPTIONS of the same source, four of which are one attempt', async () => {
    const address = '203.0.113.5';
    server.peer({ ...invite, callId: 'a', address });
    server.peer({ ...invite, callId: 'b', address });
    for (const callId of ['c', 'd', 'e', 'f']) server.peer({ method: 'OPTIONS', callId, address });
    const answers = [];
    for (let i = 0; i < 6; i++) {
      const { startLine, headers } = await server.next();
      answers.push(`${startLine.split(' ')[1]} ${headers['x-trunkline-block']}`);
    }
    expect(answers).toEqual([
      '403 undefined',
      '403 undefined',
      '200 undefined',
      '200 undefined',
      '200 undefined',
      '200 600',
    ]);
    server.peer({ method: 'OPTIONS', callId: 'g', address });
    await server.idle();
    expect(server.sent).toHaveLength(6);
  });

  it('counts together with the requests that the engine rejected itself', async () => {
    const address = '203.0.113.5';
    server.peer({ ...invite, callId: 'a', address });
    await server.next();
    expect(signaling.refusedByEngine(address, 1)).toBe(0);
    expect(signaling.refusedByEngine('::ffff:203.0.113.5', 1)).toBe(600);
    expect(signaling.refusedByEngine(address, 5)).toBe(0);
    expect(refused).toEqual(['source_not_allowed', 'engine', 'engine', 'blocked']);
  });

  it('from a trunk is never blocked', async () => {
    for (let round = 0; round < 5; round++) {
      server.peer({ ...invite, callId: `c${round}`, uri: 'sip:+14155559999@x' });
      expect((await server.next()).headers['x-trunkline-block']).toBeUndefined();
    }
    for (let i = 0; i < 20; i++) {
      server.peer({ method: 'OPTIONS', callId: `o${i}` });
      expect((await server.next()).headers['x-trunkline-block']).toBeUndefined();
    }
    expect(signaling.refusedByEngine('192.0.2.1', 100)).toBe(0);
  });

  it('from a host that is only called is never blocked for its OPTIONS, and may not call', async () => {
    const calledOnly: NumberConfig = {
      number: '+14155550102',
      org_id: 'org-1',
      inbound: [],
      outbound: [
        {
          id: 'trunk-2',
          priority: 1,
          endpoints: [{ host: 'carrier.example', port: 5061, priority: 0 }],
          triggers: [],
          failback: 'auto',
          codecs: ['PCMU'],
          transcode: false,
          credentials: null,
          headers: [],
        },
      ],
      agent: null,
    };
    signaling.configure({ ...config, numbers: [...config.numbers, calledOnly] });
    await lookedUp;
    const address = '203.0.113.9';
    for (let i = 0; i < 20; i++) {
      server.peer({ method: 'OPTIONS', callId: `o${i}`, address });
      const { startLine, headers } = await server.next();
      expect([startLine, headers['x-trunkline-block']]).toEqual(['SIP/2.0 200 OK', undefined]);
    }
    server.peer({ ...invite, address });
    expect((await server.next()).startLine).toBe('SIP/2.0 403 Forbidden');
  });
});

describe('other requests', () => {
  it('OPTIONS lists our capabilities, and gets 503 while draining', async () => {
    server.peer({ method: 'OPTIONS' });
    const ok = await server.next();
    expect(ok.startLine).toBe('SIP/2.0 200 OK');
    expect(ok.headers).toMatchObject({
      accept: 'application/sdp',
      allow: 'INVITE, ACK, BYE, CANCEL, OPTIONS, REFER, NOTIFY, PRACK, UPDATE',
      supported: 'timer, 100rel, replaces, norefersub',
    });
    void calls.drain(0);
    server.peer({ method: 'OPTIONS', callId: 'b' });
    const busy = await server.next();
    expect([busy.startLine, busy.headers['retry-after']]).toEqual(['SIP/2.0 503 Service Unavailable', '10']);
  });

  it.each(['REGISTER', 'MESSAGE', 'SUBSCRIBE', 'INFO', 'PUBLISH'])(
    '%s gets 405 with Allow',
    async (method) => {
      server.peer({ method });
      const answer = await server.next();
      expect(answer.startLine).toBe('SIP/2.0 405 Method Not Allowed');
      expect(answer.headers.allow).toContain('INVITE');
    },
  );

  it('get no answer when their headers are too long to be copied into one', async () => {
    server.peer({ ...invite, from: `<sip:${'a'.repeat(9000)}@x>` });
    await server.idle();
    expect(server.sent).toEqual([]);
    expect(refused).toEqual(['oversized']);
  });

  it('reach us because we subscribed to them', () => {
    expect(server.routes).toEqual([
      'invite',
      'options',
      'register',
      'subscribe',
      'notify',
      'refer',
      'message',
      'info',
      'publish',
      'update',
    ]);
  });
});
