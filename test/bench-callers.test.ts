import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { answerTo } from './bench/bare-tls.ts';
import { type CallsOrder, callOverTls } from './bench/tls-calls.ts';
import { createAuthority } from './kit/fakes/certificates.ts';

const authority = createAuthority();
const pair = authority.issue({ names: ['IP:127.0.0.1'] });
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** @param answers what the server does with each request */
async function serverThat(
  answers: (request: string, socket: TLSSocket) => void = (request, socket) =>
    void socket.write(answerTo(request, 5061) ?? ''),
  options: TlsOptions = {},
): Promise<Server> {
  const server = createServer({ cert: pair.cert, key: pair.key, ...options }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (record) => answers(record.toString('latin1'), socket));
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

function call(server: Server, order: Partial<CallsOrder> = {}): ReturnType<typeof callOverTls> {
  return callOverTls({
    port: (server.address() as AddressInfo).port,
    ca: authority.cert,
    number: '+14155550100',
    version: 'TLSv1.3',
    resume: true,
    atOnce: 2,
    calls: 6,
    seconds: 3600,
    from: ['127.0.0.1', '127.0.0.2'],
    ...order,
  });
}

/** How many of a server's connections were resumed. */
function resumptions(server: Server): boolean[] {
  const resumed: boolean[] = [];
  server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
  return resumed;
}

describe('callers with a connection per call', () => {
  test.each(['TLSv1.2', 'TLSv1.3'] as const)('all resume one session of %s', async (version) => {
    const server = await serverThat();
    const resumed = resumptions(server);
    const run = await call(server, { version });
    expect(run).toMatchObject({ succeeded: 6, failed: 0, firstFailure: null });
    expect(run.setUpMs).toHaveLength(6);
    // The first connection gets the session.
    expect(resumed).toEqual([false, ...Array(6).fill(true)]);
  });

  test('full handshakes resume nothing', async () => {
    const server = await serverThat();
    const resumed = resumptions(server);
    expect(await call(server, { resume: false })).toMatchObject({ succeeded: 6, failed: 0 });
    expect(resumed).toEqual(Array(6).fill(false));
  });

  test('use their addresses in turn', async () => {
    const server = await serverThat();
    const sources = new Map<string, number>();
    server.on('secureConnection', ({ remoteAddress = '' }) =>
      sources.set(remoteAddress, (sources.get(remoteAddress) ?? 0) + 1),
    );
    await call(server, { resume: false });
    expect(Object.fromEntries(sources)).toEqual({ '127.0.0.1': 3, '127.0.0.2': 3 });
  });

  test('a call whose session the server did not resume has failed', async () => {
    const server = await serverThat();
    // Its tickets are of no use any more.
    server.once('secureConnection', (socket) =>
      socket.once('close', () => server.setTicketKeys(Buffer.alloc(48, 1))),
    );
    const run = await call(server, { calls: 3, atOnce: 1 });
    expect(run).toMatchObject({ succeeded: 0, failed: 3 });
    expect(run.firstFailure).toBe('call 0: the server did not resume the session');
  });

  test('a call that is refused has failed with the status line', async () => {
    const server = await serverThat((request, socket) => {
      const answer = answerTo(request, 5061);
      if (answer) socket.write(answer.replace('200 OK', '486 Busy Here'));
    });
    expect(await call(server)).toMatchObject({
      succeeded: 0,
      failed: 6,
      firstFailure: 'call 0 got SIP/2.0 486 Busy Here',
    });
  });

  test('a call that loses its connection has failed', async () => {
    const server = await serverThat((_request, socket) => socket.end());
    expect(await call(server)).toMatchObject({
      succeeded: 0,
      failed: 6,
      firstFailure: expect.stringContaining('the server closed the connection'),
    });
  });

  test('provisional responses, split responses and joined ones are read', async () => {
    const server = await serverThat((request, socket) => {
      const answer = answerTo(request, 5061);
      if (answer === null) return;
      const trying = 'SIP/2.0 100 Trying\r\nContent-Length: 0\r\n\r\n';
      socket.write(`${trying}${answer.slice(0, 20)}`);
      socket.write(answer.slice(20, -10));
      socket.write(answer.slice(-10));
    });
    expect(await call(server)).toMatchObject({ succeeded: 6, failed: 0 });
  });

  test('no session to resume is an error', async () => {
    const none = 'ECDHE-ECDSA-AES128-GCM-SHA256';
    const server = await serverThat(undefined, { maxVersion: 'TLSv1.2', ciphers: none });
    await expect(call(server, { version: 'TLSv1.3' })).rejects.toThrow();
  });
});
