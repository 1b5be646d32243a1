import { once } from 'node:events';
import { createServer as createTcpServer, type Server } from 'node:net';
import { createServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { EndpointCertificate } from '#shared/trunk-protocol.ts';
import { healthScene, ok } from '../../test/kit/edge/health.ts';
import { settle } from '../../test/kit/edge/trunks.ts';
import { createAuthority } from '../../test/kit/fakes/certificates.ts';
import { certificateReader, EndpointCertificates } from './endpoint-certificates.ts';
import type { Target } from './resolve.ts';

describe('a certificate is read', () => {
  let server: Server | null = null;
  afterEach(() => server?.close());
  const authority = createAuthority('Test of certificates');

  async function targetOf(listening: Server): Promise<Target> {
    server = listening.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    return { host: 'pbx.example.com', address: '127.0.0.1', port, serverName: 'pbx.example.com' };
  }

  it.each([
    ['that has expired', { expired: true }, {}],
    ['of a peer that wants one of ours', { days: 40 }, { requestCert: true, rejectUnauthorized: true }],
    ['of a peer with TLS 1.2 that wants one of ours', {}, { requestCert: true, maxVersion: 'TLSv1.2' }],
  ] as const)('%s', async (_, request, options) => {
    const names = ['DNS:pbx.example.com', 'IP:192.0.2.9', 'URI:sip:example.com'];
    const pair = authority.issue({ commonName: 'pbx', names, ...request });
    const clock = new FakeClock();
    const target = await targetOf(createServer({ ...pair, ...options }));
    const seen = await certificateReader(clock)(target, 5000);
    expect(seen).toMatchObject({
      subject: 'CN=pbx',
      issuer: 'CN=Test of certificates',
      names: ['pbx.example.com', '192.0.2.9', 'URI:sip:example.com'],
      seen_at: '2030-01-01T00:00:00.000Z',
    });
    const left = Date.parse(seen?.expires_at ?? '') - Date.now();
    expect(left < 0).toBe('expired' in request);
  });

  it('with no more than twenty of its names', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `DNS:n${index}.example.com`);
    const target = await targetOf(createServer(authority.issue({ names })));
    expect((await certificateReader(new FakeClock())(target, 5000))?.names).toHaveLength(20);
  });

  it('not from a peer that closes, refuses, or says nothing within the limit', async () => {
    const clock = new FakeClock();
    const closes = await targetOf(createTcpServer((socket) => socket.destroy()));
    expect(await certificateReader(clock)(closes, 5000)).toBeNull();
    server?.close();
    expect(await certificateReader(clock)(closes, 5000)).toBeNull();
    const connected = Promise.withResolvers<void>();
    const silent = await targetOf(
      createTcpServer((socket) => {
        socket.on('error', () => {});
        connected.resolve();
      }),
    );
    const read = certificateReader(clock)(silent, 5000);
    await connected.promise;
    clock.advance(5000);
    expect(await read).toBeNull();
  });
});

describe('with the probes of an endpoint', () => {
  const scene = healthScene();
  const certificate = (expires_at: string): EndpointCertificate => ({
    subject: 'CN=pbx',
    issuer: 'CN=ca',
    names: ['pbx'],
    valid_from: '2029-01-01T00:00:00.000Z',
    expires_at,
    seen_at: '2030-01-01T00:00:00.000Z',
  });

  function looking(answers: Record<string, EndpointCertificate | null>) {
    const looks: string[] = [];
    const read = ({ address }: Target) => {
      looks.push(`${address} ${scene.clock.elapsed() / 60_000}`);
      return Promise.resolve(answers[address] ?? null);
    };
    const minute = 60_000;
    const times = { firstMs: minute / 2, everyMs: 10 * minute, againMs: 4 * minute };
    const certificates = new EndpointCertificates(scene.clock, read, times);
    const { configure, health } = scene.probes({}, 0.5, certificates);
    /** One round of probes that are answered, and the certificates in their reports. */
    const round = async () => {
      const before = scene.reports.length;
      await scene.advance(60_000);
      for (const asked of scene.asked) await asked.answer(ok);
      await settle();
      return scene.reports.slice(before).map(({ trunk_id, certificate: one }) => [trunk_id, one?.expires_at]);
    };
    const first = async () => {
      for (const asked of scene.asked) await asked.answer(ok);
    };
    return { configure, first, health, looks, round };
  }

  it('it is looked at after the first one, reported once to each trunk, and looked at again when it is time', async () => {
    const expires = '2030-02-01T00:00:00.000Z';
    const { configure, first, health, looks, round } = looking({ a: certificate(expires) });
    await configure(['one', ['a']], ['two', ['a']]);
    await first();
    expect(looks).toEqual([]);
    const start = scene.clock.elapsed() / 60_000;
    expect(await round()).toEqual([
      ['one', expires],
      ['two', expires],
    ]);
    expect(await round()).toEqual([
      ['one', undefined],
      ['two', undefined],
    ]);
    await configure(['one', ['a']], ['two', ['a']], ['three', ['a']]);
    expect(await round()).toContainEqual(['three', expires]);
    for (let minute = 0; minute < 8; minute++) await round();
    expect(looks).toEqual([`a ${start + 1}`, `a ${start + 11}`]);
    health.stop();
  });

  it('of several addresses the first to expire is reported', async () => {
    scene.addresses = { a: ['a1', 'a2', 'a3'] };
    const sooner = '2030-01-09T00:00:00.000Z';
    const { configure, first, health, round } = looking({
      a1: certificate('2030-03-01T00:00:00.000Z'),
      a2: certificate(sooner),
    });
    await configure(['one', ['a']]);
    await first();
    expect(await round()).toEqual([['one', sooner]]);
    health.stop();
  });

  it('when none was seen it is looked for again sooner', async () => {
    const { configure, first, health, looks, round } = looking({});
    await configure(['one', ['a']]);
    await first();
    for (let minute = 0; minute < 5; minute++) await round();
    expect(looks).toHaveLength(2);
    health.stop();
  });
});
