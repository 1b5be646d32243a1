import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { longestFrame } from './frame-limit.ts';
import { type ConnectedEngine, openSrf, type SrfOptions } from './srf.ts';

const server = createServer({ allowHalfOpen: true });
afterEach(() => {
  server.close();
});

function frame(payload: string): string {
  return `${Buffer.byteLength(payload)}#${payload}`;
}

/** An engine that accepts every secret. */
async function engine(version = 'v0.9.10'): Promise<{ port: number; application: Promise<Socket> }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const application = once(server, 'connection').then(([socket]: Socket[]) => {
    if (!socket) throw new Error('no connection');
    socket.once('data', (octets: Buffer) => {
      const id = /#([^|]+)\|authenticate/.exec(octets.toString())?.[1];
      socket.write(frame(`x|response|${id}|OK|tls/192.0.2.1:5061|${version}|`));
    });
    return socket;
  });
  return { port: (server.address() as AddressInfo).port, application };
}

const options = [
  'OPTIONS sip:a@192.0.2.1 SIP/2.0',
  'From: <sip:b@192.0.2.2>;tag=b',
  'To: <sip:a@192.0.2.1>',
  'Call-ID: one',
  'CSeq: 1 OPTIONS',
  'Content-Length: 0',
  '\r\n',
].join('\r\n');

it('drops what arrives while it closes, also the rest of a frame', async () => {
  const { port, application } = await engine();
  const request = Promise.withResolvers<void>();
  const address = { host: '127.0.0.1', port, secret: 's' };
  const up = Promise.withResolvers<ConnectedEngine>();
  const connection = openSrf(
    address,
    () => request.resolve(),
    up.resolve,
    () => {},
  );
  const socket = await application;
  expect(await up.promise).toEqual({
    sipAddresses: ['tls/192.0.2.1:5061'],
    version: 'v0.9.10',
    embedded: false,
  });
  const cut = frame('y|response|unknown|OK|and more');
  const line = 'z|sip|network|1|tls|192.0.2.2|5061|00:00:00.000000|transaction||192.0.2.1|5061|';
  socket.write(frame(`${line}\r\n${options}`) + cut.slice(0, 12));
  await request.promise;
  connection.close();
  await once(socket, 'end');
  socket.end(cut.slice(12));
  await once(socket, 'close');
});

it('sends the routes once the engine has accepted the secret', async () => {
  const { port, application } = await engine();
  const connection = openSrf(
    { host: '127.0.0.1', port, secret: 's' },
    () => {},
    () => {},
    () => {},
  );
  const socket = await application;
  let text = '';
  while (!text.includes('|route|update')) text += String((await once(socket, 'data'))[0]);
  for (const method of ['invite', 'options', 'register', 'refer', 'message']) {
    expect(text.split(`|route|${method}`)).toHaveLength(2);
  }
  connection.close();
  socket.destroy();
});

/** A connection that is up. */
async function connected(options: SrfOptions, version = 'v0.9.10') {
  const { port, application } = await engine(version);
  const up = Promise.withResolvers<ConnectedEngine>();
  const gone = Promise.withResolvers<Error | null>();
  const address = { host: '127.0.0.1', port, secret: 's' };
  const connection = openSrf(address, () => {}, up.resolve, gone.resolve, options);
  const socket = await application;
  await up.promise;
  let text = '';
  socket.on('data', (octets: Buffer) => {
    text += octets.toString();
  });
  return { connection, socket, gone: gone.promise, sent: () => text };
}

it('sends no frame that a drachtio-server cannot take, and says so to what sent it', async () => {
  const refused: number[] = [];
  const { connection, socket, sent } = await connected({ tooLong: (octets) => refused.push(octets) });
  const outcome = Promise.withResolvers<unknown>();
  const headers = { Subject: 's'.repeat(longestFrame) };
  connection.request({ method: 'OPTIONS', uri: 'sip:a@192.0.2.1', headers }, outcome.resolve);
  expect(String(await outcome.promise)).toMatch(/frame too long for the SIP engine: \d+ octets/);
  expect(refused).toHaveLength(1);
  expect(sent()).not.toContain('OPTIONS sip:');
  connection.close();
  socket.destroy();
});

it('sends a frame of any length to the embedded engine', async () => {
  const { connection, socket, sent } = await connected({}, 'v0.9.10-trunkline');
  const headers = { Subject: 's'.repeat(longestFrame) };
  connection.request({ method: 'OPTIONS', uri: 'sip:a@192.0.2.1', headers }, () => {});
  await expect.poll(sent).toContain(headers.Subject);
  connection.close();
  socket.destroy();
});

it.each([
  ['v0.9.10', false],
  ['v0.9.10-trunkline', true],
])('gives the header fields of the embedded engine to %s: %s', async (version, expected) => {
  const { connection, socket, sent } = await connected({}, version);
  const headers = { 'X-Trunkline-Trying': '1', 'x-trunkline-test': 'key', Subject: 'X-Trunkline-: kept' };
  connection.request({ method: 'OPTIONS', uri: 'sip:a@192.0.2.1', headers }, () => {});
  await expect.poll(sent).toContain('X-Trunkline-: kept');
  expect(/^x-trunkline-(trying|test):/im.test(sent())).toBe(expected);
  connection.close();
  socket.destroy();
});

it('gives up an engine that answers no pings', async () => {
  const { gone, socket, sent } = await connected({ pingMs: 20 });
  expect((await gone)?.message).toBe('the engine does not answer');
  expect(sent()).toContain('|ping');
  socket.destroy();
});

it('gives up an engine that does not answer at all', async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const gone = new Promise<Error | null>((resolve) => {
    openSrf(
      { host: '127.0.0.1', port, secret: 's' },
      () => {},
      () => {},
      resolve,
      { pingMs: 20 },
    );
  });
  expect((await gone)?.message).toBe('the engine does not answer');
});
