import { describe, expect, it } from 'vitest';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { FakeDns, srv } from '../../test/kit/edge/trunks.ts';
import { TargetResolver } from './resolve.ts';

function resolver(zone: FakeDns['zone'], allowed: readonly string[] = [], maxTargets = 8) {
  const dns = new FakeDns(zone);
  const networks = parseNetworks(allowed);
  return {
    dns,
    resolver: new TargetResolver({ dns, random: () => 0.99, allowed: () => networks, maxTargets }),
  };
}

/** `name address:port` of each target. */
async function places(zone: FakeDns['zone'], host: string, port: number | null): Promise<string[]> {
  const resolution = await resolver(zone).resolver.resolve(host, port);
  if (!resolution.ok) throw new Error(resolution.message);
  expect(new Set(resolution.targets.map(({ serverName }) => serverName)).size).toBe(1);
  return resolution.targets.map(({ host: name, address, port: at }) => `${name} ${address}:${at}`);
}

const naptr = (replacement: string, service = 'SIPS+D2T') => ({
  order: 10,
  preference: 10,
  flags: 's',
  service,
  replacement,
});

describe('a literal address', () => {
  it('is used as it is, on 5061 unless a port is given, without DNS', async () => {
    const { dns, resolver: one } = resolver({});
    expect(await one.resolve('8.8.8.8', null)).toEqual({
      ok: true,
      targets: [{ host: '8.8.8.8', address: '8.8.8.8', port: 5061, serverName: '8.8.8.8' }],
    });
    expect(await one.resolve('[2606:4700::1111]', 5071)).toEqual({
      ok: true,
      targets: [
        { host: '2606:4700::1111', address: '2606:4700::1111', port: 5071, serverName: '2606:4700::1111' },
      ],
    });
    expect(dns.asked).toEqual([]);
  });

  it('is rejected when it is private, and accepted when its network is allowed', async () => {
    expect(await resolver({}).resolver.resolve('10.0.0.1', null)).toEqual({
      ok: false,
      code: 'target_not_allowed',
      message: '10.0.0.1 is a private address',
    });
    expect((await resolver({}, ['10.0.0.0/8']).resolver.resolve('10.0.0.1', null)).ok).toBe(true);
  });
});

describe('a host with a port', () => {
  it('is looked up directly, IPv4 first, without NAPTR and SRV', async () => {
    const { dns, resolver: one } = resolver({
      a: { 'pbx.example.com': ['8.8.8.8', '8.8.4.4'] },
      aaaa: { 'pbx.example.com': ['2606:4700::1111'] },
      srv: { '_sips._tcp.pbx.example.com': [srv('other.example.com', 5061)] },
    });
    const resolution = await one.resolve('PBX.example.com.', 5071);
    expect(resolution.ok && resolution.targets.map(({ address, port }) => `${address}:${port}`)).toEqual([
      '8.8.8.8:5071',
      '8.8.4.4:5071',
      '2606:4700::1111:5071',
    ]);
    expect(dns.asked.toSorted()).toEqual(['a pbx.example.com', 'aaaa pbx.example.com']);
  });
});

describe('a host without a port', () => {
  it('follows NAPTR to its SRV records, and the certificate name stays that of the host', async () => {
    const { resolver: one } = resolver({
      naptr: {
        'example.com': [naptr('_sip._udp.example.com', 'SIP+D2U'), naptr('_sips._tcp.carrier.example')],
      },
      srv: {
        '_sips._tcp.carrier.example': [srv('edge.carrier.example', 5081)],
        '_sips._tcp.example.com': [srv('unused.example.com', 5061)],
      },
      a: { 'edge.carrier.example': ['8.8.8.8'] },
    });
    expect(await one.resolve('example.com', null)).toEqual({
      ok: true,
      targets: [{ host: 'edge.carrier.example', address: '8.8.8.8', port: 5081, serverName: 'example.com' }],
    });
  });

  it('uses the SRV records of the default name when there is no NAPTR, by priority', async () => {
    const zone = {
      srv: {
        '_sips._tcp.example.com': [
          srv('backup.example.com', 5061, 20, 0),
          srv('light.example.com', 5071, 10, 10),
          srv('heavy.example.com', 5081, 10, 90),
        ],
      },
      a: {
        'backup.example.com': ['8.8.8.1'],
        'light.example.com': ['8.8.8.2'],
        'heavy.example.com': ['8.8.8.3'],
      },
    };
    expect(await places(zone, 'example.com', null)).toEqual([
      'heavy.example.com 8.8.8.3:5081',
      'light.example.com 8.8.8.2:5071',
      'backup.example.com 8.8.8.1:5061',
    ]);
  });

  it('falls back to its own addresses on 5061 without SRV, also when NAPTR and SRV queries fail', async () => {
    const a = { 'example.com': ['8.8.8.8'] };
    expect(await places({ a }, 'example.com', null)).toEqual(['example.com 8.8.8.8:5061']);
    const failing = ['naptr example.com', 'srv _sips._tcp.example.com', 'aaaa example.com'];
    expect(await places({ a, failing }, 'example.com', null)).toEqual(['example.com 8.8.8.8:5061']);
  });

  it('skips an SRV target without an address', async () => {
    const zone = {
      srv: { '_sips._tcp.example.com': [srv('gone.example.com', 5061, 1), srv('here.example.com', 5061, 2)] },
      a: { 'here.example.com': ['8.8.8.8'] },
    };
    expect(await places(zone, 'example.com', null)).toEqual(['here.example.com 8.8.8.8:5061']);
  });

  it('has no target when its SRV record has the root as target', async () => {
    const { resolver: one } = resolver({
      srv: { '_sips._tcp.example.com': [srv('', 0)] },
      a: { 'example.com': ['8.8.8.8'] },
    });
    expect(await one.resolve('example.com', null)).toEqual({
      ok: false,
      code: 'dns_failure',
      message: 'according to DNS, example.com has no SIP over TLS service',
    });
  });
});

describe('DNS results are checked', () => {
  it('private addresses are left out when there are others', async () => {
    const a = { 'example.com': ['10.0.0.1', '8.8.8.8', '169.254.169.254'] };
    expect(await places({ a }, 'example.com', 5061)).toEqual(['example.com 8.8.8.8:5061']);
  });

  it('a host with private addresses only is rejected, each reason once', async () => {
    const { resolver: one } = resolver({
      a: { 'example.com': ['127.0.0.1'] },
      aaaa: { 'example.com': ['::1'] },
    });
    expect(await one.resolve('example.com', 5061)).toEqual({
      ok: false,
      code: 'target_not_allowed',
      message: 'example.com: 127.0.0.1 is a loopback address; ::1 is a loopback address',
    });
  });

  it('localhost is rejected without a lookup', async () => {
    const { dns, resolver: one } = resolver({ a: { localhost: ['8.8.8.8'] } });
    expect(await one.resolve('localhost', null)).toMatchObject({ ok: false, code: 'target_not_allowed' });
    expect(dns.asked).toEqual([]);
  });
});

it('distinguishes a name that does not exist from a failed query', async () => {
  expect(await resolver({}).resolver.resolve('example.com', 5061)).toMatchObject({
    message: 'example.com has no address',
  });
  const { resolver: one } = resolver({ failing: ['a example.com'] });
  expect(await one.resolve('example.com', 5061)).toMatchObject({ code: 'dns_failure', message: 'no answer' });
});

it('returns no more targets than asked for', async () => {
  const addresses = Array.from({ length: 20 }, (_, index) => `8.8.8.${index + 1}`);
  const { resolver: one } = resolver({ a: { 'example.com': addresses } }, [], 3);
  const resolution = await one.resolve('example.com', 5061);
  expect(resolution.ok && resolution.targets).toHaveLength(3);
});
