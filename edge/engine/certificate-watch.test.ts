import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { certificateProblems } from '#shared/certificate-problems.ts';
import { FakeClock } from '#shared/clock.ts';
import { EngineProgram, TestCertificates } from '../../test/kit/edge/engine.ts';
import { createAuthority } from '../../test/kit/fakes/certificates.ts';
import { CertificateWatch } from './certificate-watch.ts';

const authority = createAuthority();
const file = '/data/tls/server.crt';
const hour = 3_600_000;
const pem = authority.issue({
  names: ['DNS:sip.example.com', 'DNS:*.edge.example.com', 'IP:192.0.2.7'],
}).cert;
const validTo = new X509Certificate(pem).validToDate.getTime();
const fresh = validTo - 20 * hour;
const kinds = (publicHost: string | null, now = fresh, cert = pem) =>
  certificateProblems({ pem: cert, file, publicHost }, now).map(({ kind }) => kind);

test.each<[string | null, string[]]>([
  [null, []],
  ['sip.example.com', []],
  ['SIP.Example.com', []],
  ['one.edge.example.com', []],
  ['192.0.2.7', []],
  ['example.com', ['other_host']],
  ['192.0.2.8', ['other_host']],
  ['[2001:db8::1]', ['other_host']],
])('SIP_PUBLIC_HOST %s against the names of the certificate: %j', (host, found) => {
  expect(kinds(host)).toEqual(found);
});

test('names the host, the names of the certificate, and what to do', () => {
  expect(certificateProblems({ pem, file, publicHost: 'pbx.example.net' }, fresh)).toEqual([
    {
      kind: 'other_host',
      message:
        'the TLS certificate is not for SIP_PUBLIC_HOST (pbx.example.net) but for sip.example.com, *.edge.example.com, ' +
        '192.0.2.7: peers that check it do not connect; use a certificate for that host (TLS_CERT), or set ' +
        'SIP_PUBLIC_HOST to a name in the certificate',
      fields: {
        file,
        expires: new Date(validTo).toISOString(),
        host: 'pbx.example.net',
        names: ['sip.example.com', '*.edge.example.com', '192.0.2.7'],
      },
    },
  ]);
});

test.each([
  ['long before its expiry', fresh, []],
  ['in the last third of a short life', validTo - 7 * hour, ['expires_soon']],
  ['after its expiry', validTo, ['expired']],
  ['before it becomes valid', validTo - 48 * hour, ['not_yet_valid']],
] as const)('%s', (_, now, found) => {
  expect(kinds(null, now)).toEqual(found);
  expect(kinds('example.net', now)).toEqual(['other_host', ...found]);
});

test('reports the problem when a certificate is loaded, and again after a day', () => {
  const clock = new FakeClock(fresh);
  const lines: string[] = [];
  const watch = new CertificateWatch({ file, publicHost: 'sip.example.com' }, clock, (level, message) =>
    lines.push(`${level} ${message.split(';')[0]}`),
  );
  expect(watch.metrics()).toEqual({});
  watch.taken(pem);
  watch.look();
  expect(lines).toEqual([]);
  expect(watch.metrics()).toEqual({ certificate_expires_seconds: validTo / 1000, certificate_other_host: 0 });
  clock.advance(24 * hour);
  watch.look();
  watch.look();
  expect(lines).toEqual(['warn the TLS certificate has expired: peers do not connect']);
  watch.taken(authority.issue({ names: ['DNS:other.example.com'] }).cert);
  expect(lines.slice(1)).toContainEqual(
    expect.stringMatching(/^warn the TLS certificate is not for SIP_PUBLIC_HOST/),
  );
  expect(watch.metrics()).toMatchObject({ certificate_other_host: 1 });
});

let files: TestCertificates | null = null;
let engine: EngineProgram | null = null;
afterEach(async () => {
  await engine?.stop();
  files?.remove();
});

test('the engine warns at start and after a reload, but not about a certificate that it rejected', async () => {
  files = new TestCertificates();
  engine = await EngineProgram.start(files, { publicHost: 'sip.example.com' });
  const warnings = () => (engine?.events ?? []).filter(({ level }) => level === 'warn');
  const reload = async (cert: string, key: string) => {
    if (!files || !engine) throw new Error('not started');
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
    const { length } = engine.events;
    engine.child.stdin.write('{"command":"reload-certificates"}\n');
    await expect
      .poll(() => engine?.events.slice(length).map(({ message }) => message))
      .toContainEqual(expect.stringMatching(/^certificates reloaded$|^command reload-certificates: /));
  };
  expect(warnings()).toMatchObject([{ host: 'sip.example.com', names: ['127.0.0.1', 'localhost'] }]);
  const good = authority.issue({ names: ['DNS:sip.example.com'] });
  await reload(good.cert, good.key);
  expect(warnings()).toHaveLength(1);
  const other = authority.issue({ names: ['DNS:other.example.com'] });
  await reload(other.cert, good.key);
  expect(warnings()).toHaveLength(1);
  const old = authority.issue({ names: ['DNS:sip.example.com'], expired: true });
  await reload(old.cert, old.key);
  expect(warnings()).toMatchObject([
    {},
    { message: expect.stringMatching(/^the TLS certificate has expired/) },
  ]);
});
