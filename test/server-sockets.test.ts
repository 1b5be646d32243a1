import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { connect as connectTls, createServer, type TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { createSelfSigned } from './kit/fakes/certificates.ts';
import { ServerSockets } from './kit/fakes/server-sockets.ts';
import { untilClosed } from './kit/until-closed.ts';

test('a close ends connections after their handshake, during it and before its first octet', async () => {
  const { cert, key } = createSelfSigned(['DNS:localhost']);
  const server = createServer({ cert, key });
  server.on('tlsClientError', () => {});
  const sockets = new ServerSockets(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const accepted = once(server, 'secureConnection');
  const whole = connectTls({ port, host: '127.0.0.1', ca: cert, servername: 'localhost' });
  const [socket] = (await accepted) as [TLSSocket];
  socket.on('error', () => {});
  const begun: ReturnType<typeof connectTcp>[] = [];
  for (const octets of ['', '\x16\x03\x01']) {
    const taken = once(server, 'connection');
    const raw = connectTcp({ port, host: '127.0.0.1' });
    await taken;
    if (octets) raw.write(octets, 'latin1');
    begun.push(raw);
  }
  await sockets.close();
  await Promise.all([whole, ...begun].map(untilClosed));
  expect(server.listening).toBe(false);
});
