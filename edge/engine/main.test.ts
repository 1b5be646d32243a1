import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HepStream } from '#shared/hep.ts';
import { EngineProgram, engineConfiguration, TestCertificates } from '../../test/kit/edge/engine.ts';
import { RawApp } from '../../test/kit/edge/raw-app.ts';
import { TestPeer } from '../../test/kit/edge/sip-peer.ts';
import { untilClosed } from '../../test/kit/until-closed.ts';

let certificates: TestCertificates;

beforeAll(() => {
  certificates = new TestCertificates();
});
afterAll(() => certificates.remove());

it('exits with code 0 at the end of its input, on the stop command and on SIGTERM', async () => {
  const [input, command, signal] = await Promise.all([
    EngineProgram.start(certificates),
    EngineProgram.start(certificates),
    EngineProgram.start(certificates),
  ]);
  const peer = await TestPeer.connect(command.sipPort, certificates.ca);
  const app = await RawApp.routing(command.appPort, 'invite');
  command.child.stdin.write('{"command":"reload-certificates"}\n{"command":"stop"}\n');
  signal.child.kill('SIGTERM');
  expect(await Promise.all([input.stop(), command.exit, signal.exit])).toEqual([0, 0, 0]);
  expect(command.events.map(({ message }) => message)).toContain('certificates reloaded');
  expect([...input.complaints, ...command.complaints, ...signal.complaints]).toEqual([]);
  peer.close();
  app.close();
});

it('reports the requests that it rejected, and blocks their source on command', async () => {
  const engine = await EngineProgram.start(certificates);
  engine.know({});
  const peer = await TestPeer.connect(engine.sipPort, certificates.ca);
  let rejections = 0;
  createInterface({ input: engine.child.stdout }).on('line', (line) => {
    const { event, sources } = JSON.parse(line);
    if (event === 'refusals') rejections += sources['127.0.0.1'];
  });
  const outside = [
    ['DANCE', 405, '<sip:b@b>'],
    ['BYE', 481, '<sip:b@b>'],
    ['BYE', 481, '<sip:b@b>;tag=never'],
    ['CANCEL', 481, '<sip:b@b>'],
    ['UPDATE', 481, '<sip:b@b>'],
    ['PRACK', 481, '<sip:b@b>'],
  ] as const;
  for (const [index, [method, status, to]] of outside.entries()) {
    peer.send([
      `${method} sip:x SIP/2.0`,
      `Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bK-${index}`,
      'From: <sip:a@a>;tag=a',
      `To: ${to}`,
      `Call-ID: c${index}`,
      `CSeq: 1 ${method}`,
    ]);
    expect(await peer.status()).toBe(status);
  }
  await expect.poll(() => rejections).toBe(outside.length);
  const closed = untilClosed(peer.socket);
  engine.child.stdin.write(
    '{"command":"sources","sources":[1]}\n{"command":"block"}\n{"command":"block","address":"127.0.0.1","seconds":60}\n',
  );
  await closed;
  expect(engine.complaints.map(({ message }) => message)).toEqual([
    'command sources: /sources must be object',
    'command block: / must have required properties address, seconds',
  ]);
  await engine.stop();
});

it('says what to do when its port is in use', async () => {
  const first = await EngineProgram.start(certificates);
  const tls = { ...Object(engineConfiguration(certificates).tls), port: first.sipPort };
  await expect(EngineProgram.start(certificates, { tls })).rejects.toThrow(/exit 2: .*port/);
  await first.stop();
});

it('copies what it sends and receives to the trace collector, in order', async () => {
  const collector = createServer();
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const address = collector.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const connected = once(collector, 'connection');
  const engine = await EngineProgram.start(certificates, { hep: { host: '127.0.0.1', port } });
  const [socket] = await connected;
  const stream = new HepStream();
  const copies: string[] = [];
  const both = new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => {
      for (const { direction, callId, payload } of stream.push(chunk)) {
        copies.push(`${direction} ${callId} ${payload.toString().split('\r\n')[0]}`);
      }
      if (copies.length === 2) resolve();
      else if (copies.length > 2) reject(new Error(copies.join(', ')));
    });
  });
  const peer = await TestPeer.connect(engine.sipPort, certificates.ca);
  const via = 'Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bK-1';
  peer.send([
    'OPTIONS sip:x SIP/2.0',
    via,
    'From: <sip:a@a>;tag=a',
    'To: <sip:b@b>',
    'Call-ID: c',
    'CSeq: 1 OPTIONS',
  ]);
  await both;
  expect(copies).toEqual(['received c OPTIONS sip:x SIP/2.0', 'sent c SIP/2.0 503 Service Unavailable']);
  peer.close();
  await engine.stop();
  collector.close();
});
