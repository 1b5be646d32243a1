import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AddressSet,
  hostKey,
  isAnyAddress,
  isNetwork,
  isSameHost,
  isWide,
  networkOf,
  plainAddress,
} from './networks.ts';

const seed = Number(process.env.SEED ?? 20261122);

describe('an address', () => {
  it.each([
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['[2001:DB8::1]', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:FFFF:192.0.2.1', '192.0.2.1'],
    ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8::0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:0:0:0:1', '2001:db8:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:0:0:0:0:0:0:0', '1::'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['PBX.example.com', 'pbx.example.com'],
  ])('%s is normalized to %s', (address, plain) => {
    expect(plainAddress(address)).toBe(plain);
  });

  it.each([
    ['192.0.2.1', '192.0.2.254', true],
    ['192.0.2.1', '192.0.3.1', false],
    ['192.0.2.1', '::ffff:192.0.2.9', true],
    ['2001:db8::1', '2001:db8:0:0:ffff::1', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
  ])('%s and %s are in one network: %s', (one, other, same) => {
    expect(networkOf(one) === networkOf(other)).toBe(same);
  });

  it('of IPv4 is a host, of IPv6 one of many that a host has', () => {
    expect(hostKey('192.0.2.1')).not.toBe(hostKey('192.0.2.2'));
    expect(hostKey('2001:db8::1')).toBe(hostKey('2001:db8::2'));
    expect(hostKey('::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(hostKey('::ffff:192.0.2.1')).not.toBe(hostKey('::ffff:192.0.2.2'));
  });
});

describe('hosts', () => {
  const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
  const groups = fc.array(group, { minLength: 8, maxLength: 8 });

  /** One of the many spellings of an IPv6 address (RFC 4291 section 2.2). */
  function spelled(parts: readonly number[], from: number, length: number, wide: boolean): string {
    const hex = (part: number) => part.toString(16).padStart(wide ? 4 : 1, '0');
    const texts = parts.map((part, at) => (wide && at % 2 === 0 ? hex(part).toUpperCase() : hex(part)));
    const zeros = parts.slice(from, from + length);
    if (zeros.length === 0 || zeros.some((part) => part !== 0)) return texts.join(':');
    return `${texts.slice(0, from).join(':')}::${texts.slice(from + zeros.length).join(':')}`;
  }

  it('are equal however an address is written, in the spelling of the URL standard', () => {
    fc.assert(
      fc.property(groups, fc.nat(7), fc.nat(8), fc.boolean(), (parts, from, length, wide) => {
        // IPv4-mapped addresses become IPv4 here.
        fc.pre(parts.slice(0, 5).some((part) => part !== 0) || parts[5] !== 0xffff);
        const address = spelled(parts, from, length, wide);
        const plain = plainAddress(address);
        expect(`[${plain}]`).toBe(new URL(`http://[${address}]/`).hostname);
        expect(isSameHost(address, `[${plain}]`)).toBe(true);
        expect(hostKey(address)).toBe(hostKey(plain));
      }),
      { seed },
    );
  });

  it.each([
    ['PBX.example.com.', 'pbx.example.com', true],
    ['pbx.example.com', 'sbc.example.com', false],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['[2001:DB8::0:1]', '2001:db8::1', true],
    ['192.0.2.1', '192.0.2.10', false],
    ['::1', '127.0.0.1', false],
  ])('%s and %s are the same: %s', (one, other, same) => {
    expect(isSameHost(one, other)).toBe(same);
  });

  it.each([
    ['0.0.0.0', true],
    ['::', true],
    ['[::]', true],
    ['0:0:0:0:0:0:0:0', true],
    ['::ffff:0.0.0.0', true],
    ['::1', false],
  ])('%s means any address: %s', (address, any) => {
    expect(isAnyAddress(address)).toBe(any);
  });
});

describe('a set of addresses', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.77/24', '192.0.2.1', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['0.0.0.0/0', '203.0.113.7', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '203.0.113.7', false],
    ['2001:db8::/32', '2001:db8:1::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:db8:0:0:0:0:0:1', '2001:db8::1', true],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['::ffff:c000:201', '192.0.2.1', true],
    ['::ffff:192.0.2.0/120', '192.0.2.77', true],
    ['192.0.2.1', 'not an address', false],
  ])('of %s has %s: %s', (entry, address, expected) => {
    const set = new AddressSet();
    expect(set.add(entry)).toBe(true);
    expect(set.has(address)).toBe(expected);
  });

  it.each(['bogus', '192.0.2.0/33', '192.0.2.1/', '2001:db8::/129', '1.2.3', '::ffff:192.0.2.0/24'])(
    'rejects %s',
    (entry) => {
      expect(new AddressSet().add(entry)).toBe(false);
    },
  );

  it("agrees with Node's address lists", () => {
    const ipv4 = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 }));
    const ipv6 = fc.tuple(
      fc.ipV6().filter((address) => isIP(address) === 6 && isIP(plainAddress(address)) === 6),
      fc.integer({ min: 0, max: 128 }),
    );
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6), fc.oneof(fc.ipV4(), fc.ipV6()), ([address, prefix], asked) => {
        const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
        const list = new BlockList();
        list.addSubnet(address, prefix, family);
        const set = new AddressSet();
        set.add(`${address}/${prefix}`);
        for (const candidate of [address, asked]) {
          const kind = isIP(plainAddress(candidate));
          if (kind === 0 || plainAddress(candidate) !== candidate.toLowerCase()) continue;
          // Node applies IPv6 rules to IPv4 addresses in mapped form; here the families are separate.
          if ((kind === 4) !== (family === 'ipv4')) continue;
          expect(set.has(candidate)).toBe(list.check(candidate, kind === 4 ? 'ipv4' : 'ipv6'));
        }
      }),
      { seed, numRuns: 300 },
    );
  });
});

describe('a network', () => {
  it.each([
    ['0.0.0.0/0', true],
    ['52.112.0.0/14', true],
    ['192.0.0.0/16', false],
    ['192.0.2.1', false],
    ['::/0', true],
    ['2001::/31', true],
    ['2001:db8::/32', false],
    ['::ffff:0.0.0.0/96', true],
    ['::ffff:0:0/96', true],
    ['::ffff:192.0.0.0/112', false],
    ['bogus', false],
  ])('%s is very wide: %s', (entry, wide) => {
    expect(isWide(entry)).toBe(wide);
  });
});

describe('an entry in a list of sources', () => {
  const address = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV4().map((ipv4) => `::ffff:${ipv4}`),
    fc.constantFrom('::ffff:0:0', '[::1]', '[10.0.0.1', 'fe80::1%eth0', ' 10.0.0.1', '10.0.0.01'),
  );
  const length = fc.oneof(
    fc.integer({ min: -1, max: 130 }).map(String),
    fc.constantFrom('', '08', '0x8', '8.0', '1e1', ' 8', '+8'),
  );
  const entry = fc.oneof(
    address,
    fc.tuple(address, length).map((parts) => parts.join('/')),
    fc.string(),
  );

  it('accepted by the rule is accepted by every set', () => {
    fc.assert(
      fc.property(entry, (text) => {
        if (isNetwork(text)) expect(new AddressSet().add(text)).toBe(true);
      }),
      { seed, numRuns: 1000 },
    );
  });

  it.each([
    ['192.0.2.1', true],
    ['192.0.2.77/24', true],
    ['2001:db8::/32', true],
    ['::ffff:0:0/96', true],
    ['::/0', true],
    ['::ffff:0:0/95', false],
    ['[2001:db8::1]', false],
    ['fe80::1%eth0', false],
    ['192.0.2.0/0x18', false],
    [' 192.0.2.1', false],
    ['pbx.example.com', false],
  ])('%s is valid: %s', (text, expected) => {
    expect(isNetwork(text)).toBe(expected);
  });
});
