/** Input that is not SIP, incomplete or too large gets an error response or a closed connection, and nothing leaks. */
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callAndTalk } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';
import { commandLine, descriptors, residentMiB } from '../kit/programs/processes.ts';

const ownConnections = 3;

let system: TestSystem;
let before: Map<number, number>;
const sockets = new Set<Socket>();

beforeAll(async () => {
  system = await TestSystem.start();
  // The first call loads everything that stays: code, the media worker's memory, keep-alive connections.
  await oneCall();
});

beforeEach(() => {
  before = new Map(system.processes().map((pid) => [pid, descriptors(pid)]));
  // The HTTP connections of this test's own client come and go.
  before.set(system.control.pid, descriptors(system.control.pid) + ownConnections);
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await oneCall();
  expect([...before.keys()].filter((pid) => !system.processes().includes(pid))).toEqual([]);
  await eventually(`descriptors to come back to ${JSON.stringify([...before])}`, () =>
    [...before].every(([pid, count]) => descriptors(pid) <= count) ? true : null,
  ).catch((error: unknown) => {
    throw new Error(
      `${String(error)}; they are ${JSON.stringify([...before.keys()].map((pid) => [commandLine(pid), descriptors(pid)]))}`,
    );
  });
  await eventually('all RTP ports to be free', async () =>
    (await system.busyRtpPorts()).length === 0 ? true : null,
  );
});

afterAll(() => system?.stop());

/** Proves that the edge still works. */
async function oneCall(): Promise<void> {
  const caller = await callAndTalk(system, system.tone.number);
  await caller.media.play(caller.media.toneFrames(400, 5));
  await caller.media.heard(5);
  await caller.hangup();
  await caller.close();
  await system.api.endedCall(caller.callId);
}

/** Different from the callers', so that blocks do not affect them. */
const abuser = '127.0.0.9';
/**
 * The next port of the abuser, each used once: above all that tests listen on (ports.ts) and below the kernel's own, which
 * takes a millisecond of CPU to find a free one among thousands that have just been closed.
 */
let nextPort = 20_000;

function tcp(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const from = { localAddress: abuser, localPort: nextPort++ };
    const socket = connectTcp({ port: system.sipPort, host: '127.0.0.1', ...from }, () => resolve(socket));
    socket.on('error', reject);
    sockets.add(socket);
  });
}

function tls(): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port: system.sipPort, ca: system.ca }, () =>
      resolve(socket),
    );
    socket.on('error', reject);
    socket.setEncoding('latin1');
    sockets.add(socket);
  });
}

/** Received data until the other side closes, or `enough` returns true. */
function answerOf(
  socket: Socket,
  enough: (text: string) => boolean = () => false,
  limitMs = 20_000,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(
      () => reject(new Error(`neither cut nor answered in ${limitMs} ms: ${text}`)),
      limitMs,
    );
    const done = () => {
      clearTimeout(timer);
      resolve(text);
    };
    socket.on('data', (chunk) => {
      text += String(chunk);
      if (enough(text)) done();
    });
    socket.on('error', done);
    socket.on('close', done);
  });
}

function options(headers: readonly string[] = []): string {
  return [
    'OPTIONS sip:edge@127.0.0.1;transport=tls SIP/2.0',
    `Via: SIP/2.0/TLS 127.0.0.1:5;branch=z9hG4bK${randomBytes(8).toString('hex')}`,
    'Max-Forwards: 70',
    'From: <sip:abuse@127.0.0.1>;tag=a',
    'To: <sip:edge@127.0.0.1>',
    `Call-ID: ${randomBytes(8).toString('hex')}`,
    'CSeq: 1 OPTIONS',
    ...headers,
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n');
}

const statusOf = (text: string): number => Number(/^SIP\/2\.0 (\d{3})/.exec(text)?.[1] ?? 0);
const complete = (text: string): boolean => text.includes('\r\n\r\n');

describe('the SIP port', () => {
  test('closes a connection without TLS', async () => {
    const socket = await tcp();
    socket.write('OPTIONS sip:edge SIP/2.0\r\n\r\n');
    await answerOf(socket);
    expect(socket.closed || socket.readableEnded).toBe(true);
  });

  test('closes a connection that sends garbage inside TLS', async () => {
    const socket = await tls();
    socket.write(Buffer.concat([randomBytes(4000), Buffer.from('\r\n\r\n')]));
    const answer = await answerOf(socket);
    expect(answer === '' || statusOf(answer) === 400).toBe(true);
  });

  test('closes a connection whose message is incomplete at the time limit', async () => {
    const socket = await tls();
    socket.write(options().slice(0, 120));
    await answerOf(socket, undefined, 60_000);
    expect(socket.readableEnded || socket.closed).toBe(true);
  });

  test('rejects a header section beyond its limit', async () => {
    const socket = await tls();
    socket.write(options([`X-Long: ${'x'.repeat(200_000)}`]));
    const answer = await answerOf(socket, complete);
    expect(answer === '' || [400, 413, 513].includes(statusOf(answer))).toBe(true);
  });

  test('rejects more headers than its limit', async () => {
    const socket = await tls();
    socket.write(options(Array.from({ length: 2000 }, (_, i) => `X-${i}: ${i}`)));
    const answer = await answerOf(socket, complete);
    expect(answer === '' || [400, 413, 513].includes(statusOf(answer))).toBe(true);
  });

  test('rejects a body beyond its limit without waiting for it', async () => {
    const socket = await tls();
    socket.write(options().replace('Content-Length: 0', 'Content-Length: 2000000000'));
    const answer = await answerOf(socket, complete);
    expect(answer === '' || [400, 413, 513].includes(statusOf(answer))).toBe(true);
  });

  test('answers a message that arrives octet by octet', async () => {
    const socket = await tls();
    const answer = answerOf(socket, complete);
    for (const octet of options()) socket.write(octet, 'latin1');
    expect(statusOf(await answer)).toBe(200);
  });

  test('answers two messages that arrive together', async () => {
    const socket = await tls();
    const twice = (text: string) => text.split('SIP/2.0 200').length === 3;
    const answer = answerOf(socket, twice);
    socket.write(options() + options());
    expect(twice(await answer)).toBe(true);
  });

  test('answers a message followed by garbage, then closes the connection', async () => {
    const socket = await tls();
    const answer = answerOf(socket);
    socket.write(`${options()}GET / HTTP/1.1\r\n\r\n${options()}`);
    expect((await answer).match(/SIP\/2\.0 \d{3}/g)).toEqual(['SIP/2.0 200']);
    expect(socket.readableEnded || socket.closed).toBe(true);
  });

  test('survives hundreds of silent connections', async () => {
    const opened = await Promise.allSettled(Array.from({ length: 400 }, () => tcp()));
    expect(opened.length).toBe(400);
  });

  test('does not grow with ten thousand short connections', async () => {
    const engine = system.processes();
    const memory = new Map(engine.map((pid) => [pid, residentMiB(pid)]));
    for (let round = 0; round < 100; round++) {
      const opened = await Promise.allSettled(Array.from({ length: 100 }, () => tcp()));
      for (const result of opened) if (result.status === 'fulfilled') result.value.destroy();
    }
    for (const [pid, mib] of memory) expect(residentMiB(pid)).toBeLessThan(mib + 60);
  });
});

describe('the RTP ports', () => {
  test('ignore garbage, and the call continues', async () => {
    const caller = await callAndTalk(system, system.tone.number);
    const port = caller.media.remotePort;
    const stranger = createSocket('udp4');
    for (let i = 0; i < 200; i++) stranger.send(randomBytes(20 + (i % 200)), port, '127.0.0.1');
    const forged = Buffer.concat([Buffer.from([0x80, 0x00]), randomBytes(180)]);
    for (let i = 0; i < 200; i++) stranger.send(forged, port, '127.0.0.1');
    await caller.media.play(caller.media.toneFrames(400, 25));
    await caller.media.heard(20);
    await caller.hangup();
    await new Promise<void>((resolve) => stranger.close(resolve));
    await caller.close();
    const { media } = await system.api.endedCall(caller.callId);
    expect(media).toMatchObject({ verdict: 'two_way' });
  });
});

describe('the API', () => {
  test.each([
    ['malformed JSON', '{"phone_number":', 400, 'INVALID_JSON'],
    ['an array instead of an object', '[]', 400, 'INVALID_JSON'],
    ['an unknown property', '{"phone_number":"+14155550188","colour":"red"}', 400, 'UNKNOWN_PROPERTY'],
    ['a wrong type', '{"phone_number":7,"directions":["inbound"]}', 400, 'INVALID_PARAMETER'],
  ])('refuses %s', async (_, body, status, code) => {
    const response = await fetch(`${system.api.url}/v1/sip/attach`, {
      method: 'POST',
      headers: { authorization: system.bootstrap.api_key, 'content-type': 'application/json' },
      body,
    });
    const { errors } = (await response.json()) as { errors: { code: string }[] };
    expect(response.status).toBe(status);
    expect(errors.map((error) => error.code)).toContain(code);
  });

  test('rejects a body beyond its limit', async () => {
    const response = await fetch(`${system.api.url}/v1/sip/attach`, {
      method: 'POST',
      headers: { authorization: system.bootstrap.api_key, 'content-type': 'application/json' },
      body: JSON.stringify({ phone_number: 'x'.repeat(2_000_000) }),
    });
    expect(response.status).toBe(413);
  });
});
