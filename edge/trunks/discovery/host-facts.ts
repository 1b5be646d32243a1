/** DNS data for the host of a discovery, with every address checked (contract 1.9). */
import { type BlockList, isIP } from 'node:net';
import { judgedLookup } from '#shared/judged-lookup.ts';
import { judgeHost } from '#shared/outgoing-targets.ts';
import type { SipTransport } from '#shared/sip-destination.ts';
import type { DiscoveryResult } from '#shared/trunk-protocol.ts';
import type { Dns, SrvRecord } from '../dns.ts';
import { addressesOf, bareHost } from '../resolve.ts';
import type { SrvTarget } from './candidates.ts';

export interface HostFacts {
  /** Checked addresses of the host itself, then those of SRV targets. */
  readonly addresses: readonly string[];
  readonly srvTargets: readonly SrvTarget[];
  readonly srvRecords: DiscoveryResult['srv_records'];
}

export interface HostLimits {
  /** Maximum number of host addresses to probe. */
  readonly maxAddresses: number;
  /** Maximum number of SRV targets to probe. */
  readonly maxSrvTargets: number;
  /** Maximum number of SRV records to report. */
  readonly maxSrvRecords: number;
}

/** The reason why a host cannot be probed at all. */
export class HostRefused extends Error {
  override readonly name = 'HostRefused';
  readonly code: 'DNS_FAILURE' | 'TARGET_NOT_ALLOWED';

  constructor(code: 'DNS_FAILURE' | 'TARGET_NOT_ALLOWED', message: string) {
    super(message);
    this.code = code;
  }
}

const services: readonly { readonly name: string; readonly transport: SipTransport }[] = [
  { name: '_sips._tcp', transport: 'tls' },
  { name: '_sip._tcp', transport: 'tcp' },
  { name: '_sip._udp', transport: 'udp' },
];

interface ServiceRecord extends SrvRecord {
  readonly service: string;
  readonly transport: SipTransport;
}

/** @throws HostRefused when no address is left to probe */
export async function hostFacts(
  host: string,
  dns: Dns,
  allowed: BlockList,
  limits: HostLimits,
): Promise<HostFacts> {
  const name = bareHost(host);
  const verdict = judgeHost(name, allowed);
  if (!verdict.allowed) throw new HostRefused('TARGET_NOT_ALLOWED', verdict.reason);
  if (isIP(name) !== 0) return { addresses: [name], srvTargets: [], srvRecords: [] };

  const lookUp = (target: string) => judgedLookup(target, (at) => addressesOf(dns, at), allowed);
  const [own, records] = await Promise.all([
    lookUp(name).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error)))),
    serviceRecords(dns, name),
  ]);
  const targets = records.filter(({ target }) => target !== '').slice(0, limits.maxSrvTargets);
  const resolved = await Promise.all(
    targets.map(async (record) => ({ record, found: await lookUp(record.target).catch(() => null) })),
  );
  const judged = [own instanceof Error ? null : own, ...resolved.map(({ found }) => found)].filter(
    (found) => found !== null,
  );
  if (judged.length === 0) {
    throw new HostRefused('DNS_FAILURE', own instanceof Error ? own.message : `${name} has no address`);
  }
  if (judged.every(({ addresses }) => addresses.length === 0)) {
    const reasons = new Set(judged.flatMap(({ refusals }) => refusals));
    throw new HostRefused('TARGET_NOT_ALLOWED', `${name}: ${[...reasons].join('; ')}`);
  }
  return {
    addresses: own instanceof Error ? [] : own.addresses.slice(0, limits.maxAddresses),
    srvTargets: resolved.flatMap(({ record, found }) => {
      const address = found?.addresses[0];
      return address === undefined ? [] : [{ ...record, address }];
    }),
    srvRecords: records
      .slice(0, limits.maxSrvRecords)
      .map(({ service, target, port, priority, weight }) => ({ service, target, port, priority, weight })),
  };
}

/** TLS first, then by usage, so that the limit on targets drops the least important ones. */
async function serviceRecords(dns: Dns, host: string): Promise<ServiceRecord[]> {
  const found = await Promise.all(
    services.map(async ({ name, transport }) => {
      const { records } = await dns.srv(`${name}.${host}`).catch(() => ({ records: [] }));
      const inOrder = records.toSorted(
        (one, other) => one.priority - other.priority || other.weight - one.weight,
      );
      return inOrder.map((record) => ({ ...record, service: name, transport }));
    }),
  );
  return found.flat();
}
