/**
 * Every client of both programs against targets that fail in every stage, immediately and late:
 *
 *     look-up -> connect -> TLS handshake -> response headers -> response body
 *
 * Each attempt ends with an error for its caller; nothing is thrown elsewhere, and no socket stays open.
 */
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { FakeClock } from '#shared/clock.ts';
import type { ResolveHost } from '#shared/judged-lookup.ts';
import { postOpenAi } from '#shared/models/openai-http.ts';
import { createAuthority } from './kit/fakes/certificates.ts';
import { type Client, clients, deadlineMs } from './kit/outgoing/clients.ts';
import { authority, http, onAccept, onHead, onRequest, pair, Target } from './kit/outgoing/failing-target.ts';

const thrownPast: unknown[] = [];
const note = (error: unknown) => thrownPast.push(error);
let clock: FakeClock;
let target: Target | null = null;

beforeAll(() => {
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
});
afterAll(() => {
  process.off('uncaughtException', note);
  process.off('unhandledRejection', note);
});
beforeEach(() => {
  clock = new FakeClock();
});
afterEach(async () => {
  // An error event of a socket comes a tick after the attempt has ended.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  const thrown = thrownPast.splice(0);
  const last = target;
  target = null;
  try {
    // The other end of each connection has closed: the client has no open socket.
    await expect.poll(() => last?.sockets.size ?? 0).toBe(0);
  } finally {
    await last?.close();
  }
  expect(thrown).toEqual([]);
});

const pinned: ResolveHost = async () => ['127.0.0.1'];

function attemptAt(client: Client, port: number, resolve: ResolveHost = pinned): Promise<string | null> {
  const host = client.resolves ? 'target.example' : '127.0.0.1';
  return client.attempt({ host, port, resolve, ca: authority.cert, clock });
}

const resolving = clients.filter(({ resolves }) => resolves);
const withTls = clients.filter(({ tls }) => tls);

describe.each(resolving)('$name', (client) => {
  it.each<[string, ResolveHost]>([
    [
      'fails at once',
      () => {
        throw new Error('no name server');
      },
    ],
    ['fails', () => Promise.reject(new Error('no name server'))],
    [
      'fails late',
      () =>
        new Promise((_resolve, reject) => setImmediate(() => setImmediate(() => reject(new Error('late'))))),
    ],
    ['finds nothing', async () => []],
    ['finds what is not an allowed target', async () => ['10.0.0.1']],
  ])('tells of a look-up that %s', async (_name, resolve) => {
    expect(await attemptAt(client, 443, resolve)).toMatch(/target\.example/);
  });

  it('reports a look-up that does not end', async () => {
    const asked = Promise.withResolvers<void>();
    const result = attemptAt(client, 443, () => {
      asked.resolve();
      return new Promise(() => undefined);
    });
    await asked.promise;
    clock.advance(deadlineMs);
    expect(await result).toMatch(/within 5000 ms/);
  });

  it.each([
    ['IPv4', '255.255.255.255'],
    ['IPv6 alone, without a route', 'ff0e::1'],
  ])('tells of an address that cannot be reached at once: %s', async (_name, address) => {
    const error = await attemptAt(client, 443, async () => [address]);
    expect(error).toMatch(/ENETUNREACH|EACCES|EADDRNOTAVAIL/);
    expect(error).not.toMatch(/Local|0\.0\.0\.0/);
  });

  it('continues with the address that answers', async () => {
    target = new Target(client.tls, 'accept', (socket) => socket.destroy());
    const port = await target.listen();
    const addresses = ['ff0e::1', '127.0.0.1'];
    const error = await attemptAt(client, port, async () => addresses);
    await target.reached.promise;
    expect(error).not.toBeNull();
  });
});

describe.each(clients)('$name', (client) => {
  it('reports a port where nobody listens', async () => {
    target = new Target(false, 'accept', () => undefined);
    const port = await target.listen();
    await target.close();
    target = null;
    expect(await attemptAt(client, port)).toMatch(/ECONNREFUSED/);
  });

  it.each(Object.entries(onAccept))('reports a target that %s', async (_name, { behaviour, late }) => {
    target = new Target(client.tls, 'accept', behaviour);
    const result = attemptAt(client, await target.listen());
    await target.reached.promise;
    if (late) clock.advance(deadlineMs);
    expect(await result).toBeTruthy();
  });
});

const overHttp = clients.filter(({ speaks }) => speaks === 'http' || speaks === 'websocket');

describe.each(overHttp)('$name', (client) => {
  it.each([301, 302, 303, 307, 308])('does not follow a redirect with %i', async (status) => {
    // The redirect must not give a checked or configured target access to other hosts.
    const inside = new Target(false, 'accept', () => undefined);
    let contacts = 0;
    inside.server.on('connection', () => contacts++);
    const location = `http://127.0.0.1:${await inside.listen()}/latest/meta-data`;
    target = new Target(
      client.tls,
      'request',
      onRequest((socket) =>
        socket.end(`HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
      ),
    );
    await attemptAt(client, await target.listen());
    await inside.close();
    expect(contacts).toBe(0);
  });

  const readsBody = client.speaks === 'http' && !/event on its way|SMS/.test(client.name);
  const stages = Object.entries(onHead).filter(([, { body }]) => readsBody || !body);
  it.each(stages)('reports a target that %s', async (_name, { behaviour, late }) => {
    target = new Target(client.tls, 'request', behaviour);
    const result = attemptAt(client, await target.listen());
    await target.reached.promise;
    if (late) clock.advance(deadlineMs);
    expect(await result).toBeTruthy();
  });
});

describe.each(overHttp.filter(({ speaks }) => speaks === 'http'))('$name', (client) => {
  it('stops reading an endless body', async () => {
    let written = 0;
    const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
    const pour = (socket: Socket): void => {
      while (!socket.destroyed && written < 256 && socket.write(chunk)) written++;
      if (written < 256) socket.once('drain', () => pour(socket));
    };
    target = new Target(
      client.tls,
      'request',
      onRequest((socket) => {
        socket.write(`${http}transfer-encoding: chunked\r\n\r\n`);
        pour(socket);
      }),
    );
    // The body is endless: a client that returns has stopped reading.
    await attemptAt(client, await target.listen());
    expect(written).toBeLessThan(256);
  });
});

describe.each(withTls)('$name', (client) => {
  it('reports a certificate that it does not trust', async () => {
    target = new Target(true, 'request', () => undefined);
    const port = await target.listen();
    const host = client.resolves ? 'target.example' : '127.0.0.1';
    const { cert } = createAuthority('Another authority');
    const error = await client.attempt({ host, port, resolve: pinned, ca: cert, clock });
    expect(error).toMatch(/certificate/);
  });

  it('reports a certificate for another name', async () => {
    target = new Target(true, 'request', () => undefined);
    const port = await target.listen();
    const host = client.resolves ? 'other.example' : 'localhost';
    const attempt = { host, port, resolve: pinned, ca: authority.cert, clock };
    expect(await client.attempt(attempt)).toMatch(/another name|altnames|ECONNREFUSED/);
  });
});

it('an audio socket uses the connection to the checked address', async () => {
  const sockets = new WebSocketServer({ noServer: true });
  const server = createHttpsServer(pair);
  server.on('upgrade', (request, socket: Socket, head) => {
    sockets.handleUpgrade(request, socket, head, (bot) => bot.close(1000));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const opener = resolving.find(({ speaks }) => speaks === 'websocket');
  expect(opener && (await attemptAt(opener, (server.address() as AddressInfo).port))).toBeNull();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

it('a response of a speech server that is larger than any speech fails', async () => {
  const size = 17 * 1024 * 1024;
  target = new Target(
    false,
    'request',
    onRequest((socket) => {
      socket.write(`${http}content-length: ${size}\r\n\r\n`);
      socket.end(Buffer.alloc(size));
    }),
  );
  const server = { baseUrl: `http://127.0.0.1:${await target.listen()}`, apiKey: null, model: 'm' };
  await expect(postOpenAi(server, 'audio/speech', () => '{}')).rejects.toThrow(/larger than 16777216 bytes/);
});
