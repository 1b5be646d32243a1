/** The size of the address space that a list of addresses and CIDR blocks covers. Pure. */
import { type Network, readNetwork } from './networks.ts';

/** Space covered by all entries; overlaps count once. */
export interface AddressSpace {
  /** Addresses. */
  readonly ipv4: number;
  /** /64 networks, the smallest that an IPv6 site has; a longer prefix counts as the /64 that contains it. */
  readonly ipv6: number;
}

/** From the first unit to the one after the last; a unit is an IPv4 address or an IPv6 /64. */
type Range = readonly [from: bigint, to: bigint];

/** Entries that are neither an address nor a CIDR block are ignored. */
export function spaceOf(entries: Iterable<string>): AddressSpace {
  const ranges: Record<4 | 6, Range[]> = { 4: [], 6: [] };
  for (const entry of entries) {
    const network = readNetwork(entry);
    if (network) ranges[network.family].push(rangeOf(network));
  }
  return { ipv4: unionOf(ranges[4]), ipv6: unionOf(ranges[6]) };
}

const unitBits = { 4: 32, 6: 64 } as const;

function rangeOf({ family, bits, prefix }: Network): Range {
  const units = family === 4 ? bits : bits >> 64n;
  const host = BigInt(Math.max(0, unitBits[family] - prefix));
  const from = (units >> host) << host;
  return [from, from + (1n << host)];
}

function unionOf(ranges: Range[]): number {
  let size = 0n;
  let covered = 0n;
  for (const [from, to] of ranges.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) {
    if (to <= covered) continue;
    size += to - (from > covered ? from : covered);
    covered = to;
  }
  return Number(size);
}
