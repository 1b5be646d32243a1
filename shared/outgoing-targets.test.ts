import { describe, expect, it } from 'vitest';
import { judgeAddress, judgeHost, parseNetworks } from '#shared/outgoing-targets.ts';

const none = parseNetworks([]);

describe('judgeAddress', () => {
  it.each([
    ['10.1.2.3', 'a private address'],
    ['172.31.255.255', 'a private address'],
    ['192.168.0.1', 'a private address'],
    ['127.0.0.1', 'a loopback address'],
    ['0.0.0.0', 'an unspecified address'],
    ['100.64.0.1', 'a shared (carrier-grade NAT) address'],
    ['169.254.169.254', 'a cloud metadata address'],
    ['169.254.1.1', 'a link-local address'],
    ['239.1.1.1', 'a multicast address'],
    ['::', 'an unspecified address'],
    ['::1', 'a loopback address'],
    ['fe80::1', 'a link-local address'],
    ['fe80::1%eth0', 'a link-local address'],
    ['fd12::1', 'a unique-local address'],
    ['ff02::1', 'a multicast address'],
    ['::ffff:10.0.0.1', 'a private address'],
    ['::ffff:7f00:1', 'a loopback address'],
    ['::127.0.0.1', 'a loopback address'],
    ['64:ff9b::a00:1', 'a private address'],
    ['2002:7f00:1::', 'a loopback address'],
    ['2002:c0a8:101::1', 'a private address'],
    ['168.63.129.16', 'a cloud metadata address'],
    ['192.0.0.192', 'a cloud metadata address'],
    ['192.0.0.8', 'a reserved address'],
    ['64:ff9b::a83f:8110', 'a cloud metadata address'],
    ['64:ff9b:1::7f00:1', 'a local-use NAT64 address'],
    ['64:ff9b:1:ffff::808:808', 'a local-use NAT64 address'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'a Teredo address'],
    ['192.0.2.1', 'a documentation address'],
    ['198.51.100.255', 'a documentation address'],
    ['203.0.113.7', 'a documentation address'],
    ['2001:db8:ffff::1', 'a documentation address'],
    ['3fff:fff:ffff::1', 'a documentation address'],
    ['::ffff:192.0.2.1', 'a documentation address'],
    ['198.18.0.1', 'a benchmarking address'],
    ['198.19.255.255', 'a benchmarking address'],
    ['2001:2:0:ffff::1', 'a benchmarking address'],
    ['192.88.99.1', 'a 6to4 relay address'],
    ['2002:c058:6301::', 'a 6to4 relay address'],
    ['::8.8.8.8', 'an IPv4-compatible address'],
    ['::808:808', 'an IPv4-compatible address'],
    ['::5', 'an IPv4-compatible address'],
    ['100::1', 'a discard-only address'],
    ['2001:10::1', 'an ORCHID address'],
    ['2001:2f:ffff::1', 'an ORCHID address'],
    ['5f00::1', 'a segment routing address'],
  ])('rejects %s as %s', (address, reason) => {
    expect(judgeAddress(address, none)).toEqual({ allowed: false, reason: `${address} is ${reason}` });
  });

  it.each([
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '192.0.1.1',
    '192.0.3.1',
    '198.17.255.255',
    '198.20.0.1',
    '192.88.98.1',
    '203.0.114.1',
    '100:0:0:1::1',
    '2001:2:1::1',
    '2001:db9::1',
    '4000::1',
    '168.63.129.17',
    '2001:1::1',
    '2606:4700::1111',
    '2002:808:808::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('allows the public address %s', (address) => {
    expect(judgeAddress(address, none)).toEqual({ allowed: true });
  });

  it('allows private addresses in a listed network, also in mapped form, and no others', () => {
    const allowed = parseNetworks(['127.0.0.0/8', 'fd00:1::/32']);
    expect(judgeAddress('127.0.0.1', allowed)).toEqual({ allowed: true });
    expect(judgeAddress('::ffff:127.0.0.1', allowed)).toEqual({ allowed: true });
    expect(judgeAddress('fd00:1::5', allowed)).toEqual({ allowed: true });
    expect(judgeAddress('10.0.0.1', allowed).allowed).toBe(false);
  });

  it('rejects text that is not an address', () => {
    expect(judgeAddress('example.com', none)).toEqual({
      allowed: false,
      reason: 'example.com is not an IP address',
    });
  });
});

describe('judgeHost', () => {
  it('checks literals and localhost, and defers names to the time of use', () => {
    expect(judgeHost('[::1]', none).allowed).toBe(false);
    expect(judgeHost('10.0.0.1', none).allowed).toBe(false);
    expect(judgeHost('localhost.', none).allowed).toBe(false);
    expect(judgeHost('bot.example.com', none)).toEqual({ allowed: true });
    expect(judgeHost('localhost', parseNetworks(['127.0.0.1']))).toEqual({ allowed: true });
  });
});

describe('parseNetworks', () => {
  it.each(['10.0.0.0/33', 'fd00::/129', 'example.com', '10.0.0.0/', '10.0.0.0/x', ''])(
    'names the invalid entry "%s"',
    (entry) => {
      expect(() => parseNetworks([entry])).toThrow(`"${entry}" is neither`);
    },
  );
});
