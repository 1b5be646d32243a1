/** Real peers that cannot be reached over TLS, and the fault reported for each. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import { expect, test } from 'vitest';
import {
  type ConnectionFailure,
  type ConnectionFault,
  connectionProblem,
} from '#shared/connection-faults.ts';
import {
  authority,
  cleanups,
  failure,
  foreignServer,
  HOST,
  listening,
  MESSAGE,
  type Recorder,
  server,
  silentServer,
  target,
} from '../../../test/kit/edge/transport.ts';
import { createAuthority, createSelfSigned } from '../../../test/kit/fakes/certificates.ts';
import { TransportError } from './flow.ts';

const place = 'pbx.example.com:5061';

/** Dials and sends until the peer is lost, and returns the fault that an INVITE would report. */
async function fault(port: number, recorder?: Recorder): Promise<ConnectionFailure> {
  const alice = recorder ?? (await listening());
  const opened = await alice.layer.connect(target(port)).catch((error: Error) => error);
  if (opened instanceof TransportError) return opened.failure;
  if (opened instanceof Error) throw opened;
  opened.send(MESSAGE);
  const { loss } = await alice.event('closed');
  if (!loss) throw new Error('closed without a cause');
  return loss;
}

function expectFault(failure: ConnectionFailure, wanted: ConnectionFault): void {
  expect(failure).toMatchObject({ fault: wanted });
  expect(connectionProblem(place, failure)).toContain(place);
}

async function tcpPeer(handle: (socket: Socket) => void): Promise<number> {
  const peer: Server = createServer((socket) => {
    socket.on('error', () => {});
    handle(socket);
  });
  peer.listen(0, HOST);
  await once(peer, 'listening');
  cleanups.push(() => new Promise((resolve) => peer.close(resolve)));
  const address = peer.address();
  if (address === null || typeof address === 'string') throw new Error('the peer has no port');
  return address.port;
}

const stranger = createAuthority('Nobody');
const mtls = { ...server, requestCert: true, rejectUnauthorized: true, ca: authority.cert };

test.each<[string, ConnectionFault, TlsOptions]>([
  ['that has expired', 'certificate_expired', authority.issue({ expired: true })],
  ['for another name', 'certificate_name', authority.issue({ names: ['DNS:other.example.com'] })],
  ['of an unknown authority', 'certificate_untrusted', stranger.issue({})],
  ['that is self-signed', 'certificate_untrusted', createSelfSigned(['IP:127.0.0.1'])],
])('a certificate %s is %s', async (_what, wanted, options) => {
  const { port } = await foreignServer(options);
  expectFault(await fault(port), wanted);
});

test('a peer limited to TLS 1.1 is a version fault', async () => {
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
  const { port } = await foreignServer({ ...server, ...old });
  expectFault(await fault(port), 'tls_version');
});

test('a peer without a common cipher suite is distinguished from one that requires a certificate', async () => {
  const { port } = await foreignServer({
    ...server,
    maxVersion: 'TLSv1.2',
    ciphers: 'NULL-SHA256:@SECLEVEL=0',
  });
  expectFault(await fault(port), 'tls_cipher');
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'no certificate is sent to a peer with %s that requests one',
  async (version) => {
    const { port } = await foreignServer({ ...mtls, minVersion: version, maxVersion: version });
    expectFault(await fault(port), 'client_certificate_missing');
  },
);

test.each(['-tls1_2', '-tls1_3'])(
  'no certificate is sent to an openssl peer (%s) that requests one',
  async (version) => {
    const { port } = await opensslPeer([version, '-Verify', '1']);
    expectFault(await fault(port), 'client_certificate_missing');
  },
);

test.each(['-tls1_2', '-tls1_3'])('an openssl peer (%s) does not accept our certificate', async (version) => {
  const { port } = await opensslPeer([version, '-Verify', '1', '-verify_return_error']);
  const clients = new Map([[HOST, stranger.issue({ commonName: 'edge' })]]);
  const alice = await listening({
    certificates: () => ({ server, authorities: [authority.cert], clients }),
  });
  expectFault(await fault(port, alice), 'client_certificate_refused');
});

test('a SIP server without TLS on the port is a "no TLS" fault', async () => {
  const port = await tcpPeer((socket) =>
    socket.once('data', () => socket.end('SIP/2.0 400 Bad Request\r\n\r\n')),
  );
  expectFault(await fault(port), 'not_tls');
});

test('a reset during the handshake is a broken handshake', async () => {
  const port = await tcpPeer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  expectFault(await fault(port), 'handshake_closed');
});

test('a disconnect during the handshake is a broken handshake', async () => {
  const port = await tcpPeer((socket) => socket.once('data', () => socket.end()));
  expectFault(await fault(port), 'handshake_closed');
});

test('a peer that accepts TCP and never completes the handshake is distinguished from one that accepts no connection', async () => {
  const { port, accepted } = await silentServer();
  const alice = await listening({ limits: { connectTimeoutMs: 5000 } });
  const handshake = failure(alice.layer.connect(target(port)));
  await accepted;
  alice.clock.advance(5000);
  expect(await handshake).toMatchObject({ fault: 'handshake_timeout' });
});

test('a closed port is a refused connection', async () => {
  const port = await tcpPeer(() => {});
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  expectFault(await fault(port), 'refused');
});

test('a disconnect right after the handshake may mean that the peer requires something from us', async () => {
  const foreign = await foreignServer(server);
  void foreign.socket.then((socket) => socket.end());
  expectFault(await fault(foreign.port), 'closed_at_once');
});

async function opensslPeer(options: readonly string[]): Promise<{ port: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'tls-peer-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'cert.pem'), server.cert);
  writeFileSync(join(folder, 'key.pem'), server.key);
  writeFileSync(join(folder, 'ca.pem'), authority.cert);
  const files = ['-cert', 'cert.pem', '-key', 'key.pem', '-CAfile', 'ca.pem'];
  const peer = spawn('openssl', ['s_server', '-accept', `${HOST}:0`, ...files, ...options], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  cleanups.push(() => {
    peer.kill('SIGKILL');
    return peer.exitCode === null ? once(peer, 'exit') : undefined;
  });
  let said = '';
  for await (const chunk of peer.stdout) {
    said += String(chunk);
    const port = /ACCEPT [^\s]*:(\d+)/.exec(said)?.[1];
    if (port !== undefined) {
      peer.stdout.resume();
      return { port: Number(port) };
    }
  }
  throw new Error(`openssl s_server did not start: ${said}`);
}
