/** Which source addresses belong to which trunk. Pure but for node's own address lists. */
import { BlockList, isIP } from 'node:net';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { InboundTrunk, NumberConfig } from '#shared/edge-protocol/numbers.ts';

const mappedPrefix = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;

/** An address as it is compared and reported: IPv4-mapped IPv6 as IPv4, without zone, IPv6 in lower case. */
export function plainAddress(address: string): string {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  return bare.replace(mappedPrefix, '').toLowerCase();
}

/** A set of addresses and CIDR blocks of both families. */
class AddressSet {
  readonly #list = new BlockList();
  #empty = true;

  /** @returns false when `entry` is neither an address nor a CIDR block; it is then left out */
  add(entry: string): boolean {
    const slash = entry.indexOf('/');
    const address = plainAddress(slash < 0 ? entry : entry.slice(0, slash));
    const family = isIP(address);
    if (family === 0) return false;
    const type = family === 4 ? 'ipv4' : 'ipv6';
    if (slash < 0) {
      this.#list.addAddress(address, type);
    } else {
      const text = entry.slice(slash + 1);
      const mapped = family === 4 && entry.includes(':');
      const prefix = Number(text) - (mapped ? 96 : 0);
      if (!/^\d{1,3}$/.test(text) || prefix < 0 || prefix > (family === 4 ? 32 : 128)) return false;
      this.#list.addSubnet(address, prefix, type);
    }
    this.#empty = false;
    return true;
  }

  get empty(): boolean {
    return this.#empty;
  }

  has(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#list.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }
}

/** Who may call a number. `trunk` is the configuration that let the source in, null when calls are open to all. */
export type Admission =
  | { readonly allowed: true; readonly trunk: InboundTrunk | null }
  | { readonly allowed: false };

/** A record that registers somewhere, and the number that it is for. */
export interface RegisteredNumber {
  readonly number: NumberConfig;
  readonly trunk: InboundTrunk;
}

function isAddress(host: string): boolean {
  return isIP(plainAddress(host)) !== 0;
}

/** Hosts that a number's calls go to, those of a failover that is switched off among them: they are probed. */
function outboundHosts({ outbound }: NumberConfig): string[] {
  return outbound.flatMap(({ endpoints, standby }) =>
    [...endpoints, ...(standby ?? [])].map(({ host }) => host),
  );
}

/** The host names of a configuration whose addresses a `SourceIndex` needs. */
export function hostsOf({ numbers }: EdgeConfig): Set<string> {
  const hosts = numbers.flatMap((number) => [
    ...number.inbound.flatMap(({ source_host }) => (source_host === null ? [] : [source_host])),
    ...outboundHosts(number).filter((host) => !isAddress(host)),
  ]);
  return new Set(hosts);
}

interface TrunkSources {
  readonly trunk: InboundTrunk;
  readonly addresses: AddressSet;
}

/** The sources of all numbers of one configuration, with the host names resolved as they were then. */
export class SourceIndex {
  readonly #byNumber = new Map<string, readonly TrunkSources[]>();
  /** By the user that they register. */
  readonly #registered = new Map<string, (RegisteredNumber & TrunkSources)[]>();
  readonly #all = new AddressSet();
  readonly #openInbound: boolean;
  /** Entries that could not be read, for the log. */
  readonly unreadable: string[] = [];

  /** @param resolved addresses of each of the `hostsOf` the configuration */
  constructor(config: EdgeConfig, resolved: ReadonlyMap<string, readonly string[]>) {
    this.#openInbound = config.open_inbound;
    for (const number of config.numbers) {
      const trunks = number.inbound.map((trunk) => this.#sourcesOf(trunk, resolved));
      this.#byNumber.set(number.number, trunks);
      for (const sources of trunks) this.#addRegistered(number, sources);
      for (const host of outboundHosts(number)) this.#addOutbound(host, resolved);
    }
  }

  #sourcesOf(trunk: InboundTrunk, resolved: ReadonlyMap<string, readonly string[]>): TrunkSources {
    const addresses = new AddressSet();
    const hosts = trunk.source_host === null ? [] : (resolved.get(trunk.source_host) ?? []);
    for (const entry of [...trunk.allowed_ips, ...hosts]) {
      if (addresses.add(entry)) this.#all.add(entry);
      else this.unreadable.push(entry);
    }
    return { trunk, addresses };
  }

  /** Calls go to it and none need come from it, but its OPTIONS are no scanner's. */
  #addOutbound(host: string, resolved: ReadonlyMap<string, readonly string[]>): void {
    for (const address of isAddress(host) ? [host] : (resolved.get(host) ?? [])) this.#all.add(address);
  }

  #addRegistered(number: NumberConfig, sources: TrunkSources): void {
    const { auth_mode, registration } = sources.trunk;
    if (auth_mode !== 'register' || !registration) return;
    const known = this.#registered.get(registration.username) ?? [];
    this.#registered.set(registration.username, [...known, { number, ...sources }]);
  }

  /**
   * The registration that a call to `user` comes for: one of that user whose registrar has the source address. The
   * same user may be registered at several registrars, and at one for several numbers.
   * @param dialled number that To names, which decides between several
   */
  registered(user: string, address: string, dialled: string): RegisteredNumber | null {
    const fitting = this.#registered.get(user)?.filter(({ addresses }) => addresses.has(address)) ?? [];
    return fitting.find(({ number }) => number.number === dialled) ?? fitting[0] ?? null;
  }

  /** A number that registers as `user`, wherever; undefined when none does. */
  registeredAnywhere(user: string): NumberConfig | undefined {
    return this.#registered.get(user)?.[0]?.number;
  }

  /**
   * Contract 2.1: the source must be listed by one of the number's configurations. A number that lists nothing
   * takes nobody, unless the deployment opens inbound calls to every source.
   * @param address as `plainAddress` gives it
   */
  admit(number: NumberConfig, address: string): Admission {
    const trunks = this.#byNumber.get(number.number) ?? [];
    for (const { trunk, addresses } of trunks) {
      if (addresses.has(address)) return { allowed: true, trunk };
    }
    const listsNothing = trunks.every(
      ({ trunk }) => trunk.allowed_ips.length === 0 && trunk.source_host === null,
    );
    if (this.#openInbound && listsNothing && trunks.length > 0) {
      return { allowed: true, trunk: trunks[0]?.trunk ?? null };
    }
    return { allowed: false };
  }

  /**
   * Whether any configuration of any number names this source, be it only to call it: such a one is no scanner. It
   * may not call for that; `admit` says who may.
   */
  knows(address: string): boolean {
    return this.#all.has(address);
  }
}
