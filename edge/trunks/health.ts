/**
 * Probes every outbound endpoint with OPTIONS (contract 3.3): at once when configured, then once per interval, with
 * jitter so that endpoints do not synchronize. Trunks with the same host and port share one probe and each get a
 * report. An endpoint that another edge of the fleet probes is only probed here while control is away, or when a call of
 * this edge failed there; such probes are not reported. Without an engine to send probes, rounds are skipped, because they would say nothing about the endpoints.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import type { Endpoint, HealthProbe } from '#shared/trunk-protocol.ts';
import { probeSucceeded } from '../call/causes/outbound-cause.ts';
import { endpointKey, type TrunkRoute } from './circuit.ts';
import type { EndpointCertificates } from './endpoint-certificates.ts';
import type { Failover } from './failover.ts';
import type { Resolution, Target } from './resolve.ts';

export interface ProbeOutcome {
  /** The final response; null: none. */
  readonly sipCode: number | null;
  /** Time from the request to the response; null without one. */
  readonly responseTimeMs: number | null;
  /** Why there was no response, in a few words. */
  readonly error: string | null;
}

/** Sends OPTIONS over TLS. Signaling implements it. */
export interface Prober {
  /** Whether it can send now; absent: always. */
  readonly up?: boolean;
  /** Never rejects because of the far end. @param limitMs time limit for the response, ms */
  probe(target: Target, limitMs: number): Promise<ProbeOutcome>;
}

export interface HealthSettings {
  readonly intervalMs: number;
  /** Fraction of the interval by which a probe may be early or late, 0..1. */
  readonly jitter: number;
  /** Contract 3.3: 5 s. */
  readonly limitMs: number;
  /** Endpoints probed in parallel. */
  readonly concurrency: number;
  /** Addresses behind one endpoint that are probed in parallel; the next ones follow when none of them answers. */
  readonly targetsAtATime: number;
  /** Intervals after which the edge probes an endpoint that is another edge's, while control is away. */
  readonly standInAfter: number;
}

export const healthSettings: HealthSettings = {
  intervalMs: 60_000,
  jitter: 0.1,
  limitMs: 5000,
  concurrency: 64,
  targetsAtATime: 4,
  standInAfter: 3,
};

export interface HealthOptions {
  readonly clock: Clock;
  /** Numbers from 0 up to but not 1. */
  readonly random: () => number;
  readonly failover: Failover;
  readonly resolve: (endpoint: Endpoint) => Promise<Resolution>;
  readonly prober: Prober;
  readonly report: (probe: HealthProbe) => void;
  readonly settings: HealthSettings;
  /** What this edge has to probe in the fleet; absent: everything. */
  readonly fleet?: ProbeFleet;
  /** Absent: nobody asks for certificates. */
  readonly certificates?: EndpointCertificates;
}

export interface ProbeFleet {
  /** Whether this edge is to probe an endpoint. */
  isOurs(endpoint: Pick<Endpoint, 'host' | 'port'>): boolean;
  /** Whether control is there, so that the edge hears of the others' probes. */
  readonly connected: boolean;
}

interface Watch {
  readonly endpoint: Endpoint;
  /** The trunks with this endpoint, each with its own priority for it. */
  users: readonly { readonly trunkId: string; readonly endpoint: Endpoint }[];
  timer: Timer | null;
  state: 'waiting' | 'queued' | 'running';
  /** Whether the probes are this edge's work. */
  ours: boolean;
  /** A call of this edge failed there, and no probe of it has succeeded since. */
  suspect: boolean;
  /** Whether the last report said that it is healthy; null: this edge has not reported it. */
  reported: boolean | null;
}

export class HealthProbes {
  readonly #options: HealthOptions;
  readonly #watches = new Map<string, Watch>();
  #queue: Watch[] = [];
  #running = 0;
  /** Functions that end the running probes. */
  readonly #enders = new Set<(outcome: ProbeOutcome) => void>();
  #outages = 0;
  #good = 0;
  #bad = 0;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Sets the trunks. New endpoints, and those of new trunks, are probed at once; others keep their schedule. */
  configure(routes: readonly TrunkRoute[]): void {
    const wanted = Map.groupBy(
      routes.flatMap(({ id, endpoints, standby = [] }) =>
        [...endpoints, ...standby].map((endpoint) => ({ trunkId: id, endpoint })),
      ),
      ({ endpoint }) => endpointKey(endpoint),
    );
    for (const [key, watch] of this.#watches) if (!wanted.has(key)) this.#forget(key, watch);
    for (const [key, users] of wanted) {
      const [first] = users;
      if (!first) continue;
      const watch = this.#watches.get(key) ?? newWatch(first.endpoint, this.#isOurs(first.endpoint));
      this.#watches.set(key, watch);
      const known = new Set(watch.users.map(({ trunkId }) => trunkId));
      watch.users = users;
      if (users.every(({ trunkId }) => known.has(trunkId))) continue;
      if (watch.ours) this.#probeNow(watch);
      else if (watch.state === 'waiting' && !watch.timer) this.#schedule(watch);
    }
    this.#pump();
  }

  /** The fleet has changed: what this edge takes over is probed at once. */
  reassigned(): void {
    for (const watch of this.#watches.values()) {
      const ours = this.#isOurs(watch.endpoint);
      if (ours === watch.ours) continue;
      watch.ours = ours;
      watch.reported = null;
      if (ours) this.#probeNow(watch);
      else if (watch.state === 'waiting') this.#schedule(watch);
    }
    this.#pump();
  }

  /** A call of this edge failed at an endpoint: this edge probes it until it answers, also when another edge is assigned. */
  suspect(endpoint: Pick<Endpoint, 'host' | 'port'>): void {
    const watch = this.#watches.get(endpointKey(endpoint));
    if (!watch || watch.ours || watch.suspect) return;
    watch.suspect = true;
    if (watch.state === 'waiting') this.#schedule(watch);
  }

  /** Probes a trunk's endpoint at once, as after a failover to it. */
  probeSoon(trunkId: string, priority: number): void {
    for (const watch of this.#watches.values()) {
      const isMeant = watch.users.some(
        (user) => user.trunkId === trunkId && user.endpoint.priority === priority,
      );
      if (isMeant && watch.ours) this.#probeNow(watch);
    }
    this.#pump();
  }

  /** The prober can send, or no longer can. Once it can, overdue and interrupted probes run at once. */
  proberUp(up: boolean): void {
    if (up) {
      this.#pump();
    } else {
      this.#outages += 1;
      for (const end of this.#enders) end(failed('the SIP engine is down'));
    }
  }

  /** Stops all probing; running probes are not reported. */
  stop(): void {
    for (const [key, watch] of this.#watches) this.#forget(key, watch);
    for (const end of this.#enders) end(failed('stopped'));
  }

  /** By Prometheus name. */
  metrics(): Record<string, number> {
    const count = { unchecked: 0, healthy: 0, unreachable: 0 };
    for (const { endpoint } of this.#watches.values()) {
      count[this.#options.failover.health(endpoint).status] += 1;
    }
    return {
      'trunkline_edge_trunk_endpoints{status="unchecked"}': count.unchecked,
      'trunkline_edge_trunk_endpoints{status="healthy"}': count.healthy,
      'trunkline_edge_trunk_endpoints{status="unreachable"}': count.unreachable,
      'trunkline_edge_trunk_probes_total{result="success"}': this.#good,
      'trunkline_edge_trunk_probes_total{result="failure"}': this.#bad,
      trunkline_edge_trunk_probes_running: this.#running,
      trunkline_edge_trunk_probes_waiting: this.#queue.length,
    };
  }

  #isOurs(endpoint: Endpoint): boolean {
    return this.#options.fleet?.isOurs(endpoint) ?? true;
  }

  #forget(key: string, watch: Watch): void {
    watch.timer?.cancel();
    this.#options.certificates?.forget(key);
    this.#watches.delete(key);
    this.#queue = this.#queue.filter((queued) => queued !== watch);
  }

  #probeNow(watch: Watch): void {
    // A trunk added during a probe shares its report.
    if (watch.state !== 'waiting') return;
    watch.timer?.cancel();
    watch.timer = null;
    watch.state = 'queued';
    this.#queue.push(watch);
  }

  #pump(): void {
    const { prober, settings } = this.#options;
    while (prober.up !== false && this.#running < settings.concurrency) {
      const watch = this.#queue.shift();
      if (!watch) return;
      this.#running += 1;
      watch.state = 'running';
      void this.#run(watch);
    }
  }

  async #run(watch: Watch): Promise<void> {
    const outages = this.#outages;
    const saw = ({ sipCode }: ProbeOutcome) => probeSucceeded(sipCode) || outages === this.#outages;
    const outcome = await this.#probe(watch, saw).catch((error: unknown) => failed(String(error)));
    this.#running -= 1;
    const isWanted = this.#watches.get(endpointKey(watch.endpoint)) === watch;
    const isSeen = saw(outcome);
    // A failover caused by this probe would request another one, but this report already covers it.
    if (isWanted && isSeen) this.#conclude(watch, outcome);
    watch.state = 'waiting';
    if (isWanted && isSeen) this.#schedule(watch);
    else if (isWanted) this.#probeNow(watch);
    this.#pump();
  }

  #schedule(watch: Watch): void {
    const { clock, random, settings } = this.#options;
    const intervals = watch.ours || watch.suspect ? 1 : settings.standInAfter;
    const delay = intervals * settings.intervalMs * (1 - settings.jitter + 2 * settings.jitter * random());
    watch.timer?.cancel();
    watch.timer = clock.after(Math.round(delay), () => {
      if (!watch.ours && !watch.suspect && this.#options.fleet?.connected) return this.#schedule(watch);
      this.#probeNow(watch);
      this.#pump();
    });
  }

  #conclude(watch: Watch, { sipCode, responseTimeMs, error }: ProbeOutcome): void {
    const { certificates, clock, failover, report } = this.#options;
    const healthy = probeSucceeded(sipCode);
    if (healthy) this.#good += 1;
    else this.#bad += 1;
    failover.probed(watch.endpoint, healthy);
    if (healthy) watch.suspect = false;
    if (!watch.ours) return;
    const changed = !healthy || watch.reported !== true;
    watch.reported = healthy;
    const at = new Date(clock.now()).toISOString();
    for (const { trunkId, endpoint } of watch.users) {
      const certificate = certificates?.news(endpointKey(endpoint), trunkId);
      report({
        trunk_id: trunkId,
        endpoint,
        at,
        healthy,
        response_time_ms: healthy && responseTimeMs !== null ? Math.round(responseTimeMs) : null,
        sip_code: sipCode,
        error: healthy ? null : (error ?? `answered ${sipCode}`),
        consecutive_failures: failover.health(endpoint).failures,
        active: failover.activePriority(trunkId) === endpoint.priority,
        ...(this.#options.fleet && { changed }),
        ...(certificate && { certificate }),
      });
    }
  }

  /** An endpoint is as good as its best address. @param saw whether an outcome says something about the far end */
  async #probe(watch: Watch, saw: (outcome: ProbeOutcome) => boolean): Promise<ProbeOutcome> {
    const { endpoint, ours } = watch;
    const { certificates, resolve, settings } = this.#options;
    const resolution = await resolve(endpoint);
    if (!resolution.ok) return failed(resolution.message);
    const { targets } = resolution;
    const first = targets.slice(0, settings.targetsAtATime);
    const looked = ours ? certificates?.look(endpointKey(endpoint), first, settings.limitMs) : undefined;
    let best = failed('no address');
    for (let at = 0; at < targets.length; at += settings.targetsAtATime) {
      const outcomes = await this.#probeTargets(targets.slice(at, at + settings.targetsAtATime), saw);
      const good = outcomes.find(({ sipCode }) => probeSucceeded(sipCode));
      if (at === 0 || good) best = good ?? outcomes[0] ?? best;
      if (good || !outcomes.every(saw) || this.#watches.get(endpointKey(endpoint)) !== watch) break;
    }
    await looked;
    return best;
  }

  #probeTargets(
    targets: readonly Target[],
    saw: (outcome: ProbeOutcome) => boolean,
  ): Promise<ProbeOutcome[]> {
    const { failover } = this.#options;
    return Promise.all(
      targets.map(async (target) => {
        const outcome = await this.#probeTarget(target);
        if (saw(outcome)) failover.targetSeen(target, probeSucceeded(outcome.sipCode));
        return outcome;
      }),
    );
  }

  /** Enforces the time limit: a prober that hangs must not block the others. */
  async #probeTarget(target: Target): Promise<ProbeOutcome> {
    const { clock, prober, settings } = this.#options;
    const { promise, resolve } = Promise.withResolvers<ProbeOutcome>();
    const timer = clock.after(settings.limitMs, () => resolve(failed('timeout')));
    this.#enders.add(resolve);
    prober.probe(target, settings.limitMs).then(resolve, (error: unknown) => resolve(failed(String(error))));
    try {
      return await promise;
    } finally {
      timer.cancel();
      this.#enders.delete(resolve);
    }
  }
}

function newWatch(endpoint: Endpoint, ours: boolean): Watch {
  return { endpoint, users: [], timer: null, state: 'waiting', ours, suspect: false, reported: null };
}

function failed(error: string): ProbeOutcome {
  return { sipCode: null, responseTimeMs: null, error };
}
