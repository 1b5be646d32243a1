import { isIPv6 } from 'node:net';

/**
 * What counts as one client address. One host of IPv6 has a whole /64 to choose from (RFC 4291 section 2.5.1), so its
 * network counts; IPv4 that came over an IPv6 socket is that IPv4 address (section 2.5.5.2).
 */
export function clientNetwork(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const bare = address.split('%', 1)[0] ?? '';
  if (!isIPv6(bare)) return address;
  const [left = '', right] = bare.split('::');
  const begin = left === '' ? [] : left.split(':');
  const end = right === undefined || right === '' ? [] : right.split(':');
  // An IPv4 tail stands for two groups; it is never within the first four of an address with all eight.
  const zeros = 8 - begin.length - end.length - (bare.includes('.') ? 1 : 0);
  const groups = [...begin, ...Array<string>(right === undefined ? 0 : zeros).fill('0'), ...end];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
