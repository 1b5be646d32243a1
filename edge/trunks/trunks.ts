/**
 * The outbound trunks of an edge in one piece: names are resolved, endpoints probed, calls led from place to
 * place, foreign systems discovered. main.ts makes it, gives it what it needs and closes it.
 */
import type { BlockList } from 'node:net';
import { rootCertificates } from 'node:tls';
import type { Clock } from '#shared/clock.ts';
import type { OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { judgeHost } from '#shared/outgoing-targets.ts';
import type { SipDestination } from '#shared/sip-destination.ts';
import { namingPath, type StorageFault } from '#shared/storage-fault.ts';
import type { DiscoveryResult, Endpoint, HealthProbe } from '#shared/trunk-protocol.ts';
import type { Hunt, ReferTarget, ReferVerdict, Routes } from '../call/ports/routes.ts';
import type { DiscoveryQuery } from './discovery/candidates.ts';
import { discover, discoveryLimits } from './discovery/discover.ts';
import type { Dns } from './dns.ts';
import { CachingDns } from './dns-cache.ts';
import { Failover, type Move } from './failover.ts';
import { openFailoverStore, patient } from './failover-store.ts';
import { ForeignHunt } from './foreign-hunt.ts';
import { HealthProbes, type HealthSettings, healthSettings, type Prober } from './health.ts';
import { type HuntOptions, TrunkHunt } from './hunt.ts';
import { type Resolution, TargetResolver } from './resolve.ts';
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
  /** File of what failover remembers, made when missing; `:memory:` for tests. */
  readonly storePath: string;
  /** Called for each write to it that the disk does not take; calls go on. */
  readonly unstored?: (fault: StorageFault) => void;
  /** Asked through a cache. */
  readonly dns: Dns;
  /** Networks that may be contacted although they are private (contract 1.9); asked at every use. */
  readonly allowed: () => BlockList;
  /** PEM certificates of authorities that calls trust besides those that node brings. */
  readonly ca: readonly string[];
  readonly prober: Prober;
  /** Hosts under which peers reach this edge; absent: none is known. */
  readonly ownHosts?: readonly string[];
  readonly report: (probe: HealthProbe) => void;
  readonly moved: (move: Move) => void;
  readonly health?: Partial<HealthSettings>;
  /** Good probes in a row after which `auto` returns to the primary. */
  readonly failbackAfter?: number;
  /** Failed probes in a row after which they alone move a trunk. */
  readonly failoverAfter?: number;
}

/** Places behind one endpoint that a call tries at most. */
const maxTargets = 8;
/** RFC 3263 section 4.2 with the contract's default. */
const defaultPort = 5061;
/** Probes that fail to come for this many intervals leave nothing known. */
const forgetAfterIntervals = 10;

export class Trunks implements Routes {
  readonly #options: TrunksOptions;
  readonly #dns: Dns;
  readonly #resolver: TargetResolver;
  readonly #failover: Failover;
  readonly #probes: HealthProbes;
  readonly #ended = new AbortController();
  #numbers: ReadonlyMap<string, NumberTrunks> = new Map();

  /** @throws Error when the store cannot be opened */
  constructor(options: TrunksOptions) {
    const { clock, random, allowed, prober, report, moved } = options;
    const settings = { ...healthSettings, ...options.health };
    this.#options = options;
    this.#dns = new CachingDns(options.dns, clock);
    this.#resolver = new TargetResolver({ dns: this.#dns, random, allowed, maxTargets });
    this.#failover = new Failover({
      clock,
      store: patient(
        namingPath(options.storePath, () => openFailoverStore(options.storePath)),
        options.unstored ?? (() => {}),
      ),
      moved: (move) => {
        moved(move);
        this.#probes.probeSoon(move.trunkId, move.to);
      },
      failbackAfter: options.failbackAfter ?? 3,
      failoverAfter: options.failoverAfter ?? 2,
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
    });
  }

  /** Sets the configurations of all numbers. New endpoints are probed at once. Without effect once closed. */
  configure(numbers: readonly NumberTrunks[]): void {
    // The link to control is the last part of an edge that closes: a configuration may still come over it.
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
    return this.#hunt(recordsAt(records, destination.uri)) ?? this.#foreignHunt(destination.uri);
  }

  /**
   * A hunt over one configuration of the number alone, for a test call: it is not guided by what is known of the
   * endpoints, and moves no trunk. null when the number does not have the configuration.
   */
  huntOver(number: string, trunkId: string): Hunt | null {
    const trunks = this.#trunksOf(number).outbound.filter(({ id }) => id === trunkId);
    return this.#hunt(trunks, withoutMemory);
  }

  referTarget(number: string, to: string, trunkId: string | null): ReferTarget | null {
    return referTargetOf(this.#trunksOf(number), to, trunkId);
  }

  followable(number: string, trunkId: string | null, uri: string, peer: string | null): ReferVerdict {
    const { ownHosts = [] } = this.#options;
    return referVerdict(this.#trunksOf(number), trunkId, uri, { ownHosts, peer });
  }

  /** The engine, by which probes are sent, is there or is lost. */
  engineUp(up: boolean): void {
    this.#probes.proberUp(up);
  }

  /** Returns a trunk to its primary at once (contract 3.5, `failback_now`). */
  failBack(trunkId: string): void {
    this.#failover.failBack(trunkId);
  }

  /** `priority` of the endpoint that the next call over the trunk uses first. */
  activePriority(trunkId: string): number {
    return this.#failover.activePriority(trunkId);
  }

  /** Never rejects: what goes wrong stands in the result (contract 3.1). */
  discover(query: DiscoveryQuery): Promise<DiscoveryResult> {
    const { clock, allowed } = this.#options;
    return discover(query, {
      dns: this.#dns,
      clock,
      allowed: allowed(),
      ca: [...rootCertificates, ...this.#options.ca],
      limits: discoveryLimits,
      signal: this.#ended.signal,
    });
  }

  /** Where a host can be reached (RFC 3263, contract 1.9). Never rejects. @param port null: none was configured */
  resolve(host: string, port: number | null): Promise<Resolution> {
    return this.#resolve({ host, port: port ?? defaultPort });
  }

  /** By Prometheus name. */
  metrics(): Record<string, number> {
    return this.#probes.metrics();
  }

  /** Ends probes and discoveries and closes the store; safe to call twice. */
  close(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#probes.stop();
    this.#failover.close();
  }

  #trunksOf(number: string): NumberTrunks {
    return this.#numbers.get(number) ?? { number, outbound: [] };
  }

  #foreignHunt({ host, port }: SipDestination): Hunt {
    const { clock, allowed } = this.#options;
    const verdict = judgeHost(host, allowed());
    return new ForeignHunt({
      clock,
      host,
      port: port ?? null,
      forbidden: verdict.allowed ? null : verdict.reason,
      resolve: (name, at) => this.#resolver.resolve(name, at),
    });
  }

  #hunt(trunks: readonly OutboundTrunk[], failover: HuntOptions['failover'] = this.#failover): Hunt | null {
    if (trunks.length === 0) return null;
    const resolve = (endpoint: Endpoint) => this.#resolve(endpoint);
    return new TrunkHunt(trunks, { clock: this.#options.clock, failover, resolve });
  }

  /** A configuration always has a port, 5061 unless another was given, so 5061 counts as none: SRV may decide. */
  #resolve({ host, port }: Pick<Endpoint, 'host' | 'port'>): Promise<Resolution> {
    return this.#resolver.resolve(host, port === defaultPort ? null : port);
  }
}
