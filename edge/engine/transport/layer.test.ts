import { connect as connectTls } from 'node:tls';
import { expect, test } from 'vitest';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import {
  authority,
  failure,
  foreignServer,
  HOST,
  listening,
  MESSAGE,
  server,
  target,
} from '../../../test/kit/edge/transport.ts';
import { createAuthority, createSelfSigned } from '../../../test/kit/fakes/certificates.ts';
import type { TlsMaterial } from './certificates.ts';

const stranger = createAuthority('Stranger');

test('carries messages both ways, on one connection for one target', async () => {
  const alice = await listening();
  const bob = await listening();
  const [flow, again] = await Promise.all([
    alice.layer.connect(target(bob.port)),
    alice.layer.connect(target(bob.port)),
  ]);
  expect(again).toBe(flow);
  expect(await alice.layer.connect(target(bob.port))).toBe(flow);
  expect(flow.send(MESSAGE)).toBe(true);
  const received = await bob.event('message');
  expect(received.text).toBe(MESSAGE.toString());
  expect(received.flow).toMatchObject({
    outbound: false,
    protocol: 'tls',
    remoteAddress: HOST,
    localPort: bob.port,
  });

  const inbound = bob.layer.find(HOST, flow.localPort);
  expect(inbound).toBe(received.flow);
  inbound?.send(MESSAGE);
  expect((await alice.event('message')).flow).toBe(flow);
  expect(alice.layer.find(HOST, bob.port)).toBe(flow);
  expect(bob.layer.stats()).toMatchObject({ inbound: 1, outbound: 0, accepted: 1 });
  expect(alice.layer.stats()).toMatchObject({ inbound: 0, outbound: 1, connected: 1 });
});

test('a closed flow is reported on both sides and not reused', async () => {
  const alice = await listening();
  const bob = await listening();
  const flow = await alice.layer.connect(target(bob.port));
  await bob.event('opened');
  flow.close('no longer needed');
  expect(flow.closed).toBe(true);
  expect(alice.layer.find(HOST, bob.port)).toBeUndefined();
  expect((await alice.event('closed')).text).toBe('no longer needed');
  expect((await bob.event('closed')).text).toBe('closed by the peer');
  const next = await alice.layer.connect(target(bob.port));
  expect(next.id).not.toBe(flow.id);
});

test('a flow that is set aside gets no new requests, serves those in progress, and is closed as idle', async () => {
  const alice = await listening();
  const bob = await listening();
  const flow = await alice.layer.connect(target(bob.port));
  flow.setAside();
  const next = await alice.layer.connect(target(bob.port));
  expect(next.id).not.toBe(flow.id);
  expect(flow.send(MESSAGE)).toBe(true);
  const { flow: heardOn } = await bob.event('message');
  heardOn?.send(MESSAGE);
  expect((await alice.event('message')).flow).toBe(flow);
  flow.pin();
  alice.clock.advance(65_000);
  expect([flow.closed, next.closed]).toEqual([false, false]);
  flow.unpin();
  alice.clock.advance(63_000);
  expect(flow.closed).toBe(false);
  alice.clock.advance(1_000);
  expect([flow.closed, next.closed]).toEqual([true, false]);
  expect((await alice.event('closed')).text).toBe('idle for 64 s');
  expect(await alice.layer.connect(target(bob.port))).toBe(next);
});

test('several messages sent in one turn arrive in order', async () => {
  const alice = await listening();
  const bob = await listening();
  const flow = await alice.layer.connect(target(bob.port));
  for (let i = 0; i < 50; i++) flow.send(Buffer.from(`INFO sip:${i} SIP/2.0\r\nl: 0\r\n\r\n`));
  await bob.event('message', 50);
  const order = bob.seen
    .filter(({ what }) => what === 'message')
    .map(({ text }) => Number(/sip:(\d+)/.exec(text)?.[1]));
  expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i));
});

test('rejects TLS 1.1', async () => {
  const bob = await listening();
  const socket = connectTls({
    host: HOST,
    port: bob.port,
    ca: authority.cert,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  const error = await new Promise<Error>((resolve) => socket.once('error', resolve));
  expect(error.message).toMatch(/protocol version/);
  expect((await bob.event('refused')).text).toMatch(
    /127\.0\.0\.1: TLS handshake failed: unsupported protocol/,
  );
});

test('refuses to connect to a server with TLS 1.1', async () => {
  const old = await foreignServer({
    ...server,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  const alice = await listening();
  const error = await failure(alice.layer.connect(target(old.port)));
  expect(error).toMatchObject({
    fault: 'tls_version',
    message: expect.stringMatching(/TLS handshake failed: .*protocol/),
  });
});

test.each([
  [
    'an authority that is not trusted',
    stranger.issue({}),
    'certificate_untrusted',
    /certificate refused: unable to verify the first certificate/,
  ],
  [
    'an expired certificate',
    authority.issue({ expired: true }),
    'certificate_expired',
    /certificate refused: certificate has expired/,
  ],
  [
    'a self-signed certificate',
    createSelfSigned(['IP:127.0.0.1']),
    'certificate_untrusted',
    /certificate refused: self-signed certificate/,
  ],
  [
    'another name',
    authority.issue({ names: ['DNS:other.example.com'] }),
    'certificate_name',
    /Hostname\/IP does not match certificate's altnames: IP: 127\.0\.0\.1 is not in/,
  ],
])('rejects a server with %s and says so', async (_what, pair, fault, message) => {
  const foreign = await foreignServer(pair);
  const alice = await listening();
  const error = await failure(alice.layer.connect(target(foreign.port)));
  expect(error).toMatchObject({ name: 'TransportError', fault });
  expect(error.message).toMatch(message);
  expect(error.message).toContain(`${HOST}:${foreign.port}`);
  expect(alice.layer.stats()).toMatchObject({ outbound: 0, connectFailures: 1 });
});

test('sends the dialed name as SNI and checks the certificate against it', async () => {
  const pair = authority.issue({ names: ['DNS:sip.example.com'] });
  const foreign = await foreignServer(pair);
  const alice = await listening({ resolve: async () => [HOST] });
  await alice.layer.connect(target(foreign.port, 'sip.example.com'));
  expect((await foreign.socket).servername).toBe('sip.example.com');
  const wrong = await failure(alice.layer.connect(target(foreign.port, 'sip.example.net')));
  expect(wrong.fault).toBe('certificate_name');
  const domain = await alice.layer.connect({ ...target(foreign.port), serverName: 'sip.example.com' });
  expect(domain.remoteAddress).toBe(HOST);
});

test('presents the client certificate of the host that requests one, and no other', async () => {
  const client = authority.issue({ commonName: 'trunk-7', names: ['DNS:edge.example.com'] });
  const foreign = { ...server, ca: authority.cert, requestCert: true, rejectUnauthorized: false };
  const asking = await foreignServer(foreign);
  const other = await foreignServer(foreign);
  const domain = await foreignServer({ ...foreign, ...authority.issue({ names: ['DNS:sip.example.com'] }) });
  const alice = await listening({
    resolve: async () => [HOST],
    certificates: () => ({
      server,
      authorities: [authority.cert],
      clients: new Map([
        ['localhost', client],
        ['sip.example.com', client],
      ]),
    }),
  });
  await alice.layer.connect(target(asking.port, 'LocalHost'));
  expect((await asking.socket).getPeerCertificate().subject?.CN).toBe('trunk-7');
  await alice.layer.connect(target(other.port));
  expect((await other.socket).getPeerCertificate().subject).toBeUndefined();
  // A resolved address: the name says whose certificate is expected.
  await alice.layer.connect({ ...target(domain.port), serverName: 'SIP.example.com' });
  expect((await domain.socket).getPeerCertificate().subject?.CN).toBe('trunk-7');
});

test('new connections get the new certificate after a reload; a broken one changes nothing', async () => {
  let material: TlsMaterial = { server, authorities: [authority.cert] };
  const bob = await listening({ certificates: () => material });
  const alice = await listening({ resolve: async () => [HOST] });
  const before = await alice.layer.connect(target(bob.port));
  material = { server: { cert: 'nonsense', key: 'nonsense' } };
  expect(() => bob.layer.reloadCertificates()).toThrow();
  expect((await alice.layer.connect(target(bob.port, 'localhost'))).closed).toBe(false);
  material = { server: authority.issue({ names: ['DNS:new.example.com'] }) };
  bob.layer.reloadCertificates();
  expect((await alice.layer.connect(target(bob.port, 'new.example.com'))).closed).toBe(false);
  expect(before.closed).toBe(false);
});

test("a peer may not use another peer's connection to a private target", async () => {
  const alice = await listening();
  const bob = await listening();
  const own = await alice.layer.connect(target(bob.port), { peer: HOST });
  expect(await alice.layer.connect(target(bob.port), { peer: HOST })).toBe(own);
  const refused = await failure(alice.layer.connect(target(bob.port), { peer: '203.0.113.9' }));
  expect(refused).toMatchObject({ fault: 'not_allowed' });
  expect(alice.layer.stats()).toMatchObject({ outbound: 1, peer_places_not_allowed: 1 });
  alice.layer.setAllowedTargets(parseNetworks([`${HOST}/32`]));
  expect(await alice.layer.connect(target(bob.port), { peer: '203.0.113.9' })).toBe(own);
});

test('all addresses of a name given by a peer are checked before any is tried', async () => {
  const bob = await listening();
  const addresses = ['93.184.215.14', HOST];
  const alice = await listening({ resolve: async () => addresses });
  const named = { ...target(bob.port), host: 'pbx.example.com' };
  const refused = await failure(alice.layer.connect(named, { peer: '203.0.113.9' }));
  expect(refused).toMatchObject({ fault: 'not_allowed', message: expect.stringContaining(HOST) });
  expect(bob.layer.stats()).toMatchObject({ accepted: 0 });
  expect(alice.layer.stats()).toMatchObject({ peer_places: 0, peer_places_not_allowed: 1 });
});
