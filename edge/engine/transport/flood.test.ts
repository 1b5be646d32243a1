/**
 * Peers that send too much, read too little or stay silent, against the real program: real TLS, a real
 * application.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type App,
  connectApp,
  EngineProgram,
  leave,
  newApp,
  TestCertificates,
} from '../../../test/kit/edge/engine.ts';
import { TestPeer } from '../../../test/kit/edge/sip-peer.ts';
import { rounds } from '../../../test/kit/long-test.ts';
import { untilClosed } from '../../../test/kit/until-closed.ts';

let certificates: TestCertificates;
let engine: EngineProgram;
let app: App;
let asked: number;
const peers: TestPeer[] = [];

beforeAll(() => {
  certificates = new TestCertificates();
});
afterAll(() => certificates.remove());

async function start(limits: Record<string, number> = {}): Promise<void> {
  engine = await EngineProgram.start(certificates, { limits });
  asked = 0;
  app = newApp();
  app.options((_request, response) => {
    asked++;
    response.send(200);
  });
  await connectApp(engine, app);
}

afterEach(async () => {
  for (const peer of peers.splice(0)) peer.close();
  await leave(app);
  expect(engine.complaints).toEqual([]);
  await engine.stop();
});

async function connect(localAddress = '127.0.0.1'): Promise<TestPeer> {
  const peer = await TestPeer.connect(engine.sipPort, certificates.ca, localAddress);
  peers.push(peer);
  return peer;
}

const options = (number: number, method = 'OPTIONS'): string =>
  [
    `${method} sip:x@127.0.0.1 SIP/2.0`,
    `Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bK-${number}`,
    'From: <sip:a@a>;tag=a',
    'To: <sip:b@b>',
    `Call-ID: call-${number}`,
    `CSeq: 1 ${method}`,
    'Max-Forwards: 70',
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n');

const many = (count: number) => Array.from({ length: count }, (_, number) => options(number)).join('');

describe('a peer that sends thousands of requests in a row', () => {
  const asking = rounds(10_000);

  it('gets every answer when it reads, and its queue stays small', async () => {
    await start({ maxQueuedBytes: 65_536, requestsPerSecond: 100_000 });
    const peer = await connect();
    peer.socket.write(many(asking));
    for (let answers = 0; answers < asking; answers++) expect(await peer.status()).toBe(200);
    expect(asked).toBe(asking);
  });

  it('gets every answer when it reads only after it has sent everything', async () => {
    await start({ maxQueuedBytes: 1_048_576, requestsPerSecond: 100_000 });
    const peer = await connect();
    peer.socket.pause();
    peer.socket.write(many(asking));
    await expect.poll(() => asked).toBeGreaterThan(500);
    peer.socket.resume();
    for (let answers = 0; answers < asking; answers++) expect(await peer.status()).toBe(200);
  });

  it('is cut when it reads none of them, and uses no memory until then', async () => {
    await start({ maxQueuedBytes: 1_048_576, requestsPerSecond: 100_000, writeTimeoutMs: 2_000 });
    const peer = await connect();
    peer.socket.pause();
    const closed = untilClosed(peer.socket);
    for (let part = 0; part < 20; part++) peer.socket.write(many(10_000));
    const line = await engine.logged('the peer does not read: it took nothing for 2 s');
    expect(line).toMatchObject({ remoteAddress: '127.0.0.1' });
    expect(asked).toBeLessThan(100_000);
    peer.socket.resume();
    await closed;
  });
});

describe('strangers that flood the engine', () => {
  const limits = {
    maxConnections: 60,
    strangersPerAddress: 40,
    strangersPerNetwork: 60,
    strangerHandshakesPerNetwork: 1000,
    strangerHandshakesPerSecond: 1000,
    firstMessageTimeoutMs: 600_000,
  };

  it('from two addresses do not keep a known source out', async () => {
    await start(limits);
    const tries = Array.from({ length: 80 }, (_, i) => connect(`127.0.0.${2 + (i % 2)}`));
    const outcomes = await Promise.allSettled(tries);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(30);
    for (let i = 0; i < 60; i++) {
      const peer = await connect();
      peer.socket.write(options(i));
      expect(await peer.status()).toBe(200);
    }
    await expect(connect()).rejects.toThrow();
  });

  it.each([
    ['nothing', 0, ''],
    ['CRLFs', 50, '\r\n\r\n'],
    ['a message, octet by octet', 50, 'OPTIONS sip:b SIP/2.0\r\nX-Long: ?'],
    ['a header without end', 50, 'X-Next: header line\r\n'],
  ])('that send %s are cut', async (_what, everyMs, text) => {
    await start({ ...limits, firstMessageTimeoutMs: 2_000 });
    const stranger = await connect('127.0.0.2');
    const closed = untilClosed(stranger.socket);
    let at = 0;
    if (text.startsWith('X-')) stranger.socket.write('OPTIONS sip:b SIP/2.0\r\n');
    const drip = setInterval(() => {
      if (text.startsWith('O')) stranger.socket.write(text.charAt(Math.min(at++, text.length - 1)));
      else if (text !== '') stranger.socket.write(text);
    }, everyMs || 1000);
    await closed;
    clearInterval(drip);
    await (await connect('127.0.0.2')).close();
  });
});
