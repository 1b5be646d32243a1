/** The outbound trunks with the settings of this edge. */
import { localAddress } from '../local-address.ts';
import type { ProbeReports } from '../probe-reports.ts';
import type { Signaling } from '../signaling/signaling.ts';
import { DnsClient } from '../trunks/dns-client.ts';
import { certificateReader } from '../trunks/endpoint-certificates.ts';
import type { FailoverStore } from '../trunks/failover-store.ts';
import type { ProbeFleet } from '../trunks/health.ts';
import { Trunks } from '../trunks/trunks.ts';
import { clock, type EdgeContext } from './context.ts';

/** Time limit per query to a name server before a retry or the next server, ms. */
const dnsTimeoutMs = 2_000;
const dnsTries = 2;

export function trunksOf(
  context: EdgeContext,
  signaling: Signaling,
  probes: ProbeReports,
  fleet: ProbeFleet,
  store: FailoverStore,
): Trunks {
  const { settings, limits, options, log, metrics, current, privateAuthority } = context;
  const { sip } = settings;
  return new Trunks({
    clock,
    random: Math.random,
    store,
    dns: new DnsClient({ servers: options.dnsServers ?? [], timeoutMs: dnsTimeoutMs, tries: dnsTries }),
    allowed: current.allowedTargets,
    ca: privateAuthority === null ? [] : [privateAuthority],
    prober: signaling,
    readCertificate: certificateReader(clock),
    ownHosts: [...(sip.publicHost === null ? [] : [sip.publicHost]), localAddress(sip.host)],
    report: (probe) => probes.add(probe),
    moved: (move) => {
      log.warn({ trunk_id: move.trunkId, from: move.from, to: move.to, cause: move.cause }, 'trunk moves');
      metrics.count('trunkline_edge_trunk_moves_total', { cause: move.cause });
      if (move.cause !== 'fleet') probes.moved(move.trunkId, move.to);
    },
    health: { ...limits.probes, intervalMs: settings.probeIntervalMs },
    failover: limits.failover,
    fleet,
  });
}
