/**
 * Resolves a host to addresses that accept TLS (RFC 3263, without UDP and plain TCP):
 *
 *     literal address ───────────────────────────────────────> address:port or 5061
 *     host:port ───────────────────────────────> A, AAAA ────> addresses:port
 *     host ──> NAPTR (SIPS+D2T) ──> SRV ───────> A, AAAA ────> addresses, ports and order of SRV
 *          └─> SRV of _sips._tcp ─┘
 *          └─> (no SRV) ───────────────────────> A, AAAA ────> addresses:5061
 *
 * Every address is checked (contract 1.9) and only allowed ones are returned; connections use the address, not the
 * name. The certificate is checked against the dialed name, not against names from DNS (RFC 5922 section 7.3).
 */
import { type BlockList, isIP } from 'node:net';
import { judgedLookup } from '#shared/judged-lookup.ts';
import { judgeHost } from '#shared/outgoing-targets.ts';
import type { Dns, SrvRecord } from './dns.ts';
import { orderSrv, sipsServices } from './srv-order.ts';

/** One address to connect to. */
export interface Target {
  /** The name with this address: the dialed host, or the target of an SRV record. */
  readonly host: string;
  readonly address: string;
  readonly port: number;
  /** The dialed host: the name that the certificate must contain. */
  readonly serverName: string;
}

export type Resolution =
  | { readonly ok: true; readonly targets: readonly Target[] }
  | {
      readonly ok: false;
      readonly code: 'dns_failure' | 'target_not_allowed';
      /** What is wrong, for a person. */
      readonly message: string;
    };

export interface ResolverOptions {
  readonly dns: Dns;
  /** Numbers from 0 up to but not 1. */
  readonly random: () => number;
  /** Private networks that may be contacted; read at every use. */
  readonly allowed: () => BlockList;
  /** Maximum number of targets returned. */
  readonly maxTargets: number;
}

/** RFC 3261 section 19.1.2. */
const tlsPort = 5061;
/** Maximum number of NAPTR records followed. */
const maxServices = 3;

/** A name and port that still need an address lookup. */
interface HostPort {
  readonly host: string;
  readonly port: number;
}

export class TargetResolver {
  readonly #options: ResolverOptions;

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  /**
   * @param host a name or an address, IPv6 with or without brackets
   * @param port null when none is configured: SRV records then decide
   */
  async resolve(host: string, port: number | null): Promise<Resolution> {
    const name = bareHost(host);
    const verdict = judgeHost(name, this.#options.allowed());
    if (!verdict.allowed) return { ok: false, code: 'target_not_allowed', message: verdict.reason };
    if (isIP(name) !== 0) {
      return { ok: true, targets: [{ host: name, address: name, port: port ?? tlsPort, serverName: name }] };
    }
    try {
      return await this.#targetsOf(name, await this.#hostPortsOf(name, port));
    } catch (error) {
      return {
        ok: false,
        code: 'dns_failure',
        message: error instanceof Error ? error.message : String(error),
      };
    }
  }

  async #hostPortsOf(name: string, port: number | null): Promise<readonly HostPort[]> {
    if (port !== null) return [{ host: name, port }];
    const records = await this.#srvOf(name);
    if (records.length === 0) return [{ host: name, port: tlsPort }];
    // RFC 2782: a single record with the root as target means that there is no such service.
    if (records.every(({ target }) => target === ''))
      throw new Error(`according to DNS, ${name} has no SIP over TLS service`);
    return orderSrv(
      records.filter(({ target }) => target !== ''),
      this.#options.random,
    ).map(({ target, port }) => ({ host: target, port }));
  }

  /** NAPTR names the SRV records; without a usable one they are at the default name, which is queried in parallel. */
  async #srvOf(name: string): Promise<readonly SrvRecord[]> {
    const { dns } = this.#options;
    const usual = dns.srv(`_sips._tcp.${name}`).catch(() => ({ records: [] }));
    const naptr = await dns.naptr(name).catch(() => ({ records: [] }));
    for (const service of sipsServices(naptr.records).slice(0, maxServices)) {
      const { records } = await dns.srv(service).catch(() => ({ records: [] }));
      if (records.length > 0) return records;
    }
    return (await usual).records;
  }

  async #targetsOf(serverName: string, hostPorts: readonly HostPort[]): Promise<Resolution> {
    const { dns, allowed, maxTargets } = this.#options;
    const found = await Promise.allSettled(
      hostPorts.slice(0, maxTargets).map(async ({ host, port }) => {
        const { addresses, refusals } = await judgedLookup(host, (name) => addressesOf(dns, name), allowed());
        return { refusals, targets: addresses.map((address) => ({ host, address, port, serverName })) };
      }),
    );
    const judged = found.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    if (judged.length === 0) {
      const failure = found.find((result) => result.status === 'rejected');
      throw failure ? failure.reason : new Error(`${serverName} has no address`);
    }
    const targets = judged.flatMap((one) => one.targets);
    if (targets.length > 0) return { ok: true, targets: targets.slice(0, maxTargets) };
    const reasons = new Set(judged.flatMap(({ refusals }) => refusals));
    return { ok: false, code: 'target_not_allowed', message: `${serverName}: ${[...reasons].join('; ')}` };
  }
}

/** IPv4 first, because media usually needs it. @throws when the host has no address or the query fails */
export async function addressesOf(dns: Pick<Dns, 'a' | 'aaaa'>, host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  const [v4, v6] = await Promise.allSettled([dns.a(host), dns.aaaa(host)]);
  const addresses = [v4, v6].flatMap((result) => (result.status === 'fulfilled' ? result.value.records : []));
  if (addresses.length > 0) return addresses;
  for (const result of [v4, v6]) if (result.status === 'rejected') throw result.reason;
  throw new Error(`${host} has no address`);
}

/** Lower case, an IPv6 address without brackets, a name without the root's dot. */
export function bareHost(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}
