/** Selects what a discovery probes (contract 3.1). Pure. */
import type { SipTransport } from '#shared/sip-destination.ts';
import type { Candidate } from './attempt.ts';

export interface DiscoveryQuery {
  /** A name or an address, IPv6 with or without brackets. */
  readonly host: string;
  /** Null: the usual ports. */
  readonly port: number | null;
  readonly transport: SipTransport | null;
}

interface PortAndTransport {
  readonly port: number;
  readonly transport: SipTransport;
}

/** An SRV target with one of its checked addresses. */
export interface SrvTarget extends PortAndTransport {
  readonly target: string;
  readonly address: string;
}

const usualPorts = [5060, 5061, 5080];
const usualPortsAndTransports: readonly PortAndTransport[] = [
  ...usualPorts.flatMap((port): PortAndTransport[] => [
    { port, transport: 'udp' },
    { port, transport: 'tcp' },
  ]),
  { port: 5061, transport: 'tls' },
];

/** Ports and transports: a port alone means all transports on it, a transport alone all its usual ports. */
export function portsAndTransports({
  port,
  transport,
}: Pick<DiscoveryQuery, 'port' | 'transport'>): readonly PortAndTransport[] {
  if (port !== null && transport !== null) return [{ port, transport }];
  if (port !== null) return (['udp', 'tcp', 'tls'] as const).map((each) => ({ port, transport: each }));
  if (transport !== null) return usualPorts.map((each) => ({ port: each, transport }));
  return usualPortsAndTransports;
}

/**
 * Every address with every port and transport, plus the SRV targets that match the query; no duplicates.
 * @param addresses checked addresses of the host
 */
export function candidatesOf(
  query: DiscoveryQuery,
  addresses: readonly string[],
  srvTargets: readonly SrvTarget[],
): Candidate[] {
  const { host } = query;
  const matrix = addresses.flatMap((address) =>
    portsAndTransports(query).map((each) => ({ ...each, address, host })),
  );
  const fitting = srvTargets
    .filter(({ port, transport }) => {
      return (query.port ?? port) === port && (query.transport ?? transport) === transport;
    })
    .map(({ address, port, transport }) => ({ address, port, transport, host }));
  const byKey = new Map<string, Candidate>();
  for (const candidate of [...matrix, ...fitting]) {
    const { address, port, transport } = candidate;
    const key = `${transport} ${address} ${port}`;
    if (!byKey.has(key)) byKey.set(key, candidate);
  }
  return [...byKey.values()];
}
