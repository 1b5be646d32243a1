/** The engine in one process, on a clock that the test advances: timers, races and rejections. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import {
  engineConfiguration,
  RawApp,
  SECRET,
  TestCertificates,
  TestPeer,
} from '../../test/kit/edge/engine.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';
import { untilClosed } from '../../test/kit/until-closed.ts';
import { parseConfiguration, stackOptions } from './configuration.ts';
import type { SipMessage, SipRequest, SipResponse } from './message/message.ts';
import { Stack, type StackAddresses } from './stack.ts';
import { DEFAULT_TRANSPORT_LIMITS } from './transport/limits.ts';

const SDP = 'v=0\r\n';

let certificates: TestCertificates;
let clock: FakeClock;
let stack: Stack;
let addresses: StackAddresses;
let app: RawApp;
let peer: TestPeer;
const logged: string[] = [];
const warned: string[] = [];
const refused: Record<string, number>[] = [];

beforeAll(() => {
  certificates = new TestCertificates();
});
afterAll(() => certificates.remove());

beforeEach(async () => {
  clock = new FakeClock();
  logged.length = 0;
  warned.length = 0;
  refused.length = 0;
  const limits = { maxFrameBytes: 4_000, requestsPerSecond: 50, maxMessageBytes: 100_000, maxHeaders: 40 };
  const configuration = JSON.stringify({ ...engineConfiguration(certificates), limits });
  stack = new Stack(
    stackOptions(parseConfiguration(configuration)),
    clock,
    (level, message) => {
      if (level === 'error') logged.push(message);
      if (level === 'warn') warned.push(message);
    },
    (sources) => refused.push(sources),
  );
  addresses = await stack.listen();
  app = await RawApp.routing(addresses.app.port, 'invite', 'options');
  peer = await TestPeer.connect(addresses.tls.port, certificates.ca);
});

afterEach(() =>
  releaseAll(
    () => peer.close(),
    () => app.close(),
    () => stack.close(),
    () => expect(logged).toEqual([]),
  ),
);

let branches = 0;

/** A request as the peer writes it. */
function lines(method: string, cseq: number, changes: Readonly<Record<string, string>> = {}): string[] {
  const fields: Record<string, string> = {
    Via: `SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bK-${++branches}`,
    From: '<sip:a@127.0.0.1>;tag=a',
    To: '<sip:b@127.0.0.1>',
    'Call-ID': 'c',
    CSeq: `${cseq} ${method}`,
    Contact: '<sip:a@127.0.0.1:9;transport=tls>',
    ...changes,
  };
  return [
    `${method} sip:b@127.0.0.1 SIP/2.0`,
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
  ];
}

function response(message: SipMessage): SipResponse {
  if (message.kind !== 'response') throw new Error(`a ${message.method} came instead of a response`);
  return message;
}

function requestOf(message: SipMessage): SipRequest {
  if (message.kind !== 'request') throw new Error(`a ${message.status} came instead of a request`);
  return message;
}

/** A call that the application has answered and the peer has not acknowledged. */
async function answered(): Promise<{
  to: string;
  dialogId: string;
  transactionId: string;
  echo: readonly string[];
}> {
  peer.send(lines('INVITE', 1), SDP);
  const { tokens } = await app.next();
  const transactionId = tokens[8] ?? '';
  const echo = await app.ask(`sip|${transactionId}|`, ['SIP/2.0 200 OK'], SDP);
  const ok = response(await peer.next());
  expect(ok.status).toBe(200);
  return { to: ok.headers.get('to') ?? '', dialogId: echo[8] ?? '', transactionId, echo };
}

/** The same, acknowledged. */
async function established(): Promise<{ to: string; dialogId: string }> {
  const { to, dialogId } = await answered();
  peer.send(lines('ACK', 1, { To: to }));
  await app.next();
  return { to, dialogId };
}

describe('the application port', () => {
  it('accepts nothing before authentication', async () => {
    const stranger = await RawApp.connect(addresses.app.port);
    expect(await stranger.ask('ping')).toEqual(['OK', 'pong']);
    expect(await stranger.ask('route|invite')).toEqual(['NO', 'authenticate first']);
    await untilClosed(stranger.socket);
  });

  it('closes after a wrong secret, and when no secret arrives', async () => {
    const stranger = await RawApp.connect(addresses.app.port);
    expect(await stranger.ask('authenticate|wrong|')).toEqual(['NO', 'incorrect secret']);
    await untilClosed(stranger.socket);
    const silent = await RawApp.connect(addresses.app.port);
    expect(await silent.ask('ping')).toEqual(['OK', 'pong']);
    clock.advance(10_000);
    await untilClosed(silent.socket);
  });

  it('announces where SIP is served, with a version that makes applications send pings', async () => {
    const other = await RawApp.connect(addresses.app.port);
    const where = `tls/127.0.0.1:${addresses.tls.port}`;
    const answer = await other.ask(`authenticate|${SECRET}|tag`);
    expect(answer).toEqual(['OK', where, 'v0.9.10-trunkline', where]);
    other.close();
  });

  it('rejects what it cannot do, and stays connected', async () => {
    expect(await app.ask('sip|')).toEqual(['NOK', 'a sip frame needs at least four tokens']);
    expect(await app.ask('sip||', ['nonsense'])).toEqual(['NOK', 'malformed SIP message: nonsense']);
    expect(await app.ask('dance')).toEqual(['NO', 'Unknown message type']);
    expect(await app.ask('sip||', ['OPTIONS sip:x SIP/2.0'], 'x'.repeat(5_000))).toEqual([
      'NOK',
      'frame of 5037 octets is larger than the limit of 4000',
    ]);
    expect((await app.ask('proxy|x|||||||sip:x', ['INVITE sip:x SIP/2.0']))[0]).toBe('NOK');
    expect(await app.ask('sip|unknown|', ['SIP/2.0 200 OK'])).toEqual([
      'NOK',
      'Response not sent due to unknown transaction',
    ]);
    expect(await app.ask('sip|unknown|', ['CANCEL sip:x SIP/2.0'])).toEqual([
      'NOK',
      'unable to cancel unknown transaction id: unknown',
    ]);
    expect(await app.ask('sip||gone', ['INFO sip:placeholder SIP/2.0'])).toEqual([
      'NOK',
      'Server error: unable to find dialog for dialog id provided',
    ]);
    expect(await app.ask('sip||', ['OPTIONS http://x SIP/2.0'])).toEqual([
      'NOK',
      'invalid request-uri: OPTIONS http://x',
    ]);
    expect(await app.ask('ping')).toEqual(['OK', 'pong']);
  });

  it('stops routing only the named verb', async () => {
    expect(await app.ask('remove_route|invite')).toEqual(['OK']);
    peer.send(lines('INVITE', 1));
    expect(await peer.status()).toBe(503);
    peer.send(lines('OPTIONS', 2));
    expect((await app.next()).tokens[1]).toBe('sip');
  });
});

describe('an incoming call', () => {
  it('is delivered, answered, acknowledged and ended in the frames that applications expect', async () => {
    const invite = lines('INVITE', 1);
    peer.send(invite, SDP);
    const { tokens, sip } = await app.next();
    const transactionId = tokens[8] ?? '';
    const at = ['tls', '127.0.0.1', `${peer.port}`];
    const time = tokens[7] ?? '';
    expect(tokens.slice(1)).toEqual([
      ...['sip', 'network', `${sip.length}`, ...at, time, transactionId, ''],
      ...['127.0.0.1', `${addresses.tls.port}`, ''],
    ]);
    expect(time).toBe('00:00:00.000000');
    expect(transactionId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    const text = [...invite, 'Content-Length: 5'].join('\r\n');
    expect(sip.toString()).toBe(`${text.replace(/(branch=\S+)/, `$1;rport=${peer.port}`)}\r\n\r\n${SDP}`);

    const head = [
      'SIP/2.0 200 Fine',
      'to: <sip:b@127.0.0.1>',
      'via: mine',
      'content-length: 999',
      'x-low: 1',
    ];
    app.send(`sip|${transactionId}|`, [...head, 'user-agent: t', 'X-Keep: 2'], SDP);
    const echo = await app.next();
    const ok = response(await peer.next());
    expect(peer.received.map((message) => response(message).status)).toEqual([100, 200]);
    const to = ok.headers.get('to') ?? '';
    expect(echo.sip.toString()).toBe(
      [
        'SIP/2.0 200 Fine',
        `Via: SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bK-${branches};rport=${peer.port}`,
        'From: <sip:a@127.0.0.1>;tag=a',
        `To: ${to}`,
        'Call-ID: c',
        'CSeq: 1 INVITE',
        `Contact: <sip:127.0.0.1:${addresses.tls.port};transport=tls>`,
        'X-Low: 1',
        'User-Agent: t',
        'X-Keep: 2',
        'Content-Type: application/sdp',
        'Content-Length: 5',
        '',
        SDP,
      ].join('\r\n'),
    );
    const dialogId = 'c;from-tag=a';
    expect(echo.tokens.slice(3)).toEqual([
      ...['OK', 'application', `${echo.sip.length}`, ...at, time, transactionId],
      ...[dialogId, '', 'Msg sent:', ''],
    ]);

    peer.send(lines('ACK', 1, { To: to }));
    expect((await app.next()).tokens.slice(8, 10)).toEqual([transactionId, dialogId]);
    peer.send(lines('BYE', 2, { To: to }));
    const bye = await app.next();
    expect(bye.tokens[8]).not.toBe(transactionId);
    expect(bye.tokens.slice(9)).toEqual([dialogId, '']);
    expect((await app.ask(`sip|${bye.tokens[8]}|`, ['SIP/2.0 200 OK']))[8]).toBe('');
    expect(await peer.status()).toBe(200);
    expect(stack.metrics()).toMatchObject({ dialogs: 0, server_transactions: 0, client_transactions: 0 });
  });

  it('has its 200 retransmitted until the ACK, and ends after 32 s without one', async () => {
    const { dialogId } = await answered();
    clock.advance(500);
    clock.advance(1_000);
    expect([await peer.status(), await peer.status()]).toEqual([200, 200]);
    clock.advance(30_500);
    // After 3.5, 7.5, 11.5 s and so on: T2 is the longest interval.
    for (let i = 0; i < 8; i++) expect(await peer.status()).toBe(200);
    const bye = requestOf(await peer.next());
    expect(bye.headers.get('reason')).toBe('SIP;cause=200;text="ACK timeout"');
    expect(bye.headers.get('cseq')).toBe('2 BYE');
    const { tokens } = await app.next();
    expect([tokens[2], tokens[8], tokens[9]]).toEqual(['application', 'unsolicited', dialogId]);
  });

  it('holds a BYE from the application until the ACK', async () => {
    const { to, dialogId } = await answered();
    expect((await app.ask(`sip||${dialogId}`, ['BYE sip:placeholder SIP/2.0']))[0]).toBe('OK');
    peer.send(lines('OPTIONS', 5, { 'Call-ID': 'other' }));
    const options = await app.next();
    await app.ask(`sip|${options.tokens[8]}|`, ['SIP/2.0 200 OK']);
    expect(await peer.status()).toBe(200);
    peer.send(lines('ACK', 1, { To: to }));
    expect(requestOf(await peer.next()).method).toBe('BYE');
  });

  it('is canceled: 200, 487, and a late answer from the application is rejected', async () => {
    const invite = lines('INVITE', 1);
    peer.send(invite);
    const { tokens } = await app.next();
    const via = invite[1]?.slice('Via: '.length) ?? '';
    peer.send(lines('CANCEL', 1, { Via: via }));
    expect([await peer.status(), await peer.status()]).toEqual([200, 487]);
    const cancel = await app.next();
    expect(cancel.tokens.slice(8, 10)).toEqual([tokens[8], '']);
    expect(cancel.sip.toString()).toMatch(/^CANCEL /);
    expect(await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK'])).toEqual([
      'NOK',
      'Response not sent due to unknown transaction',
    ]);
    peer.send(lines('ACK', 1, { Via: via }));
    peer.send(lines('CANCEL', 9));
    expect(await peer.status()).toBe(481);
    expect(stack.metrics()).toMatchObject({ server_transactions: 0 });
  });

  it('is answered 408 when the application does not answer for 64 s', async () => {
    peer.send(lines('INVITE', 1));
    await app.next();
    clock.advance(64_000);
    expect(await peer.status()).toBe(408);
  });

  it('is rejected when its reliable provisional response is not acknowledged', async () => {
    peer.send(lines('INVITE', 1, { Supported: '100rel' }));
    const { tokens } = await app.next();
    await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 183 Progress', 'require: 100rel'], SDP);
    const first = response(await peer.next());
    clock.advance(500);
    expect(response(await peer.next()).headers.get('rseq')).toBe(first.headers.get('rseq'));
    clock.advance(31_500);
    for (let i = 0; i < 5; i++) expect(await peer.status()).toBe(183);
    expect(await peer.status()).toBe(504);
    expect(stack.metrics()).toMatchObject({ dialogs: 0 });
  });

  it('ends early by BYE: the BYE is answered, then the INVITE', async () => {
    peer.send(lines('INVITE', 1));
    const { tokens } = await app.next();
    await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 180 Ringing']);
    const ringing = response(await peer.next());
    peer.send(lines('BYE', 2, { To: ringing.headers.get('to') ?? '' }));
    const bye = await app.next();
    await app.ask(`sip|${bye.tokens[8]}|`, ['SIP/2.0 200 OK']);
    expect([await peer.status(), await peer.status()]).toEqual([200, 487]);
  });
});

describe('a caller whose connection closes while it rings', () => {
  it.each(['SIP/2.0 480 Temporarily Unavailable', 'SIP/2.0 200 OK'])(
    'leaves no state after %s',
    async (final) => {
      peer.send(lines('INVITE', 1), SDP);
      const { tokens } = await app.next();
      await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 180 Ringing']);
      expect(stack.metrics()).toMatchObject({ dialogs: 1 });
      peer.close();
      await expect.poll(() => stack.metrics().transport_inbound).toBe(0);
      const cancel = await app.next();
      expect([cancel.tokens[8], cancel.sip.toString().split(' ')[0]]).toEqual([tokens[8], 'CANCEL']);
      expect(cancel.sip.toString()).toContain('Reason: SIP;cause=487;text="connection lost"');
      expect(await app.ask(`sip|${tokens[8]}|`, [final], SDP)).toEqual([
        'NOK',
        'Response not sent due to unknown transaction',
      ]);
      expect(stack.metrics()).toMatchObject({ dialogs: 0 });
      clock.advance(32_000);
      expect(stack.metrics()).toMatchObject({ server_transactions: 0 });
    },
  );
});

it('a BYE from the application ends the dialog even when the Contact cannot be reached', async () => {
  peer.send(lines('INVITE', 1, { Contact: '<sip:a@127.0.0.1;transport=udp>' }), SDP);
  const { tokens } = await app.next();
  const echo = await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK'], SDP);
  const to = response(await peer.next()).headers.get('to') ?? '';
  peer.send(lines('ACK', 1, { To: to }));
  await app.next();
  peer.close();
  await expect.poll(() => stack.metrics().transport_inbound).toBe(0);
  expect((await app.ask(`sip||${echo[8]}`, ['BYE sip:a@127.0.0.1 SIP/2.0']))[0]).toBe('OK');
  expect((await app.next()).sip.toString()).toMatch(/^SIP\/2\.0 503 /);
  expect(stack.metrics()).toMatchObject({ dialogs: 0 });
});

describe('requests that concern no application', () => {
  it('are answered by the engine', async () => {
    const { to } = await established();
    for (const [request, status] of [
      [lines('BYE', 2), 481],
      [lines('BYE', 2, { To: '<sip:b@127.0.0.1>;tag=nobody' }), 481],
      [lines('DANCE', 2), 405],
      [lines('OPTIONS', 2, { 'Call-ID': 'o', Require: 'magic, timer' }), 420],
      [lines('INFO', 1, { To: to }), 500],
      [lines('PRACK', 3, { To: to, RAck: '1 1 INVITE' }), 481],
      [lines('MESSAGE', 4, { 'Call-ID': 'm' }), 503],
    ] as const) {
      peer.send(request);
      const refusal = response(await peer.next());
      expect([request[0], refusal.status]).toEqual([request[0], status]);
      if (status === 405)
        expect(refusal.headers.get('allow')).toBe(
          'INVITE, ACK, BYE, CANCEL, OPTIONS, REFER, NOTIFY, PRACK, UPDATE',
        );
      if (status === 420) expect(refusal.headers.get('unsupported')).toBe('magic');
    }
    // Reported together, without those of a call and those that nobody routes.
    expect(refused).toEqual([]);
    clock.advance(100);
    expect(refused).toEqual([{ '127.0.0.1': 4 }]);
    clock.advance(1_000);
    expect(refused).toHaveLength(1);
  });

  it('may have any size and number of header lines up to the configured limits', async () => {
    const pad = (count: number) => Array.from({ length: count }, (_, i) => `X-Pad-${i}: x`);
    peer.send(lines('DANCE', 1, { 'Call-ID': 'large', 'X-Pad': 'x'.repeat(90_000) }));
    expect(await peer.status()).toBe(405);
    peer.send([...lines('DANCE', 1, { 'Call-ID': 'few' }), ...pad(32)]);
    expect(await peer.status()).toBe(405);
    peer.send([...lines('DANCE', 1, { 'Call-ID': 'many' }), ...pad(41)]);
    const refusal = response(await peer.next());
    expect([refusal.status, refusal.reason]).toEqual([513, 'Too Many Header Fields']);
  });

  it('are absorbed when retransmitted, and rejected when they arrive on two paths', async () => {
    const options = lines('OPTIONS', 1);
    peer.send(options);
    peer.send(options);
    peer.send(lines('OPTIONS', 1));
    expect(await peer.status()).toBe(482);
    const { tokens } = await app.next();
    await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK']);
    expect(await peer.status()).toBe(200);
    expect(app.frames.filter((frame) => frame.tokens[1] === 'sip')).toHaveLength(1);
  });

  it('are rejected while another INVITE is pending in the dialog', async () => {
    const { to, dialogId } = await established();
    app.send(`sip||${dialogId}`, ['INVITE sip:placeholder SIP/2.0'], SDP);
    const invite = requestOf(await peer.next());
    peer.send(lines('INVITE', 2, { To: to }));
    expect(await peer.status()).toBe(491);
    expect(invite.headers.get('cseq')).toBe('2 INVITE');
  });

  it('are dropped silently above the allowed rate', async () => {
    for (let i = 0; i < 103; i++) peer.send(lines('DANCE', 1));
    for (let i = 0; i < 100; i++) expect(await peer.status()).toBe(405);
    peer.socket.end();
    await untilClosed(peer.socket);
    expect(peer.received).toHaveLength(100);
    expect(stack.metrics()).toMatchObject({ requests_over_rate: 3 });
    expect(warned).toEqual(["requests above the source's rate limit are dropped"]);
  });

  it('block their source when the application says so', async () => {
    peer.send(lines('OPTIONS', 1));
    const { tokens } = await app.next();
    app.send(`sip|${tokens[8]}|`, ['SIP/2.0 404 Not Found', 'X-Trunkline-Block: 60']);
    const echo = await app.next();
    expect(echo.sip.toString()).not.toContain('Trunkline');
    await untilClosed(peer.socket);
    await expect(TestPeer.connect(addresses.tls.port, certificates.ca)).rejects.toThrow();
  });

  it('block their source when the edge says so', async () => {
    stack.block('127.0.0.1', 60);
    await untilClosed(peer.socket);
    await expect(TestPeer.connect(addresses.tls.port, certificates.ca)).rejects.toThrow();
    clock.advance(60_000);
    (await TestPeer.connect(addresses.tls.port, certificates.ca)).close();
  });
});

describe('a request with malformed line endings', () => {
  const text = (changes: Readonly<Record<string, string>> = {}) =>
    `${[...lines('OPTIONS', 1, changes), 'Content-Length: 0'].join('\r\n')}\r\n\r\n`;

  it.each([
    ['CRCRLF', () => text().replaceAll('\r\n', '\r\r\n')],
    ['CRCRLF at its end', () => text().replace(/\r\n\r\n$/, '\r\n\r\r\n')],
    ['a bare CR before CSeq', () => text().replace('\r\nCSeq', '\rCSeq')],
    ['LFCR before CSeq', () => text().replace('\r\nCSeq', '\n\rCSeq')],
    ['LFCR everywhere', () => text().replaceAll('\r\n', '\n\r')],
    ['a bare CR everywhere', () => text().replaceAll('\r\n', '\r')],
    ['a bare CR before Via', () => text().replace('\r\nVia', '\rVia')],
  ])('is answered 400 or ends the connection at once: %s', async (_what, request) => {
    const end = untilClosed(peer.socket).then(() => 'closed');
    peer.socket.write(request());
    const outcome = await Promise.race([end, peer.status().catch(() => 'closed')]);
    expect([400, 'closed']).toContain(outcome);
    // It is finished: nothing more of it is awaited.
    await expect.poll(() => stack.metrics().transport_unfinished_bytes).toBe(0);
  });

  it('is answered when possible, and the connection stays usable', async () => {
    peer.socket.write(text({ Subject: 'a\rb' }));
    expect(await peer.status()).toBe(400);
    peer.send(lines('DANCE', 2));
    expect(await peer.status()).toBe(405);
  });
});

describe('a valid request followed by garbage', () => {
  const garbage = 'GET / HTTP/1.1\r\n\r\n';
  const send = (...requests: string[][]) =>
    peer.socket.write(
      `${requests.map((request) => `${[...request, 'Content-Length: 0'].join('\r\n')}\r\n\r\n`).join('')}${garbage}`,
    );

  it('is answered before the connection is closed, and nothing more is read', async () => {
    const closed = untilClosed(peer.socket);
    send(lines('OPTIONS', 1), lines('INVITE', 1, { 'Call-ID': 'second' }));
    const [options, invite] = [await app.next(), await app.next()];
    peer.send(lines('OPTIONS', 1, { 'Call-ID': 'unread' }));
    await app.ask(`sip|${options.tokens[8]}|`, ['SIP/2.0 200 OK']);
    expect(await peer.status()).toBe(200);
    await app.ask(`sip|${invite.tokens[8]}|`, ['SIP/2.0 180 Ringing']);
    await app.ask(`sip|${invite.tokens[8]}|`, ['SIP/2.0 486 Busy Here']);
    expect([await peer.status(), await peer.status()]).toEqual([180, 486]);
    await closed;
    expect(app.frames.filter((frame) => frame.sip.toString().includes('unread'))).toEqual([]);
    await expect.poll(() => stack.metrics().transport_inbound).toBe(0);
    // Timer H: the ACK of the 486 can no longer arrive.
    clock.advance(32_000);
    expect(stack.metrics()).toMatchObject({ server_transactions: 0, dialogs: 0 });
  });

  it('is given up after two seconds without an answer', async () => {
    const closed = untilClosed(peer.socket);
    send(lines('OPTIONS', 1));
    const { tokens } = await app.next();
    clock.advance(2_000);
    await closed;
    await expect.poll(() => stack.metrics().transport_inbound).toBe(0);
    expect((await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK']))[0]).toBe('NOK');
    expect(stack.metrics()).toMatchObject({ server_transactions: 0 });
  });

  it('in a call ends the connection, not the call', async () => {
    const { to, dialogId } = await established();
    const closed = untilClosed(peer.socket);
    send(lines('INFO', 2, { To: to }));
    const { tokens } = await app.next();
    // Nothing can be received over this connection, so a new one is tried, to the Contact's port 9.
    const bye = await app.ask(`sip||${dialogId}`, ['BYE sip:placeholder SIP/2.0']);
    expect(bye[0]).toBe('OK');
    const outcome = await app.next();
    expect([outcome.tokens[8], outcome.sip.toString().split('\r\n')[0]]).toEqual([
      bye[7],
      'SIP/2.0 503 Service Unavailable',
    ]);
    await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK']);
    expect(await peer.status()).toBe(200);
    await closed;
    expect(stack.metrics()).toMatchObject({ dialogs: 0 });
  });
});

describe('connections to the Contacts of peers', () => {
  /** TLS servers of peers that answer every ping and no request. */
  const servers: Server[] = [];

  // Connections still open close with the stack.
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  async function contactOf(host: string): Promise<string> {
    const pair = { cert: readFileSync(certificates.cert), key: readFileSync(certificates.key) };
    const server = createServer(pair, (socket) => {
      socket.on('error', () => {});
      socket.on('data', (octets: Buffer) => {
        if (octets.toString() === '\r\n\r\n') socket.write('\r\n');
      });
    });
    servers.push(server);
    server.listen(0, host);
    await once(server, 'listening');
    const address = server.address();
    return `<sip:a@${host}:${typeof address === 'object' ? address?.port : 0};transport=tls>`;
  }

  /** Calls that are answered and never acknowledged, one for each Contact; then their connection closes. */
  async function abandonedCalls(contacts: readonly string[]): Promise<void> {
    for (const [i, contact] of contacts.entries()) {
      peer.send(lines('INVITE', 1, { 'Call-ID': `call-${i}`, Contact: contact }), SDP);
      const { tokens } = await app.next();
      expect((await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK'], SDP))[0]).toBe('OK');
      // The peer may send 50 requests a second.
      if (i % 40 === 39) clock.advance(1_000);
    }
    peer.close();
  }

  const figure = (name: string) => expect.poll(() => stack.metrics()[name], { timeout: 10_000 });

  /** Advances the clock second by second; peers have time to answer in each. */
  async function pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds; i++) {
      clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('end a minute after the last message, even when the peers answer pings', async () => {
    await abandonedCalls(await Promise.all(Array.from({ length: 20 }, () => contactOf('127.0.0.1'))));
    await figure('transport_peer_places').toBe(20);
    // The ACKs do not arrive, then the BYEs are not answered.
    await pass(32 + 32 + 60);
    await figure('transport_outbound').toBe(0);
    expect(stack.metrics()).toMatchObject({ transport_peer_places: 0, client_transactions: 0 });
  });

  it('are limited per network', async () => {
    const most = DEFAULT_TRANSPORT_LIMITS.peerPlacesPerNetwork;
    const contacts = await Promise.all(Array.from({ length: most + 20 }, () => contactOf('127.0.0.1')));
    await abandonedCalls(contacts);
    await figure('transport_connected').toBe(most);
    // A call whose peer cannot be called back has ended.
    await figure('dialogs').toBe(most);
    expect(stack.metrics()).toMatchObject({ transport_outbound: most, transport_peer_places: most });
    expect(stack.metrics().transport_peer_places_refused).toBeGreaterThanOrEqual(20);
  });
});

describe('targets that peers name in Record-Route', () => {
  let server: Server;
  let place: string;
  let connections: number;

  beforeEach(async () => {
    connections = 0;
    server = createServer({ cert: readFileSync(certificates.cert), key: readFileSync(certificates.key) });
    server.on('connection', () => connections++);
    server.on('tlsClientError', () => {});
    server.listen(0, '127.0.0.9');
    await once(server, 'listening');
    const address = server.address();
    place = `127.0.0.9:${typeof address === 'object' ? address?.port : 0}`;
  });
  afterEach(() => void server.close());

  /** Status and Warning of the BYE of a call whose connection is gone. */
  async function byeOf(route: string): Promise<string> {
    const fields = { 'Record-Route': `<sip:${route};transport=tls;lr>` };
    peer.send(lines('INVITE', 1, fields), SDP);
    const { tokens } = await app.next();
    const echo = await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK'], SDP);
    const to = response(await peer.next()).headers.get('to') ?? '';
    peer.send(lines('ACK', 1, { To: to }));
    await app.next();
    peer.close();
    await expect.poll(() => stack.metrics().transport_inbound, { timeout: 10_000 }).toBe(0);
    expect((await app.ask(`sip||${echo[8]}`, ['BYE sip:placeholder SIP/2.0']))[0]).toBe('OK');
    return (await app.next()).sip.toString();
  }

  it('are not contacted when they are private and not the peer itself, and the dialog ends', async () => {
    const outcome = await byeOf(place);
    expect(outcome).toMatch(/^SIP\/2\.0 503 /);
    expect(outcome).toMatch(/^Warning: .*loopback address.*ALLOW_PRIVATE_TARGETS/m);
    expect(connections).toBe(0);
    expect(stack.metrics()).toMatchObject({
      dialogs: 0,
      transport_peer_places: 0,
      transport_peer_places_not_allowed: 1,
    });
  });

  it('are contacted when the operator allows their network', async () => {
    stack.setAllowedTargets(parseNetworks(['127.0.0.0/29', '127.0.0.9']));
    expect(await byeOf(place)).toMatch(/^SIP\/2\.0 503 /);
    expect(connections).toBe(1);
    expect(stack.metrics()).toMatchObject({ dialogs: 0, transport_peer_places_not_allowed: 0 });
  });
});

describe('an outgoing call', () => {
  let server: Server;
  let accepted: Promise<TestPeer>;
  let uri: string;

  beforeEach(async () => {
    server = createServer({ cert: readFileSync(certificates.cert), key: readFileSync(certificates.key) });
    accepted = once(server, 'secureConnection').then(([socket]: TLSSocket[]) => {
      if (!socket) throw new Error('no connection');
      return TestPeer.accepted(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    uri = `sip:b@127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  });

  afterEach(async () => {
    (await accepted).close();
    server.close();
  });

  /** A response from the callee to an INVITE that the engine sent. */
  function reply(callee: TestPeer, invite: SipRequest, status: number, toTag: string): void {
    callee.send([
      `SIP/2.0 ${status} X`,
      ...['via', 'from', 'call-id', 'cseq'].map((name) => `${name}: ${invite.headers.get(name)}`),
      `to: ${invite.headers.get('to')};tag=${toTag}`,
      'contact: <sip:callee@127.0.0.1:9>',
    ]);
  }

  async function invited(): Promise<{ callee: TestPeer; invite: SipRequest; transactionId: string }> {
    const echo = await app.ask('sip||', [`INVITE ${uri} SIP/2.0`], SDP);
    const callee = await accepted;
    return { callee, invite: requestOf(await callee.next()), transactionId: echo[7] ?? '' };
  }

  it('is completed with everything that the application left out', async () => {
    const { invite } = await invited();
    const contact = `<sip:127.0.0.1:${addresses.tls.port};transport=tls>`;
    expect(invite.uri).toBe(uri);
    expect(invite.headers.get('via')).toMatch(
      new RegExp(
        `^SIP/2\\.0/TLS 127\\.0\\.0\\.1:${addresses.tls.port};branch=z9hG4bK[0-9a-f]{24};rport;alias$`,
      ),
    );
    expect(invite.headers.get('max-forwards')).toBe('70');
    expect(invite.headers.get('from')).toMatch(/^<sip:127\.0\.0\.1:\d+;transport=tls>;tag=[0-9a-f]{16}$/);
    expect(invite.headers.get('to')).toBe(`<${uri}>`);
    expect(invite.headers.get('contact')).toBe(contact);
    expect(invite.headers.get('content-type')).toBe('application/sdp');
    expect(invite.body.toString()).toBe(SDP);
  });

  it('gets a 408 when nobody answers for 32 s', async () => {
    const { transactionId } = await invited();
    clock.advance(32_000);
    const { tokens, sip } = await app.next();
    expect(tokens.slice(2, 9)).toEqual(['network', '0', 'tls', '', '0', '00:00:32.000000', transactionId]);
    expect(sip.toString()).toMatch(/^SIP\/2\.0 408 Request Timeout\r\n/);
  });

  it('without any traffic for 4 s leaves its connection to requests in progress', async () => {
    const { callee, invite, transactionId } = await invited();
    clock.advance(3_999);
    expect(warned).toEqual([]);
    clock.advance(1);
    expect(stack.metrics()).toMatchObject({ flows_set_aside: 1, transport_outbound: 1 });
    expect(warned).toEqual(['no new requests on this connection: its peer is silent']);
    const another = once(server, 'secureConnection');
    await app.ask('sip||', [`OPTIONS ${uri} SIP/2.0`]);
    const [socket]: TLSSocket[] = await another;
    reply(callee, invite, 200, 'x');
    expect((await app.next()).tokens[8]).toBe(transactionId);
    socket?.destroy();
    await app.next();
  });

  it('that is answered in time shares its connection with later calls', async () => {
    const { callee, invite } = await invited();
    reply(callee, invite, 180, 'x');
    await app.next();
    clock.advance(10_000);
    await app.ask('sip||', [`OPTIONS ${uri} SIP/2.0`]);
    expect(requestOf(await callee.next()).method).toBe('OPTIONS');
    expect(warned).toEqual([]);
  });

  it('that gets no answer abandons a connection on which nothing was received', async () => {
    const { callee } = await invited();
    clock.advance(32_000);
    await app.next();
    await untilClosed(callee.socket);
    await expect.poll(() => stack.metrics().transport_outbound).toBe(0);
    expect(stack.metrics()).toMatchObject({ flows_given_up: 1 });
    expect(warned).toEqual([
      'no new requests on this connection: its peer is silent',
      'connection closed: its peer has gone silent',
    ]);
    const again = once(server, 'secureConnection');
    await app.ask('sip||', [`OPTIONS ${uri} SIP/2.0`]);
    const [socket]: TLSSocket[] = await again;
    socket?.destroy();
  });

  it('that gets no answer keeps a connection on which anything was received', async () => {
    const { callee } = await invited();
    callee.socket.write('\r\n');
    callee.send(lines('OPTIONS', 1));
    await app.next();
    clock.advance(32_000);
    await app.next();
    expect(callee.socket.destroyed).toBe(false);
    expect(stack.metrics()).toMatchObject({ transport_outbound: 1 });
  });

  it.each([
    ['SIP/2.0 999 What\r\n\r\n'],
    ['SIP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ])('keeps ringing when its connection delivers %j', async (foreign) => {
    const { callee, invite, transactionId } = await invited();
    reply(callee, invite, 180, 'x');
    await app.next();
    callee.socket.write(foreign);
    reply(callee, invite, 200, 'x');
    const { tokens, sip } = await app.next();
    expect([tokens[8], sip.toString().split('\r\n')[0]]).toEqual([transactionId, 'SIP/2.0 200 X']);
    const { messages_malformed: malformed = 0, responses_unmatched: unmatched = 0 } = stack.metrics();
    expect(malformed + unmatched).toBe(1);
    expect(warned).toEqual(['unreadable message dropped']);
  });

  it('is answered by any 2xx, acknowledged, and ended in its dialog (13.2.2.4)', async () => {
    const { callee, invite } = await invited();
    reply(callee, invite, 202, 'x');
    const dialogId = (await app.next()).tokens[9];
    expect((await app.ask(`sip||${dialogId}`, ['ACK sip:placeholder SIP/2.0']))[0]).toBe('OK');
    const ack = requestOf(await callee.next());
    expect([ack.method, ack.uri]).toEqual(['ACK', 'sip:callee@127.0.0.1:9']);
    reply(callee, invite, 202, 'x');
    expect(requestOf(await callee.next()).headers.get('via')).toBe(ack.headers.get('via'));
    expect((await app.ask(`sip||${dialogId}`, ['BYE sip:placeholder SIP/2.0']))[0]).toBe('OK');
    expect(requestOf(await callee.next()).headers.get('to')).toBe(`<${uri}>;tag=x`);
  });

  it('gets a 503 at once when the connection is lost', async () => {
    const { callee } = await invited();
    callee.close();
    const { sip } = await app.next();
    expect(sip.toString()).toMatch(/^SIP\/2\.0 503 Service Unavailable\r\n/);
    expect(sip.toString()).toMatch(/Warning: 399 \S+ "127\.0\.0\.1:\d+: connection lost: /);
  });

  it('is canceled after 185 s of ringing', async () => {
    const { callee, invite } = await invited();
    reply(callee, invite, 180, 'x');
    await app.next();
    clock.advance(185_000);
    expect(requestOf(await callee.next()).method).toBe('CANCEL');
  });

  it('that is answered while being canceled ends right after the ACK', async () => {
    const { callee, invite, transactionId } = await invited();
    reply(callee, invite, 180, 'x');
    await app.next();
    expect((await app.ask(`sip|${transactionId}|`, [`CANCEL ${uri} SIP/2.0`]))[0]).toBe('OK');
    expect(requestOf(await callee.next()).method).toBe('CANCEL');
    reply(callee, invite, 200, 'x');
    const dialogId = (await app.next()).tokens[9];
    expect((await app.ask(`sip||${dialogId}`, ['ACK sip:placeholder SIP/2.0']))[0]).toBe('OK');
    expect(requestOf(await callee.next()).method).toBe('ACK');
    expect(requestOf(await callee.next()).headers.get('reason')).toContain('cancel race');
    expect((await app.next()).tokens[8]).toBe('unsolicited');
  });

  it('resends its ACK for a retransmitted 200, and ends the call of a second fork', async () => {
    const { callee, invite } = await invited();
    reply(callee, invite, 200, 'x');
    const dialogId = (await app.next()).tokens[9];
    await app.ask(`sip||${dialogId}`, ['ACK sip:placeholder SIP/2.0']);
    const ack = requestOf(await callee.next());
    expect([ack.method, ack.uri]).toEqual(['ACK', 'sip:callee@127.0.0.1:9']);
    reply(callee, invite, 200, 'x');
    expect(requestOf(await callee.next()).headers.get('via')).toBe(ack.headers.get('via'));
    reply(callee, invite, 200, 'y');
    const [forkAck, forkBye] = [requestOf(await callee.next()), requestOf(await callee.next())];
    expect([forkAck.method, forkBye.method]).toEqual(['ACK', 'BYE']);
    expect(forkBye.headers.get('to')).toBe(`<${uri}>;tag=y`);
  });

  it("that fails is acknowledged by the engine, and the application's ACK is rejected", async () => {
    const { callee, invite, transactionId } = await invited();
    reply(callee, invite, 486, 'x');
    expect(requestOf(await callee.next()).method).toBe('ACK');
    const { tokens } = await app.next();
    expect(tokens[8]).toBe(transactionId);
    expect(await app.ask(`sip||${tokens[9]}`, ['ACK sip:placeholder SIP/2.0'])).toEqual([
      'NOK',
      'Server error: ACK for non-success final response is automatically generated by server',
    ]);
  });
});
