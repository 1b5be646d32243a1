/** The DNS interface of the trunks, which lets tests run without a server, and its implementation on Node's client. */
import { lookup, Resolver } from 'node:dns/promises';

export interface SrvRecord {
  readonly target: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

/** RFC 3403 section 4.1; SIP does not use the regular expression field (RFC 3263 section 4.1). */
export interface NaptrRecord {
  readonly order: number;
  readonly preference: number;
  readonly flags: string;
  readonly service: string;
  readonly replacement: string;
}

/** No records: the name or the type does not exist. */
export interface DnsAnswer<T> {
  readonly records: readonly T[];
  /** TTL of the answer, seconds; null when the client does not report it. */
  readonly ttlS: number | null;
}

/** Every function rejects with `DnsFailure` when the query fails; a name that does not exist is an empty answer. */
export interface Dns {
  a(host: string): Promise<DnsAnswer<string>>;
  aaaa(host: string): Promise<DnsAnswer<string>>;
  srv(name: string): Promise<DnsAnswer<SrvRecord>>;
  naptr(name: string): Promise<DnsAnswer<NaptrRecord>>;
}

/** The name servers gave no usable answer. */
export class DnsFailure extends Error {
  override readonly name = 'DnsFailure';
  /** From Node's client, such as ETIMEOUT or ESERVFAIL. */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

export interface NodeDnsOptions {
  /** `address` or `address:port`; empty: the system's servers, and its hosts file. */
  readonly servers: readonly string[];
  /** Time limit per query to a name server before a retry or the next server, ms. */
  readonly timeoutMs: number;
  readonly tries: number;
}

/** Node's codes for a name or type that does not exist: NXDOMAIN, and no data of this type. */
const negative = new Set(['ENOTFOUND', 'ENODATA']);

/** Node's DNS client. */
export class NodeDns implements Dns {
  readonly #resolver: Resolver;
  readonly #useHostsFile: boolean;

  /** @throws Error naming a server in the list that is not an address */
  constructor({ servers, timeoutMs, tries }: NodeDnsOptions) {
    this.#resolver = new Resolver({ timeout: timeoutMs, tries });
    this.#useHostsFile = servers.length === 0;
    if (servers.length > 0) this.#resolver.setServers(servers);
  }

  a(host: string): Promise<DnsAnswer<string>> {
    return this.#addresses(host, 4, this.#resolver.resolve4(host, { ttl: true }));
  }

  aaaa(host: string): Promise<DnsAnswer<string>> {
    return this.#addresses(host, 6, this.#resolver.resolve6(host, { ttl: true }));
  }

  async srv(name: string): Promise<DnsAnswer<SrvRecord>> {
    const found = await answered(name, this.#resolver.resolveSrv(name));
    const records = found.map(({ name: target, port, priority, weight }) => ({
      target: plainName(target),
      port,
      priority,
      weight,
    }));
    return { records, ttlS: null };
  }

  async naptr(name: string): Promise<DnsAnswer<NaptrRecord>> {
    const found = await answered(name, this.#resolver.resolveNaptr(name));
    const records = found.map(({ order, preference, flags, service, replacement }) => ({
      order,
      preference,
      flags,
      service,
      replacement: plainName(replacement),
    }));
    return { records, ttlS: null };
  }

  async #addresses(
    host: string,
    family: 4 | 6,
    query: Promise<{ address: string; ttl: number }[]>,
  ): Promise<DnsAnswer<string>> {
    let failure: unknown = null;
    const found = await answered(host, query).catch((error: unknown) => {
      failure = error;
      return [];
    });
    if (found.length > 0) {
      const ttlS = found.reduce((shortest, { ttl }) => Math.min(shortest, ttl), Number.POSITIVE_INFINITY);
      return { records: found.map(({ address }) => address), ttlS };
    }
    // The system resolver blocks a thread while name servers are silent, so it is used only when they respond.
    const silent = failure instanceof DnsFailure && failure.code === 'ETIMEOUT';
    const known = this.#useHostsFile && !silent ? await inHostsFile(host, family) : [];
    if (known.length === 0 && failure !== null) throw failure;
    return { records: known, ttlS: null };
  }
}

async function inHostsFile(host: string, family: 4 | 6): Promise<string[]> {
  const known = await lookup(host, { all: true, family }).catch(() => []);
  return known.map(({ address }) => address);
}

async function answered<T>(name: string, query: Promise<T[]>): Promise<T[]> {
  try {
    return await query;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    if (negative.has(code)) return [];
    throw new DnsFailure(`the name servers gave no answer for ${name} (${code})`, code);
  }
}

/** Lower case, without the root's dot. The root itself, which in an SRV record means "no service", is "". */
function plainName(name: string): string {
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}
