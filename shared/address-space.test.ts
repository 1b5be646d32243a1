import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spaceOf } from './address-space.ts';
import { AddressSet } from './networks.ts';

const seed = Number(process.env.SEED ?? 20261122);

describe('the address space of a list', () => {
  it.each([
    [[], 0, 0],
    [['192.0.2.1'], 1, 0],
    [['192.0.2.1', '192.0.2.1/32', '::ffff:192.0.2.1'], 1, 0],
    [['192.0.2.0/24', '192.0.2.77', '192.0.2.128/25'], 256, 0],
    [['192.0.2.0/25', '192.0.2.128/25', '192.0.3.0/24'], 512, 0],
    [['192.0.2.77/16'], 65_536, 0],
    [['0.0.0.0/0', '192.0.2.1'], 2 ** 32, 0],
    [['2001:db8::1', '2001:db8::2', '2001:db8::/64'], 0, 1],
    [['2001:db8::/63', '2001:db8:0:1::1', '2001:db8:0:2::/64'], 0, 3],
    [['2001:db8::/32'], 0, 2 ** 32],
    [['192.0.2.1', '2001:db8::1', 'bogus', '::ffff:0:0/95'], 1, 1],
  ])('%j is %d addresses and %d /64', (entries, ipv4, ipv6) => {
    expect(spaceOf(entries)).toEqual({ ipv4, ipv6 });
  });

  it('counts the addresses that are in any of its entries', () => {
    const block = fc.tuple(fc.nat(255), fc.integer({ min: 24, max: 32 }));
    fc.assert(
      fc.property(fc.array(block, { maxLength: 20 }), (blocks) => {
        const entries = blocks.map(([host, prefix]) => `192.0.2.${host}/${prefix}`);
        const set = new AddressSet();
        for (const entry of entries) set.add(entry);
        const covered = Array.from({ length: 256 }, (_, host) => set.has(`192.0.2.${host}`)).filter(Boolean);
        expect(spaceOf(entries)).toEqual({ ipv4: covered.length, ipv6: 0 });
      }),
      { seed },
    );
  });
});
