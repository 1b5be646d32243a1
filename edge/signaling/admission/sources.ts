/** Which source addresses belong to which trunk. Pure. */
import { isIP } from 'node:net';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { InboundTrunk, NumberConfig } from '#shared/edge-protocol/numbers.ts';
import { AddressSet, isWide, plainAddress } from '#shared/networks.ts';

/**
 * The decision whether a source may call a number. `trunk` is the configuration that admitted it, null when calls
 * are open to all.
 */
export type Admission =
  | { readonly allowed: true; readonly trunk: InboundTrunk | null }
  | { readonly allowed: false };

/** A record that registers somewhere, and the number that it is for. */
export interface RegisteredNumber {
  readonly number: NumberConfig;
  readonly trunk: InboundTrunk;
}

/** The share of the engine's capacity that the operator's proxies have; ids of organizations look different. */
const proxiesShare = 'proxies';

function isAddress(host: string): boolean {
  return isIP(plainAddress(host)) !== 0;
}

/** Hosts that a number's calls go to, including those of a disabled failover: they are probed. */
function outboundHosts({ outbound }: NumberConfig): string[] {
  return outbound.flatMap(({ endpoints, standby }) =>
    [...endpoints, ...(standby ?? [])].map(({ host }) => host),
  );
}

/** The host names of a configuration that a `SourceIndex` needs resolved. */
export function hostsOf({ numbers }: EdgeConfig): Set<string> {
  const hosts = numbers.flatMap((number) => [
    ...number.inbound.flatMap(({ source_host }) => (source_host === null ? [] : [source_host])),
    ...outboundHosts(number).filter((host) => !isAddress(host)),
  ]);
  return new Set(hosts);
}

/** Whether the registrar at this address has granted the record's binding since the edge started. */
export type IsBoundAt = (trunkId: string, address: string) => boolean;

interface TrunkSources {
  readonly trunk: InboundTrunk;
  readonly addresses: AddressSet;
}

/** The sources of all numbers of one configuration, with host names as resolved at that time. */
export class SourceIndex {
  readonly #byNumber = new Map<string, readonly TrunkSources[]>();
  /** By the user that they register. */
  readonly #registered = new Map<string, (RegisteredNumber & TrunkSources)[]>();
  /** Sources named specifically enough to be treated as known, for capacity and answers. */
  readonly #known = new AddressSet();
  readonly #knownEntries = new Map<string, Set<string>>();
  /** Also includes very wide networks, which identify nobody except for their own number. */
  readonly #listed = new AddressSet();
  /** What is listed for any number of an organization. */
  readonly #byOrganization = new Map<string, AddressSet>();
  readonly #openInbound: boolean;
  readonly #proxies = new AddressSet();
  /** Signs the nonces of callers with credentials; null: no number has any. */
  readonly nonceKey: string | null;
  /** Very wide networks, by number. */
  readonly wide = new Map<string, readonly string[]>();
  /** Entries that could not be read, for the log. */
  readonly unreadable: string[] = [];

  /** @param resolved addresses of each of the configuration's `hostsOf` */
  constructor(config: EdgeConfig, resolved: ReadonlyMap<string, readonly string[]>) {
    this.#openInbound = config.open_inbound;
    const trunks = config.numbers.flatMap(({ inbound }) => inbound);
    this.nonceKey = trunks.find(({ digest }) => digest)?.digest?.nonce_key ?? null;
    this.#addProxies(config.trusted_proxies ?? []);
    for (const number of config.numbers) {
      const trunks = number.inbound.map((trunk) => this.#sourcesOf(number, trunk, resolved));
      const wide = number.inbound.flatMap(({ allowed_ips }) => allowed_ips.filter(isWide));
      if (wide.length > 0) this.wide.set(number.number, wide);
      this.#byNumber.set(number.number, trunks);
      for (const sources of trunks) this.#addRegistered(number, sources);
      for (const host of outboundHosts(number)) this.#addOutbound(number, host, resolved);
    }
  }

  /** They are known like a customer's sources, but may call no number themselves. */
  #addProxies(addresses: readonly string[]): void {
    const valid = addresses.filter((address) => this.#proxies.add(address));
    for (const address of valid) this.#known.add(address);
    if (valid.length > 0) this.#knownEntries.set(proxiesShare, new Set(valid));
  }

  #sourcesOf(
    number: NumberConfig,
    trunk: InboundTrunk,
    resolved: ReadonlyMap<string, readonly string[]>,
  ): TrunkSources {
    const addresses = new AddressSet();
    const hosts = trunk.source_host === null ? [] : (resolved.get(trunk.source_host) ?? []);
    // The entry of a record with credentials is for edges that do not know these (control/edge-config/rules.ts).
    for (const entry of trunk.digest ? [] : [...trunk.allowed_ips, ...hosts]) {
      if (addresses.add(entry)) this.#list(number, entry);
      else this.unreadable.push(entry);
    }
    return { trunk, addresses };
  }

  /** A called host need not send calls, but its OPTIONS do not count as scanning. */
  #addOutbound(number: NumberConfig, host: string, resolved: ReadonlyMap<string, readonly string[]>): void {
    for (const address of isAddress(host) ? [host] : (resolved.get(host) ?? [])) this.#list(number, address);
  }

  #list({ org_id }: NumberConfig, entry: string): void {
    let ofOrganization = this.#byOrganization.get(org_id);
    if (!ofOrganization) {
      ofOrganization = new AddressSet();
      this.#byOrganization.set(org_id, ofOrganization);
    }
    ofOrganization.add(entry);
    this.#listed.add(entry);
    if (isWide(entry) || !this.#known.add(entry)) return;
    const entries = this.#knownEntries.get(org_id);
    if (entries) entries.add(entry);
    else this.#knownEntries.set(org_id, new Set([entry]));
  }

  #addRegistered(number: NumberConfig, sources: TrunkSources): void {
    const { auth_mode, registration } = sources.trunk;
    if (auth_mode !== 'register' || !registration) return;
    const known = this.#registered.get(registration.username) ?? [];
    this.#registered.set(registration.username, [...known, { number, ...sources }]);
  }

  /**
   * The registration behind a call to `user`: one of that user whose registrar has the source address. The same
   * user may be registered at several registrars, and at one registrar for several numbers.
   *
   * Anyone can enter another party's registrar, addresses, user name or number in a record of their own. So when
   * records of several organizations match, or `user` is also another organization's number, only a binding that
   * the registrar at this address has granted counts: the registrar's owner has created an account with the
   * password derived for that record.
   * @param dialled number in To, which decides between several
   * @param direct the number that `user` itself is
   */
  registered(
    user: string,
    address: string,
    dialled: string,
    direct: NumberConfig | undefined,
    isBoundAt: IsBoundAt,
  ): RegisteredNumber | null {
    const fitting = this.#registered.get(user)?.filter(({ addresses }) => addresses.has(address)) ?? [];
    const owners = new Set(fitting.map(({ number }) => number.org_id));
    if (direct) owners.add(direct.org_id);
    const sure = owners.size > 1 ? fitting.filter(({ trunk }) => isBoundAt(trunk.id, address)) : fitting;
    return sure.find(({ number }) => number.number === dialled) ?? sure[0] ?? null;
  }

  /** A number that registers as `user` at any registrar; undefined when none does, or several organizations do. */
  registeredAnywhere(user: string): NumberConfig | undefined {
    const [first, ...others] = this.#registered.get(user) ?? [];
    return others.every(({ number }) => number.org_id === first?.number.org_id) ? first?.number : undefined;
  }

  /**
   * Contract 2.1: one of the number's configurations must list the source. A number that lists nothing accepts
   * nobody, unless the deployment opens inbound calls to every source.
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
   * Whether a configuration of any number names this source, even if only as a destination: such a source is not
   * a scanner. That does not allow it to call; `admit` decides that. A very wide network does not count:
   * otherwise one number that lists the whole Internet would make every source known to all numbers.
   */
  knows(address: string): boolean {
    return this.#known.has(address);
  }

  /** Whether the operator trusts a proxy at this address to name the sources of its requests. */
  isProxy(address: string): boolean {
    return this.#proxies.has(address);
  }

  /** The entries that make sources known, addresses and CIDR blocks, by organization id; proxies have their own. */
  get knownEntries(): Record<string, readonly string[]> {
    return Object.fromEntries([...this.#knownEntries].map(([orgId, entries]) => [orgId, [...entries]]));
  }

  /** Whether any list names this source, including very wide ones: it may then call that number. */
  lists(address: string): boolean {
    return this.#listed.has(address);
  }

  /** Whether a number of this organization names the source. */
  isOfOrganization(orgId: string, address: string): boolean {
    return this.#byOrganization.get(orgId)?.has(address) ?? false;
  }
}
