/** The DNS client against a real name server, dnsmasq, on loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeClock, systemClock } from '#shared/clock.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { freeUdpRange } from '../../test/kit/programs/ports.ts';
import { DnsFailure } from './dns.ts';
import { CachingDns } from './dns-cache.ts';
import { DnsClient } from './dns-client.ts';
import { TargetResolver } from './resolve.ts';

const program = '/usr/sbin/dnsmasq';
const host = '127.0.0.1';
let server: ChildProcess;
let dns: DnsClient;

beforeAll(async () => {
  if (!existsSync(program)) throw new Error(`${program} is missing: apt-get install dnsmasq-base`);
  const port = await freeUdpRange(2);
  server = spawn(
    program,
    [
      ...['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--pid-file='],
      ...['--user=', '--group=', '--log-facility=-', '--bind-interfaces', `--listen-address=${host}`],
      ...['--local=/test/', `--port=${port}`, '--local-ttl=77'],
      '--host-record=plain.test,127.0.0.11,fd00::11',
      '--host-record=one.test,127.0.0.21',
      '--host-record=two.test,127.0.0.22',
      '--host-record=public.test,8.8.8.8',
      '--srv-host=_sips._tcp.srv.test,two.test,5082,20,0',
      '--srv-host=_sips._tcp.srv.test,one.test,5081,10,5',
      '--srv-host=_sips._tcp.none.test',
      ...Array.from(
        { length: 60 },
        (_, index) => `--srv-host=_sips._tcp.many.test,one.test,${5100 + index},1,1`,
      ),
      '--naptr-record=naptr.test,10,10,s,SIPS+D2T,,_sips._tcp.srv.test',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await up(server);
  dns = new DnsClient({ servers: [`${host}:${port}`], timeoutMs: 10_000, tries: 2 });
});

afterAll(async () => {
  if (!server || server.exitCode !== null) return;
  server.kill();
  await once(server, 'exit');
});

function resolver(allowed: readonly string[]) {
  const networks = parseNetworks(allowed);
  return new TargetResolver({
    dns: new CachingDns(dns, systemClock),
    random: () => 0,
    allowed: () => networks,
    maxTargets: 8,
  });
}

test('reads addresses with their TTL', async () => {
  expect(await dns.a('plain.test')).toEqual({ records: ['127.0.0.11'], ttlS: 77 });
  expect(await dns.aaaa('plain.test')).toEqual({ records: ['fd00::11'], ttlS: 77 });
});

test('reads SRV and NAPTR records with their TTL', async () => {
  const { records, ttlS } = await dns.srv('_sips._tcp.srv.test');
  expect([records.length, ttlS]).toEqual([2, 77]);
  expect(await dns.naptr('naptr.test')).toEqual({
    records: [
      { order: 10, preference: 10, flags: 's', service: 'SIPS+D2T', replacement: '_sips._tcp.srv.test' },
    ],
    ttlS: 77,
  });
});

test('an answer that does not fit into a datagram comes over TCP', async () => {
  expect((await dns.srv('_sips._tcp.many.test')).records).toHaveLength(60);
});

test('names of addresses that only the hosts file has are found, unless name servers are set', async () => {
  const system = new DnsClient({ servers: [], timeoutMs: 100, tries: 1 });
  const known = await system.a('localhost').catch((error: unknown) => error);
  // A machine whose name servers are silent does not ask the hosts file either.
  if (!(known instanceof DnsFailure)) expect(known).toMatchObject({ records: ['127.0.0.1'] });
  await expect(dns.a('localhost')).rejects.toThrow('EREFUSED');
});

test('a name that cannot be asked for is a failure', async () => {
  await expect(dns.a(`${'a'.repeat(64)}.test`)).rejects.toThrow('EBADNAME');
});

test('a name or a type that does not exist is an empty answer', async () => {
  expect((await dns.a('nowhere.test')).records).toEqual([]);
  expect((await dns.aaaa('one.test')).records).toEqual([]);
  expect((await dns.srv('_sips._tcp.one.test')).records).toEqual([]);
  expect((await dns.naptr('one.test')).records).toEqual([]);
});

test('NAPTR, SRV and address records resolve to the targets in order', async () => {
  for (const name of ['naptr.test', 'srv.test']) {
    expect(await resolver(['127.0.0.0/8']).resolve(name, null)).toEqual({
      ok: true,
      targets: [
        { host: 'one.test', address: '127.0.0.21', port: 5081, serverName: name },
        { host: 'two.test', address: '127.0.0.22', port: 5082, serverName: name },
      ],
    });
  }
});

test('an SRV record with the root as target means that there is no service', async () => {
  expect(await resolver([]).resolve('none.test', null)).toMatchObject({
    ok: false,
    message: 'according to DNS, none.test has no SIP over TLS service',
  });
});

test('a public name with private addresses is rejected', async () => {
  expect(await resolver([]).resolve('plain.test', 5061)).toEqual({
    ok: false,
    code: 'target_not_allowed',
    message: 'plain.test: 127.0.0.11 is a loopback address; fd00::11 is a unique-local address',
  });
  expect(await resolver([]).resolve('public.test', 5061)).toMatchObject({ ok: true });
});

test('a missing name server is a failure, not an empty answer', async () => {
  const silent = createSocket('udp4');
  silent.bind(0, host);
  await once(silent, 'listening');
  try {
    const deaf = new DnsClient({ servers: [`${host}:${silent.address().port}`], timeoutMs: 100, tries: 1 });
    await expect(deaf.a('plain.test')).rejects.toThrow(
      'no answer from the name servers for plain.test (ETIMEOUT)',
    );
    const cache = new CachingDns(deaf, new FakeClock());
    await expect(cache.srv('_sips._tcp.srv.test')).rejects.toThrow(
      'no answer from the name servers for _sips._tcp.srv.test',
    );
  } finally {
    silent.close();
  }
});

/** dnsmasq logs when it is ready, and exits when it cannot start. */
async function up(child: ChildProcess): Promise<void> {
  let said = '';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.stderr?.on('data', (bytes: Buffer) => {
    said += bytes.toString();
    if (said.includes('started, version')) resolve();
  });
  child.once('error', reject);
  child.once('exit', () => reject(new Error(`dnsmasq ended: ${said}`)));
  await promise;
}
