import { describe, expect, test } from 'vitest';
import { remotePath, unreachable } from './remote-path.ts';

describe('the way to the peer', () => {
  test.each([
    ['a PBX with media and signaling on one public host', '203.0.113.7', '203.0.113.7', 'connect'],
    ['a carrier with media on another public host', '198.51.100.9', '203.0.113.7', 'connect'],
    ['a PBX behind NAT that tells its private address', '192.168.1.20', '203.0.113.7', 'latch'],
    ['a peer behind carrier-grade NAT', '100.64.3.4', '203.0.113.7', 'latch'],
    ['a PBX of our own network with a media server', '10.0.0.6', '10.0.0.5', 'connect'],
    ['a PBX of our own network', '10.0.0.5', '10.0.0.5', 'connect'],
    ['the same host', '127.0.0.1', '127.0.0.1', 'connect'],
    ['a loopback address from elsewhere', '127.0.0.1', '203.0.113.7', 'latch'],
    ['a peer whose signaling address is not known', '192.168.1.20', undefined, 'connect'],
    ['the old hold address', '0.0.0.0', '203.0.113.7', 'latch'],
    ['a host name', 'media.example.com', '203.0.113.7', 'latch'],
    ['IPv6', '2001:db8::9', '2001:db8::5', 'connect'],
    ['a unique local IPv6 address from outside', 'fd00::9', '2001:db8::5', 'latch'],
  ] as const)('%s', (_, sdp, signaling, path) => {
    expect(remotePath(sdp, signaling)).toBe(path);
  });
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
