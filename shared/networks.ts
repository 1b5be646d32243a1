/** IP addresses and networks as values: spelling, membership, and size of networks. Pure. */
import { isIP } from 'node:net';

/**
 * An address in the form used for comparison and reports: the spelling of RFC 5952 section 4, IPv4-mapped IPv6 as IPv4,
 * without brackets and zone. Addresses are equal when these texts are equal. A name becomes lower case.
 */
export function plainAddress(address: string): string {
  if (isPlainIPv4(address)) return address;
  const bare = address
    .replace(/^\[|\]$/g, '')
    .replace(/%.*$/, '')
    .toLowerCase();
  if (!bare.includes(':') || isIP(bare) !== 6) return bare;
  const groups = bitsOf(bare, 6);
  return groups >> 32n === mappedIpv4 ? ipv4Text(groups & 0xffffffffn) : ipv6Text(groups);
}

/** Whether a text is digits and dots, which have one spelling: most addresses are, so no expression has to look at them. */
function isPlainIPv4(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code < 48 || code > 57) && code !== 46) return false;
  }
  return true;
}

/** A host in the form used for comparison: a plain address, or a name in lower case without the final dot. */
export function plainHost(host: string): string {
  return plainAddress(host).replace(/\.$/, '');
}

/** Whether two hosts are the same in any spelling. */
export function isSameHost(one: string, other: string): boolean {
  return one === other || plainHost(one) === plainHost(other);
}

/** Whether an address means "anywhere": listening on all addresses, or media on hold (RFC 3264, 8.4). */
export function isAnyAddress(address: string): boolean {
  const plain = plainAddress(address);
  return plain === '0.0.0.0' || plain === '::';
}

function ipv4Text(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
}

/** RFC 5952 section 4.2: shortens the first of the longest runs of two or more zero groups. */
function ipv6Text(bits: bigint): string {
  const groups = [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) =>
    ((bits >> shift) & 0xffffn).toString(16),
  );
  const text = groups.join(':');
  const runs = text.match(/(?<![^:])0(?::0)+(?![^:])/g) ?? [];
  const longest = runs.reduce((found, run) => (run.length > found.length ? run : found), '');
  if (longest === '') return text;
  const at = `:${text}:`.indexOf(`:${longest}:`);
  return `${text.slice(0, Math.max(0, at - 1))}::${text.slice(at + longest.length + 1)}`;
}

export interface Network {
  readonly family: 4 | 6;
  /** The address's bits, including the host part. */
  readonly bits: bigint;
  /** Length in bits, 0 to 32 or 128. */
  readonly prefix: number;
}

const widthOf = { 4: 32, 6: 128 } as const;
const mappedIpv4 = 0xffffn;

/** The bits of a valid IPv4 or IPv6 address. */
function bitsOf(address: string, family: 4 | 6): bigint {
  if (family === 4) return address.split('.').reduce((bits, octet) => (bits << 8n) | BigInt(octet), 0n);
  const [head = '', tail] = address.split('::');
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const gap = Array<number>(8 - before.length - after.length).fill(0);
  return [...before, ...gap, ...after].reduce((bits, group) => (bits << 16n) | BigInt(group), 0n);
}

/** 16-bit groups of a part of an IPv6 address, which may end in IPv4 notation. */
function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const bits = Number(bitsOf(group, 4));
    return [bits >>> 16, bits & 0xffff];
  });
}

/** Parses an address or CIDR block; null when the text is neither. IPv4-mapped IPv6, in any spelling, is IPv4. */
export function readNetwork(entry: string): Network | null {
  const slash = entry.indexOf('/');
  const address = plainAddress(slash < 0 ? entry : entry.slice(0, slash));
  const kind = isIP(address);
  if (kind !== 4 && kind !== 6) return null;
  const length = slash < 0 ? null : entry.slice(slash + 1);
  if (length !== null && !/^\d{1,3}$/.test(length)) return null;
  const bits = bitsOf(address, kind);
  const written = slash < 0 ? entry : entry.slice(0, slash);
  const mapped = kind === 4 && written.includes(':');
  const width = widthOf[kind];
  const prefix = length === null ? width : Number(length) - (mapped ? 96 : 0);
  if (prefix < 0 || prefix > width) return null;
  return { family: kind, bits, prefix };
}

/**
 * Whether an entry is valid in a list of sources: control and edge share this rule. A network wider than that of all
 * IPv4-mapped IPv6 addresses (`::ffff:0:0/96`) and written with such an address is neither IPv4 nor IPv6.
 */
export function isNetwork(entry: string): boolean {
  const [address = ''] = entry.split('/', 1);
  // Brackets and zones are valid in hosts, but not in a list.
  return isIP(address) !== 0 && !address.includes('%') && readNetwork(entry) !== null;
}

function key({ family, bits }: Network, prefix: number): string {
  return `${family} ${bits >> BigInt(widthOf[family] - prefix)}`;
}

/**
 * Values by address and CIDR block of both families. A lookup takes one step per prefix length in use.
 */
export class AddressMap<Value> {
  /** By family and prefix length. */
  readonly #byLength = new Map<number, Map<string, Value>>();

  /**
   * @param next computes the value at `entry` from the current one
   * @returns false when `entry` is neither an address nor a CIDR block and was ignored
   */
  put(entry: string, next: (before: Value | undefined) => Value): boolean {
    const network = readNetwork(entry);
    if (!network) return false;
    const { prefix } = network;
    let values = this.#byLength.get(prefix);
    if (!values) {
      values = new Map();
      this.#byLength.set(prefix, values);
    }
    const name = key(network, prefix);
    values.set(name, next(values.get(name)));
    return true;
  }

  /** The values of all entries that cover `address`. */
  find(address: string): Value[] {
    const found: Value[] = [];
    if (this.#byLength.size === 0) return found;
    const network = readNetwork(address);
    if (!network) return found;
    for (const [prefix, values] of this.#byLength) {
      if (prefix > widthOf[network.family]) continue;
      const value = values.get(key(network, prefix));
      if (value !== undefined) found.push(value);
    }
    return found;
  }
}

/** A set of addresses and CIDR blocks of both families. */
export class AddressSet {
  readonly #entries = new AddressMap<true>();

  /** @returns false when `entry` is neither an address nor a CIDR block and was ignored */
  add(entry: string): boolean {
    return this.#entries.put(entry, () => true);
  }

  has(address: string): boolean {
    return this.#entries.find(address).length > 0;
  }
}

/** Prefix length of a network that usually belongs to one customer of an access provider. */
const neighbourhood = { 4: 24, 6: 64 } as const;

/** The network by which connections are counted: /24 of IPv4, /64 of IPv6; other text unchanged. */
export function networkOf(address: string): string {
  const network = readNetwork(address);
  return network ? key(network, neighbourhood[network.family]) : address;
}

/**
 * Identifies the host behind an address: the address itself for IPv4, its /64 for IPv6, in which one host may have any
 * number of addresses (RFC 4291 section 2.5.4, RFC 8981).
 */
export function hostKey(address: string): string {
  const plain = plainAddress(address);
  return plain.includes(':') ? networkOf(plain) : plain;
}

/** Shortest prefix lengths that a customer may list without the operator's permission. */
const widestListed = { 4: 16, 6: 32 } as const;

/** Whether an entry of `allowed_ips` is too wide to identify the caller: shorter than /16 or /32. */
export function isWide(entry: string): boolean {
  const network = readNetwork(entry);
  return network !== null && network.prefix < widestListed[network.family];
}
