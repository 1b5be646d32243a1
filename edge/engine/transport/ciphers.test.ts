/** RFC 9325: what is negotiated with real peers that support one TLS 1.2 suite each. */
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import {
  authority,
  cleanups,
  failure,
  foreignServer,
  HOST,
  listening,
  Recorder,
  server,
  target,
} from '../../../test/kit/edge/transport.ts';

/** At its default level OpenSSL would drop some of them itself. */
const anyLevel = (suite: string) => `${suite}:@SECLEVEL=0`;

const refused = [
  'ECDHE-ECDSA-AES128-SHA256',
  'ECDHE-ECDSA-AES256-SHA384',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-ECDSA-AES256-SHA',
];
const taken = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
];

/** The suite negotiated with a client that has only this one, or the error. */
function agreed(port: number, suite: string): Promise<string> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({
      host: HOST,
      port,
      ca: authority.cert,
      maxVersion: 'TLSv1.2',
      ciphers: anyLevel(suite),
    });
    cleanups.push(() => socket.destroy());
    socket.once('secureConnect', () => resolve(socket.getCipher().name));
    socket.once('error', (error) => resolve(error.message));
  });
}

describe('a peer with only TLS 1.2', () => {
  test.each(refused)('cannot connect with %s', async (suite) => {
    const bob = await listening();
    expect(await agreed(bob.port, suite)).toMatch(/handshake failure/i);
    expect(bob.layer.stats()).toMatchObject({ inbound: 0, refused: 1 });
  });

  test.each(taken)('connects with %s', async (suite) => {
    const bob = await listening();
    expect(await agreed(bob.port, suite)).toBe(suite);
  });

  test.each(refused)('is not connected to with %s', async (suite) => {
    const peer = await foreignServer({ ...server, maxVersion: 'TLSv1.2', ciphers: anyLevel(suite) });
    const alice = new Recorder();
    const { fault, message } = await failure(alice.layer.connect(target(peer.port)));
    expect(fault).toBe('tls_cipher');
    expect(message).toMatch(/handshake failure/i);
  });

  test.each(taken)('is connected to with %s', async (suite) => {
    const peer = await foreignServer({ ...server, maxVersion: 'TLSv1.2', ciphers: anyLevel(suite) });
    const alice = new Recorder();
    await alice.layer.connect(target(peer.port));
    expect((await peer.socket).getCipher().name).toBe(suite);
  });
});

test('a peer with TLS 1.3 gets the suite with SHA-256, although it prefers others', async () => {
  const bob = await listening();
  const socket = connect({ host: HOST, port: bob.port, ca: authority.cert });
  cleanups.push(() => socket.destroy());
  await once(socket, 'secureConnect');
  expect(socket.getCipher().name).toBe('TLS_AES_128_GCM_SHA256');
});
