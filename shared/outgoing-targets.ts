/**
 * Which addresses the service may contact on behalf of a customer (contract 1.9). Pure: code that resolves a name
 * checks every address and then connects to one of them, so a name that resolves differently a moment later (DNS
 * rebinding) gains nothing.
 */
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

export type TargetVerdict = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

interface RefusedNetwork {
  readonly reason: string;
  readonly networks: BlockList;
}

const allowedVerdict: TargetVerdict = { allowed: true };

/** IANA special-purpose address registries (RFC 6890) and the metadata services of clouds. */
const refused: readonly RefusedNetwork[] = [
  refusal('a cloud metadata address', [
    '169.254.169.254/32',
    '169.254.170.2/32',
    '100.100.100.200/32',
    // Azure and Oracle Cloud; both look like public addresses.
    '168.63.129.16/32',
    '192.0.0.192/32',
    'fd00:ec2::254/128',
    'fd20:ce::254/128',
  ]),
  refusal('an unspecified address', ['0.0.0.0/8', '::/128']),
  refusal('a loopback address', ['127.0.0.0/8', '::1/128']),
  refusal('a private address', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']),
  refusal('a shared (carrier-grade NAT) address', ['100.64.0.0/10']),
  refusal('a link-local address', ['169.254.0.0/16', 'fe80::/10']),
  refusal('a unique-local address', ['fc00::/7']),
  refusal('a site-local address', ['fec0::/10']),
  refusal('a multicast address', ['224.0.0.0/4', 'ff00::/8']),
  // RFC 8215: translated by the local network to any IPv4 address.
  refusal('a local-use NAT64 address', ['64:ff9b:1::/48']),
  // RFC 4380: reaches a hidden IPv4 address through a relay.
  refusal('a Teredo address', ['2001::/32']),
  // RFC 5737, RFC 3849, RFC 9637: for examples only.
  refusal('a documentation address', [
    '192.0.2.0/24',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '2001:db8::/32',
    '3fff::/20',
  ]),
  // RFC 2544, RFC 5180: for benchmarks, and routed inside some networks.
  refusal('a benchmarking address', ['198.18.0.0/15', '2001:2::/48']),
  // RFC 7526: the deprecated anycast address of 6to4 relays.
  refusal('a 6to4 relay address', ['192.88.99.0/24']),
  // RFC 4291 section 2.5.5.1: deprecated; where they lead depends on the host.
  refusal('an IPv4-compatible address', ['::/96']),
  // RFC 6666, RFC 4843 and RFC 7343, RFC 9602: a sink, host identifiers, segment identifiers.
  refusal('a discard-only address', ['100::/64']),
  refusal('an ORCHID address', ['2001:10::/28', '2001:20::/28']),
  refusal('a segment routing address', ['5f00::/16']),
  // Not in the contract's list, but no host has such an address; includes the broadcast address.
  refusal('a reserved address', ['240.0.0.0/4', '192.0.0.0/24']),
];

function refusal(reason: string, cidrs: readonly string[]): RefusedNetwork {
  return { reason, networks: parseNetworks(cidrs) };
}

/**
 * Compiles IPv4 and IPv6 addresses and CIDR blocks into a list for fast lookups.
 * @throws RangeError naming the first invalid entry
 */
export function parseNetworks(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const slash = entry.indexOf('/');
    const address = (slash < 0 ? entry : entry.slice(0, slash)).trim();
    const version = isIP(address);
    const bits = version === 6 ? 128 : 32;
    const length = slash < 0 ? bits : Number(entry.slice(slash + 1).trim() || Number.NaN);
    if (version === 0 || !Number.isInteger(length) || length < 0 || length > bits) {
      throw new RangeError(`"${entry}" is neither an IP address nor a network like 10.0.0.0/8 or fd00::/8`);
    }
    list.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/**
 * Checks a literal or resolved address.
 * @param address IPv4 or IPv6 without brackets; IPv6 forms that contain an IPv4 address (mapped, 6to4, NAT64) are
 *   checked by that address
 * @param allowed networks that may be contacted although they are otherwise forbidden
 */
export function judgeAddress(address: string, allowed: BlockList): TargetVerdict {
  const plain = withoutZone(address);
  if (isIP(plain) === 0) return { allowed: false, reason: `${address} is not an IP address` };
  const forms = [...embeddedIpv4(plain), plain];
  if (forms.some((form) => contains(allowed, form))) return allowedVerdict;
  for (const form of forms) {
    for (const { reason, networks } of refused) {
      if (contains(networks, form)) return { allowed: false, reason: `${address} is ${reason}` };
    }
  }
  return allowedVerdict;
}

/**
 * Checks a URL's host as far as possible without a lookup: a literal address with `judgeAddress`, the name `localhost`
 * as loopback; any other name passes and is checked at use.
 */
export function judgeHost(host: string, allowed: BlockList): TargetVerdict {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (isIP(withoutZone(bare)) !== 0) return judgeAddress(bare, allowed);
  const name = bare.toLowerCase().replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost')) {
    if (contains(allowed, '127.0.0.1') || contains(allowed, '::1')) return allowedVerdict;
    return { allowed: false, reason: `${host} is a loopback name` };
  }
  return allowedVerdict;
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

function withoutZone(address: string): string {
  const percent = address.indexOf('%');
  return percent < 0 ? address : address.slice(0, percent);
}

/** RFC 4291 section 2.5.5 (mapped, compatible), RFC 6052 (64:ff9b::/96), RFC 3056 (2002::/16). */
function embeddedIpv4(address: string): string[] {
  if (!isIPv6(address)) return [];
  const words = ipv6Words(address);
  const [w0 = 0, w1 = 0, w2 = 0, w3 = 0, w4 = 0, w5 = 0, w6 = 0, w7 = 0] = words;
  const leadingZero = w0 === 0 && w1 === 0 && w2 === 0 && w3 === 0 && w4 === 0;
  const mapped = leadingZero && (w5 === 0xffff || (w5 === 0 && w6 !== 0));
  const nat64 = w0 === 0x64 && w1 === 0xff9b && w2 === 0 && w3 === 0 && w4 === 0 && w5 === 0;
  if (mapped || nat64) return [dotted(w6, w7)];
  if (w0 === 0x2002) return [dotted(w1, w2)];
  return [];
}

function dotted(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

function ipv6Words(address: string): number[] {
  const lastColon = address.lastIndexOf(':');
  const tail = address.slice(lastColon + 1);
  let text = address;
  if (tail.includes('.')) {
    const [a = 0, b = 0, c = 0, d = 0] = tail.split('.').map(Number);
    text = `${address.slice(0, lastColon + 1)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const [left = '', right] = text.split('::');
  const head = left === '' ? [] : left.split(':');
  const foot = right === undefined || right === '' ? [] : right.split(':');
  const gap = right === undefined ? 0 : 8 - head.length - foot.length;
  return [...head, ...Array<string>(Math.max(0, gap)).fill('0'), ...foot].map((word) =>
    Number.parseInt(word, 16),
  );
}
