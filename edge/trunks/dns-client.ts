/**
 * DNS for trunks: questions go straight to the name servers, because only then is the TTL of all record types known.
 * getaddrinfo, which knows no TTL and no SRV or NAPTR, is used for one thing only: addresses that only this machine knows.
 *
 * | Of the system | Here |
 * |---|---|
 * | name servers of /etc/resolv.conf | asked in their order, unless `servers` are set; read again for each question |
 * | its `search` and `ndots` | not applied: names in configurations are complete |
 * | /etc/hosts, nsswitch.conf (mDNS, …) | asked by getaddrinfo for A and AAAA that DNS does not have, unless `servers` are set |
 */
import { Resolver } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import type { Answer, RecordType } from 'dns-packet';
import { systemAddresses } from '#shared/judged-lookup.ts';
import { type Dns, type DnsAnswer, DnsFailure, type NaptrRecord, type SrvRecord } from './dns.ts';
import { askServer, type NameServer, NoAnswer, plainName, type ServerAnswer } from './dns-question.ts';

export interface DnsClientOptions {
  /** `address` or `address:port`; empty: the system's servers, and its hosts file. */
  readonly servers: readonly string[];
  /** Time limit per question to a name server before the next server, ms. */
  readonly timeoutMs: number;
  /** How often each server is asked. */
  readonly tries: number;
}

export class DnsClient implements Dns {
  readonly #options: DnsClientOptions;
  /** null: those of the system. */
  readonly #servers: readonly NameServer[] | null;

  /** @throws Error naming a server in the list that is not an address */
  constructor(options: DnsClientOptions) {
    this.#options = options;
    this.#servers = options.servers.length === 0 ? null : serversOf(options.servers);
  }

  a(host: string): Promise<DnsAnswer<string>> {
    return this.#addresses(host, 'A');
  }

  aaaa(host: string): Promise<DnsAnswer<string>> {
    return this.#addresses(host, 'AAAA');
  }

  srv(name: string): Promise<DnsAnswer<SrvRecord>> {
    return this.#records(name, 'SRV', (record) =>
      record.type === 'SRV'
        ? {
            target: plainName(record.data.target),
            port: record.data.port,
            priority: record.data.priority ?? 0,
            weight: record.data.weight ?? 0,
          }
        : null,
    );
  }

  naptr(name: string): Promise<DnsAnswer<NaptrRecord>> {
    return this.#records(name, 'NAPTR', (record) =>
      record.type === 'NAPTR'
        ? {
            order: record.data.order,
            preference: record.data.preference,
            flags: record.data.flags,
            service: record.data.services,
            replacement: plainName(record.data.replacement),
          }
        : null,
    );
  }

  async #addresses(host: string, type: 'A' | 'AAAA'): Promise<DnsAnswer<string>> {
    let failure: unknown = null;
    const found = await this.#records(host, type, (record) =>
      record.type === type ? record.data : null,
    ).catch((error: unknown) => {
      failure = error;
      return { records: [], ttlS: null };
    });
    if (found.records.length > 0) return found;
    // The system resolver blocks a thread while name servers are silent, so it is used only when they respond.
    const silent = failure instanceof DnsFailure && failure.code === 'ETIMEOUT';
    const known = this.#servers === null && !silent ? await ofTheMachine(host, type) : [];
    if (known.length > 0) return { records: known, ttlS: null };
    if (failure !== null) throw failure;
    return found;
  }

  async #records<T>(
    name: string,
    type: RecordType,
    read: (record: Answer) => T | null,
  ): Promise<DnsAnswer<T>> {
    const { answers, authorities } = await this.#ask(name, type);
    const records = answers.flatMap((record) => read(record) ?? []);
    return { records, ttlS: records.length > 0 ? shortest(answers) : ttlOfNothing(authorities) };
  }

  async #ask(name: string, type: RecordType): Promise<ServerAnswer> {
    const { timeoutMs, tries } = this.#options;
    const servers = this.#servers ?? serversOf(new Resolver().getServers());
    let code = 'ENOSERVER';
    for (let attempt = 0; attempt < tries; attempt++) {
      for (const server of servers) {
        try {
          return await askServer(name, type, server, timeoutMs);
        } catch (error) {
          if (!(error instanceof NoAnswer)) throw error;
          code = error.code;
        }
      }
    }
    throw new DnsFailure(`no answer from the name servers for ${name} (${code})`, code);
  }
}

async function ofTheMachine(host: string, type: 'A' | 'AAAA'): Promise<string[]> {
  const known = await systemAddresses(host).catch(() => []);
  return known.filter((address) => isIPv6(address) === (type === 'AAAA'));
}

function shortest(records: readonly Answer[]): number | null {
  const ttls = records.flatMap((record) => ('ttl' in record && record.ttl !== undefined ? [record.ttl] : []));
  return ttls.length === 0 ? null : Math.min(...ttls);
}

/** RFC 2308 section 5: the lesser of the SOA record's TTL and its last field. */
function ttlOfNothing(authorities: readonly Answer[]): number | null {
  for (const record of authorities) {
    if (record.type === 'SOA') return Math.min(record.ttl ?? 0, record.data.minimum ?? 0);
  }
  return null;
}

/** Node's resolver checks the addresses and completes the ports. */
function serversOf(servers: readonly string[]): NameServer[] {
  const resolver = new Resolver();
  resolver.setServers(servers);
  return resolver.getServers().map((server) => {
    const [, bracketed, plain, port] =
      /^(?:\[([^\]]+)\]|([^:]+|[^:]*:.*:[^:]*))(?::(\d+))?$/.exec(server) ?? [];
    return { address: bracketed ?? plain ?? server, port: port === undefined ? 53 : Number(port) };
  });
}
