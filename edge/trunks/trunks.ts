/**
 * The outbound trunks of an edge in one piece: names are resolved, endpoints probed, calls led from place to
 * place, foreign systems discovered. main.ts makes it, gives it what it needs and closes it.
 */
import type { BlockList } from 'node:net';
import { rootCertificates } from 'node:tls';
import type { Clock } from '#shared/clock.ts';
import type { NumberConfig, OutboundTrunk } from '#shared/edge-protocol.ts';
import type { DiscoveryResult, Endpoint, HealthProbe } from '#shared/trunk-protocol.ts';
import type { Hunt, Routes } from '../call/ports.ts';
import type { DiscoveryQuery } from './discovery/candidates.ts';
import { discover, discoveryLimits } from './discovery/discover.ts';
import type { Dns } from './dns.ts';
import { CachingDns } from './dns-cache.ts';
import { Failover, type Move } from './failover.ts';
import { openFailoverStore } from './failover-store.ts';
import { HealthProbes, type HealthSettings, healthSettings, type Prober } from './health.ts';
import { TrunkHunt } from './hunt.ts';
import { type Resolution, TargetResolver } from './resolve.ts';

export interface TrunksOptions {
  readonly clock: Clock;
  /** Numbers from 0 up to but not 1. */
  readonly random: () => number;
  /** File of what failover remembers, made when missing; `:memory:` for tests. */
  readonly storePath: string;
  /** Asked through a cache. */
  readonly dns: Dns;
  /** Networks that may be contacted although they are private (contract 1.9); asked at every use. */
  readonly allowed: () => BlockList;
  /** PEM certificates of authorities that calls trust besides those that node brings. */
  readonly ca: readonly string[];
  readonly prober: Prober;
  readonly report: (probe: HealthProbe) => void;
  readonly moved: (move: Move) => void;
  readonly health?: Partial<HealthSettings>;
  /** Good probes in a row after which `auto` returns to the primary. */
  readonly failbackAfter?: number;
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
  #numbers: ReadonlyMap<string, readonly OutboundTrunk[]> = new Map();

  /** @throws Error when the store cannot be opened */
  constructor(options: TrunksOptions) {
    const { clock, random, allowed, prober, report, moved } = options;
    const settings = { ...healthSettings, ...options.health };
    this.#options = options;
    this.#dns = new CachingDns(options.dns, clock);
    this.#resolver = new TargetResolver({ dns: this.#dns, random, allowed, maxTargets });
    this.#failover = new Failover({
      clock,
      store: openFailoverStore(options.storePath),
      moved,
      failbackAfter: options.failbackAfter ?? 3,
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

  /** Sets the outbound configurations of all numbers. New endpoints are probed at once. */
  configure(numbers: readonly Pick<NumberConfig, 'number' | 'outbound'>[]): void {
    this.#numbers = new Map(numbers.map(({ number, outbound }) => [number, outbound]));
    const trunks = numbers.flatMap(({ outbound }) => outbound);
    this.#failover.configure(trunks);
    this.#probes.configure(trunks);
  }

  hunt(number: string): Hunt | null {
    return this.#hunt(this.#numbers.get(number) ?? []);
  }

  /** A hunt over one configuration of the number alone, for a test call; null when the number does not have it. */
  huntOver(number: string, trunkId: string): Hunt | null {
    return this.#hunt((this.#numbers.get(number) ?? []).filter(({ id }) => id === trunkId));
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

  #hunt(trunks: readonly OutboundTrunk[]): Hunt | null {
    if (trunks.length === 0) return null;
    const resolve = (endpoint: Endpoint) => this.#resolve(endpoint);
    return new TrunkHunt(trunks, { clock: this.#options.clock, failover: this.#failover, resolve });
  }

  /** A configuration always has a port, 5061 unless another was given, so 5061 counts as none: SRV may decide. */
  #resolve({ host, port }: Endpoint): Promise<Resolution> {
    return this.#resolver.resolve(host, port === defaultPort ? null : port);
  }
}
