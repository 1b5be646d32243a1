import { expect, test } from 'vitest';
import { failure, HOST, listening, server, silentServer, target } from '../../../test/kit/edge/transport.ts';
import { freeTcpPort } from '../../../test/kit/programs/ports.ts';

test('tries the next address and reports the last cause', async () => {
  const bob = await listening();
  const alice = await listening({ resolve: async () => ['127.0.0.9', HOST] });
  expect((await alice.layer.connect(target(bob.port, 'localhost'))).remoteAddress).toBe(HOST);
  const nobody = await listening({ resolve: async () => ['127.0.0.9', '127.0.0.8'] });
  const error = await failure(nobody.layer.connect(target(bob.port, 'localhost')));
  expect(error).toMatchObject({
    fault: 'refused',
    message: `localhost:${bob.port} (127.0.0.8): connection refused`,
  });
});

test('reports that a name cannot be resolved', async () => {
  const alice = await listening({
    resolve: () => Promise.reject(new Error('getaddrinfo ENOTFOUND nowhere.example')),
  });
  expect(await failure(alice.layer.connect(target(5061, 'nowhere.example')))).toMatchObject({
    fault: 'no_address',
    message: 'nowhere.example: name resolution failed: getaddrinfo ENOTFOUND nowhere.example',
  });
  const empty = await listening({ resolve: async () => [] });
  expect((await failure(empty.layer.connect(target(5061, 'nowhere.example')))).fault).toBe('no_address');
});

test('times out in the handshake and in name resolution', async () => {
  const { port, accepted } = await silentServer();
  const alice = await listening({ limits: { connectTimeoutMs: 5000 } });
  const handshake = failure(alice.layer.connect(target(port)));
  await accepted;
  alice.clock.advance(5000);
  expect(await handshake).toMatchObject({
    fault: 'handshake_timeout',
    message: `${HOST}:${port}: TLS handshake with ${HOST} timed out after 5 s`,
  });

  const deaf = await listening({
    limits: { connectTimeoutMs: 5000 },
    resolve: () => new Promise(() => {}),
  });
  const resolution = failure(deaf.layer.connect(target(port, 'slow.example')));
  deaf.clock.advance(5000);
  expect(await resolution).toMatchObject({
    fault: 'no_address',
    message: expect.stringContaining('name resolution'),
  });
});

test('an address that drops everything leaves time for the next one', async () => {
  const { port, accepted } = await silentServer('127.0.0.9', await freeTcpPort());
  const bob = await listening({ tls: { host: HOST, port } });
  const alice = await listening({
    limits: { connectTimeoutMs: 8000 },
    resolve: async () => ['127.0.0.9', HOST],
  });
  const opening = alice.layer.connect(target(bob.port, 'localhost'));
  await accepted;
  alice.clock.advance(4000);
  expect((await opening).remoteAddress).toBe(HOST);
});

test('a client certificate that cannot be read fails the connection, not the process', async () => {
  const broken = { cert: 'nonsense', key: 'nonsense' };
  const alice = await listening({
    certificates: () => ({ server, clients: new Map([[HOST, broken]]) }),
  });
  expect(await failure(alice.layer.connect(target(5061)))).toMatchObject({
    fault: 'own_certificate',
    message: expect.stringMatching(/^127\.0\.0\.1: our certificates cannot be used: /),
  });
});

test('a failed target can be dialed again at once', async () => {
  const alice = await listening({ resolve: async () => [HOST] });
  const bob = await listening();
  await failure(alice.layer.connect(target(bob.port, 'other.example')));
  expect((await failure(alice.layer.connect(target(bob.port, 'other.example')))).fault).toBe(
    'certificate_name',
  );
  expect(alice.layer.stats().connectFailures).toBe(2);
});

test('opens nothing once the transport closes', async () => {
  const alice = await listening({ resolve: () => new Promise(() => {}) });
  const opening = failure(alice.layer.connect(target(5061, 'slow.example')));
  await alice.layer.close();
  expect((await opening).fault).toBe('closing');
  expect((await failure(alice.layer.connect(target(5061)))).fault).toBe('closing');
});
