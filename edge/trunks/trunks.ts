/**
 * The outbound trunks of an edge: resolves names, probes endpoints, routes calls, discovers foreign systems. main.ts
 * creates, configures and closes it.
 */

import type { BlockList } from 'node:net';
import { isIP } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { Learned } from '#shared/edge-protocol/fleet.ts';
import type { OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { judgeHost } from '#shared/outgoing-targets.ts';
import type { SipDestination } from '#shared/sip-destination.ts';
import type { DiscoveryResult, Endpoint, HealthProbe } from '#shared/trunk-protocol.ts';
import { withTrustedAuthorities } from '#shared/trusted-authorities.ts';
import type { Hunt, ReferTarget, ReferVerdict, Routes } from '../call/ports/routes.ts';
import type { DiscoveryQuery } from './discovery/candidates.ts';
import { discover, discoveryLimits } from './discovery/discover.ts';
import type { Dns } from './dns.ts';
import { CachingDns } from './dns-cache.ts';
import { EndpointCertificates, type ReadCertificate } from './endpoint-certificates.ts';
import { Failover, type FailoverProbes, failoverProbes, type Move } from './failover.ts';
import type { FailoverStore } from './failover-store.ts';
import { HealthProbes, type HealthSettings, healthSettings, type ProbeFleet, type Prober } from './health.ts';
import { type HuntOptions, TrunkHunt } from './hunt.ts';
import { bareHost, type Resolution, TargetResolver } from './resolve.ts';
import { SipUriTargets } from './sip-uri-targets.ts';
import { withoutMemory } from './test-call/without-memory.ts';
import {
  destinationOf,
  type NumberTrunks,
  recordsAt,
  recordsFor,
  referTargetOf,
  referVerdict,
} from './transfer-targets.ts';

export interface TrunksOptions {
  readonly clock: Clock;
  /** Numbers from 0 up to but not 1. */
  readonly random: () => number;
  /** The failover state; closed with the trunks. */
  readonly store: FailoverStore;
  /** Queried through a cache. */
  readonly dns: Dns;
  /** Private networks that may be contacted (contract 1.9); read at every use. */
  readonly allowed: () => BlockList;
  /** PEM certificates of authorities that calls trust in addition to Node's. */
  readonly ca: readonly string[];
  readonly prober: Prober;
  /** Absent: certificates of endpoints are not read. */
  readonly readCertificate?: ReadCertificate;
  /** Our own host names; absent: none known. */
  readonly ownHosts?: readonly string[];
  readonly report: (probe: HealthProbe) => void;
  readonly moved: (move: Move) => void;
  readonly health?: Partial<HealthSettings>;
  readonly failover?: FailoverProbes;
  /** Absent: the edge is in no fleet. */
  readonly fleet?: ProbeFleet;
}

/** Maximum addresses behind one endpoint that are looked up: four hosts with four of each family. */
const mostAddresses = 32;
/** Maximum of them that a call tries, without those that are known to be dead. */
const maxTargets = 8;
/** RFC 3263 section 4.2 with the contract's default. */
const defaultPort = 5061;
/** After this many intervals without a probe, an observation expires. */
const forgetAfterIntervals = 10;

export class Trunks implements Routes {
  readonly #options: TrunksOptions;
  readonly #dns: Dns;
  readonly #resolver: TargetResolver;
  readonly #failover: Failover;
  readonly #probes: HealthProbes;
  readonly #ended = new AbortController();
  #numbers: ReadonlyMap<string, NumberTrunks> = new Map();

  constructor(options: TrunksOptions) {
    const { clock, random, allowed, prober, report, moved } = options;
    const settings = { ...healthSettings, ...options.health };
    this.#options = options;
    this.#dns = new CachingDns(options.dns, clock);
    this.#resolver = new TargetResolver({ dns: this.#dns, random, allowed, maxTargets: mostAddresses });
    this.#failover = new Failover({
      clock,
      store: options.store,
      moved: (move) => {
        moved(move);
        this.#probes.probeSoon(move.trunkId, move.to);
      },
      failed: (endpoint) => this.#probes.suspect(endpoint),
      ...(options.failover ?? failoverProbes),
      forgetAfterMs: forgetAfterIntervals * settings.intervalMs,
    });
    const resolve = (endpoint: Endpoint) => this.#resolve(endpoint);
    this.#probes = new HealthProbes({
      clock,
      random,
      failover: this.#failover,
      resolve,
      prober,
      report,
      settings,
      ...(options.fleet && { fleet: options.fleet }),
      ...(options.readCertificate && {
        certificates: new EndpointCertificates(clock, options.readCertificate),
      }),
    });
  }

  /** Sets the configurations of all numbers. New endpoints are probed at once. No effect once closed. */
  configure(numbers: readonly NumberTrunks[]): void {
    // The link to control closes last in an edge, so a configuration may still arrive.
    if (this.#ended.signal.aborted) return;
    this.#numbers = new Map(numbers.map((trunks) => [trunks.number, trunks]));
    const trunks = numbers.flatMap(({ outbound }) => outbound);
    const owners = numbers.flatMap(({ org_id, outbound }) =>
      org_id === undefined ? [] : outbound.map(({ id }) => [id, org_id] as const),
    );
    this.#failover.configure(trunks, new Map(owners));
    this.#probes.configure(trunks);
  }

  hunt(number: string, to: string, trunkId: string | null = null): Hunt | null {
    const records = recordsFor(this.#trunksOf(number), trunkId);
    const destination = destinationOf(to);
    if (destination.kind === 'unusable') return null;
    if (destination.kind === 'dialled') return this.#hunt(records);
    return this.#hunt(recordsAt(records, destination.uri)) ?? this.#sipUriTargets(destination.uri);
  }

  /**
   * A hunt over one configuration of the number, for a test call: it ignores endpoint statuses and moves no trunk. null
   * when the number does not have the configuration.
   */
  huntOver(number: string, trunkId: string): Hunt | null {
    const trunks = this.#trunksOf(number).outbound.filter(({ id }) => id === trunkId);
    return this.#hunt(trunks, withoutMemory);
  }

  referTarget(number: string, to: string, trunkId: string | null): ReferTarget | null {
    return referTargetOf(this.#trunksOf(number), to, trunkId);
  }

  followable(
    number: string,
    trunkId: string | null,
    uri: string,
    peer: string | null,
    joins: boolean,
  ): ReferVerdict {
    const { ownHosts = [] } = this.#options;
    return referVerdict(this.#trunksOf(number), trunkId, uri, { ownHosts, peer, joins });
  }

  /** The engine, which sends the probes, is up or lost. */
  engineUp(up: boolean): void {
    this.#probes.proberUp(up);
  }

  /** Returns a trunk to its primary at once (contract 3.5, `failback_now`). */
  failBack(trunkId: string): void {
    this.#failover.failBack(trunkId);
  }

  /** The fleet has changed: another edge may have to probe what this one did. */
  reassigned(): void {
    this.#probes.reassigned();
  }

  /** Other edges have found something out. @param complete trunks without a move use their primary */
  learned({ complete, probes, moves }: Pick<Learned, 'complete' | 'probes' | 'moves'>): void {
    for (const { endpoint, healthy, consecutive_failures } of probes) {
      this.#failover.learned(endpoint, healthy, consecutive_failures);
    }
    if (complete) {
      this.#failover.adoptAll(new Map(moves.map((move) => [move.trunk_id, move.active_priority])));
    } else for (const move of moves) this.#failover.adopt(move.trunk_id, move.active_priority);
  }

  /** `priority` of the endpoint that the trunk's next call tries first. */
  activePriority(trunkId: string): number {
    return this.#failover.activePriority(trunkId);
  }

  /** Never rejects: errors are in the result (contract 3.1). */
  discover(query: DiscoveryQuery): Promise<DiscoveryResult> {
    const { clock, allowed } = this.#options;
    return discover(query, {
      dns: this.#dns,
      clock,
      allowed: allowed(),
      ca: withTrustedAuthorities(this.#options.ca),
      limits: discoveryLimits,
      signal: this.#ended.signal,
    });
  }

  /** Addresses of a host (RFC 3263, contract 1.9). Never rejects. @param port null: none configured */
  resolve(host: string, port: number | null): Promise<Resolution> {
    return this.#resolve({ host, port: port ?? defaultPort }).then(firstOf);
  }

  /** By Prometheus name. */
  metrics(): Record<string, number> {
    return this.#probes.metrics();
  }

  /** Ends probes and discoveries and closes the store; safe to call twice. */
  async close(): Promise<void> {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#probes.stop();
    await this.#failover.close();
  }

  /** Names that the SRV records of a host for SIP over TLS give; none when DNS fails. */
  async sipsTargets(host: string): Promise<readonly string[]> {
    if (isIP(bareHost(host)) !== 0) return [];
    const { records } = await this.#dns.srv(`_sips._tcp.${bareHost(host)}`).catch(() => ({ records: [] }));
    return records.map(({ target }) => target).filter((target) => target !== '');
  }

  #trunksOf(number: string): NumberTrunks {
    return this.#numbers.get(number) ?? { number, outbound: [] };
  }

  #sipUriTargets({ host, port }: SipDestination): Hunt {
    const { clock, allowed } = this.#options;
    const verdict = judgeHost(host, allowed());
    return new SipUriTargets({
      clock,
      host,
      port: port ?? null,
      forbidden: verdict.allowed ? null : verdict.reason,
      resolve: async (name, at) => firstOf(await this.#resolver.resolve(name, at)),
    });
  }

  #hunt(trunks: readonly OutboundTrunk[], failover: HuntOptions['failover'] = this.#failover): Hunt | null {
    if (trunks.length === 0) return null;
    const resolve = (endpoint: Endpoint) => this.#resolve(endpoint);
    return new TrunkHunt(trunks, { clock: this.#options.clock, failover, resolve, maxTargets });
  }

  /** Configured ports default to 5061, so 5061 counts as unset: SRV may decide. */
  #resolve({ host, port }: Pick<Endpoint, 'host' | 'port'>): Promise<Resolution> {
    return this.#resolver.resolve(host, port === defaultPort ? null : port);
  }
}

function firstOf(resolution: Resolution): Resolution {
  return resolution.ok ? { ok: true, targets: resolution.targets.slice(0, maxTargets) } : resolution;
}
