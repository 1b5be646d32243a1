/** Shared by the tests of the trunks: DNS from a table, and endpoints. */
import type { OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import type { Endpoint } from '#shared/trunk-protocol.ts';
import {
  type Dns,
  type DnsAnswer,
  DnsFailure,
  type NaptrRecord,
  type SrvRecord,
} from '../../../edge/trunks/dns.ts';
import type { Target } from '../../../edge/trunks/resolve.ts';

interface Zone {
  readonly a?: Readonly<Record<string, readonly string[]>>;
  readonly aaaa?: Readonly<Record<string, readonly string[]>>;
  readonly srv?: Readonly<Record<string, readonly SrvRecord[]>>;
  readonly naptr?: Readonly<Record<string, readonly NaptrRecord[]>>;
  /** `<kind> <name>` of queries that fail. */
  readonly failing?: readonly string[];
}

export class FakeDns implements Dns {
  zone: Zone;
  readonly asked: string[] = [];

  constructor(zone: Zone) {
    this.zone = zone;
  }

  a(host: string): Promise<DnsAnswer<string>> {
    return this.#answer('a', host, this.zone.a?.[host]);
  }

  aaaa(host: string): Promise<DnsAnswer<string>> {
    return this.#answer('aaaa', host, this.zone.aaaa?.[host]);
  }

  srv(name: string): Promise<DnsAnswer<SrvRecord>> {
    return this.#answer('srv', name, this.zone.srv?.[name]);
  }

  naptr(name: string): Promise<DnsAnswer<NaptrRecord>> {
    return this.#answer('naptr', name, this.zone.naptr?.[name]);
  }

  async #answer<T>(kind: string, name: string, records: readonly T[] = []): Promise<DnsAnswer<T>> {
    this.asked.push(`${kind} ${name}`);
    if (this.zone.failing?.includes(`${kind} ${name}`)) throw new DnsFailure('no answer', 'ESERVFAIL');
    return { records, ttlS: 300 };
  }
}

export function srv(target: string, port: number, priority = 0, weight = 0): SrvRecord {
  return { target, port, priority, weight };
}

export function endpoint(host: string, priority = 0, port = 5061): Endpoint {
  return { host, port, priority };
}

/** A trunk with one endpoint per host, primary first. */
export function route(
  id: string,
  hosts: readonly string[],
  other: Partial<OutboundTrunk> = {},
): OutboundTrunk {
  return {
    id,
    priority: 1,
    endpoints: hosts.map((host, priority) => endpoint(host, priority)),
    triggers: ['unreachable', 'auth_failure', 'timeout'],
    failback: 'auto',
    credentials: null,
    headers: [],
    codecs: [],
    transcode: false,
    ...other,
  };
}

export function target(address: string, host = address, port = 5061): Target {
  return { host, address, port, serverName: host };
}

/** Lets everything run that only waits for promises. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
