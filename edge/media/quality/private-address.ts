/** Addresses that are unreachable from the Internet. */
import { BlockList, isIP } from 'node:net';

const unreachable = new BlockList();
// RFC 1918, RFC 6598 (carriers' NAT), RFC 3927 and RFC 4291 (link local), RFC 4193, loopback.
unreachable.addSubnet('10.0.0.0', 8);
unreachable.addSubnet('172.16.0.0', 12);
unreachable.addSubnet('192.168.0.0', 16);
unreachable.addSubnet('100.64.0.0', 10);
unreachable.addSubnet('169.254.0.0', 16);
unreachable.addSubnet('127.0.0.0', 8);
unreachable.addSubnet('fe80::', 10, 'ipv6');
unreachable.addSubnet('fc00::', 7, 'ipv6');
unreachable.addAddress('::1', 'ipv6');

/** Whether `address` is private, link local or loopback; false for host names. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && unreachable.check(address, version === 6 ? 'ipv6' : 'ipv4');
}
