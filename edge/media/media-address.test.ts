import { describe, expect, test } from 'vitest';
import { isDestination, unreachable } from './media-address.ts';

test.each([
  ['a public address', '203.0.113.7', true],
  ['a private address', '192.168.1.20', true],
  ['IPv6', '2001:db8::9', true],
  ['the old hold address', '0.0.0.0', false],
  ['the old hold address of IPv6', '::', false],
  ['a host name', 'media.example.com', false],
  ['an invalid address', '999.1.1.1', false],
])('%s can be sent to: %s %s', (_, address, sendable) => {
  expect(isDestination(address)).toBe(sendable);
});

describe('a media address', () => {
  test.each([
    ['203.0.113.7', '0.0.0.0', null],
    ['2001:db8::9', '::', null],
    ['media.example.com', '0.0.0.0', null],
    ['2001:db8::9', '192.0.2.1', 'No IPv6 here: media address 2001:db8::9 cannot be reached'],
    ['203.0.113.7', '2001:db8::1', 'No IPv4 here: media address 203.0.113.7 cannot be reached'],
    ['239.1.2.3', '0.0.0.0', 'Media address 239.1.2.3 is multicast, which is not supported'],
    ['255.255.255.255', '0.0.0.0', 'Media address 255.255.255.255 is multicast, which is not supported'],
    ['ff02::1', '::', 'Media address ff02::1 is multicast, which is not supported'],
  ])('%s seen from %s', (address, listenIp, problem) => {
    expect(unreachable(address, listenIp)).toBe(problem);
  });
});
