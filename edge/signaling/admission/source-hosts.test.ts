import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { SourceHosts } from './source-hosts.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

function setup(zone: Record<string, string[]>) {
  const clock = new FakeClock();
  const log = new QuietLog();
  let changes = 0;
  const hosts = new SourceHosts({
    clock,
    log,
    refreshMs: 300_000,
    resolve: async (host) => {
      const addresses = zone[host];
      if (!addresses) throw new Error('NXDOMAIN');
      return addresses;
    },
    changed: () => changes++,
  });
  return { clock, log, hosts, changes: () => changes };
}

describe('the source hosts of trunks', () => {
  it('are resolved when they are new, and again every five minutes', async () => {
    const zone: Record<string, string[]> = { 'a.example': ['192.0.2.1'] };
    const { clock, hosts, changes } = setup(zone);
    hosts.follow(['a.example']);
    await settle();
    expect(hosts.addresses.get('a.example')).toEqual(['192.0.2.1']);
    zone['a.example'] = ['192.0.2.2'];
    clock.advance(299_999);
    await settle();
    expect(changes()).toBe(1);
    clock.advance(1);
    await settle();
    expect(changes()).toBe(2);
    expect(hosts.addresses.get('a.example')).toEqual(['192.0.2.2']);
    clock.advance(300_000);
    await settle();
    expect(changes()).toBe(2);
    hosts.close();
    expect(clock.pending).toBe(0);
  });

  it('keep their addresses when DNS fails, and log it', async () => {
    const zone: Record<string, string[]> = { 'a.example': ['192.0.2.1'] };
    const { clock, hosts, log } = setup(zone);
    hosts.follow(['a.example']);
    await settle();
    delete zone['a.example'];
    clock.advance(300_000);
    await settle();
    expect(hosts.addresses.get('a.example')).toEqual(['192.0.2.1']);
    expect(log.lines.at(-1)).toMatchObject({ level: 'warn', fields: { host: 'a.example' } });
    hosts.close();
  });

  it('include addresses learned meanwhile until the next lookup', async () => {
    const { clock, hosts, changes } = setup({ 'a.example': ['192.0.2.1'] });
    hosts.follow(['a.example']);
    await settle();
    hosts.learn('a.example', ['192.0.2.1']);
    hosts.learn('other.example', ['192.0.2.9']);
    expect(changes()).toBe(1);
    hosts.learn('a.example', ['192.0.2.7']);
    expect(changes()).toBe(2);
    expect(hosts.addresses.get('a.example')).toEqual(['192.0.2.1', '192.0.2.7']);
    expect(hosts.addresses.has('other.example')).toBe(false);
    clock.advance(300_000);
    await settle();
    expect(hosts.addresses.get('a.example')).toEqual(['192.0.2.1']);
    hosts.close();
  });

  it('have a limited number of addresses, whatever DNS returns, and the log says so', async () => {
    const addresses = Array.from({ length: 4000 }, (_, i) => `20.0.${i >> 8}.${i & 255}`).sort();
    const { hosts, log } = setup({ 'a.example': addresses });
    hosts.follow(['a.example']);
    await settle();
    expect(hosts.addresses.get('a.example')).toEqual(addresses.slice(0, 100));
    expect(log.lines.at(-1)).toMatchObject({
      level: 'warn',
      fields: { host: 'a.example', addresses: 4000, kept: 100 },
    });
    hosts.learn('a.example', addresses.slice(200));
    expect(hosts.addresses.get('a.example')).toHaveLength(100);
    hosts.close();
  });

  it('are forgotten when no trunk lists them anymore', async () => {
    const { hosts } = setup({ 'a.example': ['192.0.2.1'] });
    hosts.follow(['a.example']);
    await settle();
    hosts.follow([]);
    expect(hosts.addresses.size).toBe(0);
    hosts.close();
  });
});
