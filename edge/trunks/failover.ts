/**
 * Remembers which endpoints answer and which one each trunk tries first, across calls, probes and restarts. Endpoints
 * are identified by host and port, and trunks share what is known about them. Only what a call learns about an endpoint
 * used by several organizations stays with its own organization: otherwise anyone dialing numbers that fail could move
 * the trunks of all others.
 */
import type { Clock } from '#shared/clock.ts';
import type { Endpoint, FailoverTrigger } from '#shared/trunk-protocol.ts';
import { causeOf, reachableBy } from '../call/causes/outbound-cause.ts';
import type { AttemptOutcome } from '../call/ports/routes.ts';
import {
  activeEndpoint,
  type Circuit,
  closedCircuit,
  type EndpointStatus,
  endpointKey,
  movedOn,
  primaryOf,
  primaryProbed,
  settled,
  storedKey,
  type TrunkRoute,
  tryOrder,
} from './circuit.ts';
import { DeadTargets } from './dead-targets.ts';
import type { FailoverStore } from './failover-store.ts';
import type { Target } from './resolve.ts';

/** A trunk now tries another endpoint first. */
export interface Move {
  readonly trunkId: string;
  readonly from: number;
  readonly to: number;
  /** `fleet`: another edge has moved it. */
  readonly cause: FailoverTrigger | 'probe' | 'failback' | 'failback_now' | 'fleet';
}

export interface FailoverProbes {
  /** Successful probes in a row before `auto` returns to the primary. */
  readonly failbackAfter: number;
  /** Failed probes in a row that move a trunk; a failed attempt of a call moves it at once. */
  readonly failoverAfter: number;
}

export const failoverProbes: FailoverProbes = {
  // Contract 3.5.
  failbackAfter: 3,
  // One lost answer moves nothing.
  failoverAfter: 2,
};

export interface FailoverOptions extends FailoverProbes {
  readonly clock: Clock;
  readonly store: FailoverStore;
  readonly moved: (move: Move) => void;
  /** A call of this edge got no answer from an endpoint; absent: nobody wants to know. */
  readonly failed?: (endpoint: Pick<Endpoint, 'host' | 'port'>) => void;
  /** Age at which an observation of an endpoint no longer counts, ms. */
  readonly forgetAfterMs: number;
}

/** The endpoints a call tries, in order. */
export interface CallPlan<R extends TrunkRoute> {
  readonly steps: readonly PlanStep<R>[];
  /** Endpoints left out because they are unreachable. */
  readonly skipped: readonly PlanStep<R>[];
}

export interface PlanStep<R extends TrunkRoute> {
  readonly route: R;
  readonly endpoint: Endpoint;
}

export interface EndpointHealth {
  readonly status: EndpointStatus;
  /** Failures in a row. */
  readonly failures: number;
}

interface Seen {
  readonly reachable: boolean;
  readonly failures: number;
  /** Whether it failed often enough for trunks to leave it. */
  readonly dead: boolean;
  /** Time of the observation, on the clock's elapsed time. */
  readonly at: number;
  /** Whether this edge has seen it, not another one of the fleet. */
  readonly own: boolean;
}

export class Failover {
  readonly #options: FailoverOptions;
  readonly #routes = new Map<string, TrunkRoute>();
  readonly #circuits = new Map<string, Circuit>();
  readonly #seen = new Map<string, Seen>();
  /** Observations by calls to endpoints of several organizations since the last probe, by endpoint and organization. */
  readonly #seenByCalls = new Map<string, Map<string, Seen>>();
  /** Organization of each trunk. */
  #owners: ReadonlyMap<string, string> = new Map();
  readonly #deadTargets: DeadTargets;
  /** Trunks by endpoint key. */
  readonly #users = new Map<string, Set<string>>();
  /** Active priority of trunks in the fleet, as last learned. */
  readonly #inFleet = new Map<string, number>();

  /** Restores the state from the store. */
  constructor(options: FailoverOptions) {
    this.#options = options;
    this.#deadTargets = new DeadTargets(options.clock, options.forgetAfterMs);
    const saved = options.store.load();
    for (const { id, active } of saved.trunks) this.#circuits.set(id, { active, primaryGoods: 0 });
    const { clock } = options;
    for (const { key, reachable, at } of saved.endpoints) {
      const own = storedKey(key);
      // If the clock was set back since, an observation from the future counts as just made.
      const seenAt = clock.elapsed() - Math.max(0, clock.now() - at);
      this.#seen.set(own, { reachable, failures: reachable ? 0 : 1, dead: false, at: seenAt, own: true });
      if (own === key) continue;
      // An earlier version stored endpoints as spelled.
      options.store.saveEndpoint({ key: own, reachable, at });
      options.store.forgetEndpoint(key);
    }
  }

  /**
   * Sets the trunks; state of other trunks is deleted.
   * @param owners organization of each trunk, by trunk id; trunks without one share their observations with each other
   */
  configure(routes: readonly TrunkRoute[], owners: ReadonlyMap<string, string> = new Map()): void {
    this.#owners = owners;
    this.#routes.clear();
    this.#users.clear();
    for (const route of routes) {
      this.#routes.set(route.id, route);
      for (const endpoint of [...route.endpoints, ...(route.standby ?? [])]) {
        const key = endpointKey(endpoint);
        const users = this.#users.get(key) ?? new Set();
        this.#users.set(key, users.add(route.id));
      }
    }
    forgetOthers(this.#circuits, this.#routes);
    forgetOthers(this.#inFleet, this.#routes);
    forgetOthers(this.#seen, this.#users);
    for (const [key, seen] of this.#seenByCalls) {
      const owners = this.#ownersOf(key);
      if (owners.size < 2) this.#seenByCalls.delete(key);
      else forgetOthers(seen, owners);
    }
    this.#options.store.keepOnly([...this.#routes.keys()], [...this.#users.keys()]);
  }

  /**
   * The endpoints that a call tries: for each record by priority, its active endpoint first. Unreachable endpoints are
   * left out to save time, unless all are unreachable.
   * @param routes the outbound records of a number
   */
  plan<R extends TrunkRoute>(routes: readonly R[]): CallPlan<R> {
    const all = routes
      .toSorted((one, other) => one.priority - other.priority)
      .flatMap((route) => tryOrder(route, this.#circuit(route.id)).map((endpoint) => ({ route, endpoint })));
    const steps = all.filter(({ route, endpoint }) => this.#statusOf(endpoint, route) !== 'unreachable');
    if (steps.length === 0) return { steps: all, skipped: [] };
    return { steps, skipped: all.filter((step) => !steps.includes(step)) };
  }

  /** Records the outcome of a call's attempt at an endpoint, including answered ones. */
  ended(route: TrunkRoute, endpoint: Endpoint, outcome: AttemptOutcome): void {
    const reachable = reachableBy(outcome);
    const trigger = causeOf(outcome)?.trigger ?? null;
    if (reachable !== null) this.#sawByCall(route, endpoint, reachable);
    if (trigger !== null && route.triggers.includes(trigger)) {
      const circuit = this.#circuit(route.id);
      const after = movedOn(route, circuit, endpoint, (one) => this.#statusOf(one, route));
      this.#set(route, circuit, after, trigger);
    }
    if (reachable !== null) this.#settleUsers(endpoint);
    if (reachable === false) this.#options.failed?.(endpoint);
    if (reachable === true) this.#followFleet(endpoint);
  }

  /** Records the outcome of a probe. */
  probed(endpoint: Pick<Endpoint, 'host' | 'port'>, good: boolean): void {
    const key = endpointKey(endpoint);
    this.#saw(endpoint, good, this.#options.failoverAfter);
    this.#seenByCalls.delete(key);
    for (const id of this.#users.get(key) ?? []) {
      const route = this.#routes.get(id);
      const primary = route && primaryOf(route);
      if (!route || !primary || endpointKey(primary) !== key) continue;
      const circuit = this.#circuit(id);
      const after = primaryProbed(route, circuit, good, this.#options.failbackAfter);
      this.#set(route, circuit, after, 'failback');
    }
    this.#settleUsers(endpoint);
    if (good) this.#followFleet(endpoint);
  }

  /**
   * Another edge has probed an endpoint. What this edge's own calls and probes have found unreachable stays so until
   * they succeed: the other edge may have another way there.
   * @param failures in a row
   */
  learned(endpoint: Pick<Endpoint, 'host' | 'port'>, reachable: boolean, failures: number): void {
    const key = endpointKey(endpoint);
    const own = this.#failedHere(endpoint);
    if (!this.#users.has(key) || (reachable && own)) return;
    const { clock, failoverAfter, store } = this.#options;
    const before = this.#seen.get(key);
    const dead = !reachable && failures >= failoverAfter;
    this.#seen.set(key, { reachable, failures, dead, at: clock.elapsed(), own });
    if (before?.reachable !== reachable) store.saveEndpoint({ key, reachable, at: clock.now() });
  }

  /** Another edge has moved a trunk. It moves here too, unless this edge cannot reach that endpoint. */
  adopt(trunkId: string, priority: number): void {
    const route = this.#routes.get(trunkId);
    const endpoint = route?.endpoints.find((one) => one.priority === priority);
    if (!route || !endpoint) return;
    this.#inFleet.set(trunkId, priority);
    if (this.#failedHere(endpoint, route)) return;
    const circuit = this.#circuit(trunkId);
    if (circuit.active === priority) return;
    this.#set(route, circuit, { active: priority, primaryGoods: 0 }, 'fleet');
  }

  /** The same for all trunks. @param moves those that do not use their primary */
  adoptAll(moves: ReadonlyMap<string, number>): void {
    for (const route of this.#routes.values()) {
      this.adopt(route.id, moves.get(route.id) ?? primaryOf(route)?.priority ?? 0);
    }
  }

  /** Returns a trunk to its primary at once (`failback_now`); the next call tries it whatever its status. */
  failBack(trunkId: string): void {
    const route = this.#routes.get(trunkId);
    const primary = route && primaryOf(route);
    if (!route || !primary) return;
    this.#forgive(route, endpointKey(primary));
    const circuit = this.#circuit(trunkId);
    this.#set(route, circuit, { active: primary.priority, primaryGoods: 0 }, 'failback_now');
  }

  /** `priority` of the endpoint that the next call tries first. */
  activePriority(trunkId: string): number {
    const route = this.#routes.get(trunkId);
    return (route && activeEndpoint(route, this.#circuit(trunkId))?.priority) ?? 0;
  }

  health(endpoint: Pick<Endpoint, 'host' | 'port'>): EndpointHealth {
    const seen = this.#seen.get(endpointKey(endpoint));
    return { status: this.#statusOf(endpoint), failures: seen?.failures ?? 0 };
  }

  /**
   * Records whether an address behind an endpoint answered, to a probe or a call.
   * @param route of the call: a missing answer counts only for its organization
   */
  targetSeen(target: Target, reachable: boolean, route?: Pick<TrunkRoute, 'id'>): void {
    this.#deadTargets.saw(target, reachable, this.#ownerOf(route));
  }

  /** The addresses in order, without those known not to answer, unless none would be left. */
  worthTrying(targets: readonly Target[], route?: Pick<TrunkRoute, 'id'>): readonly Target[] {
    return this.#deadTargets.worthTrying(targets, this.#ownerOf(route));
  }

  /** Closes the store. Outcomes reported afterwards are not stored. */
  async close(): Promise<void> {
    this.#routes.clear();
    this.#users.clear();
    await this.#options.store.close();
  }

  #circuit(trunkId: string): Circuit {
    return this.#circuits.get(trunkId) ?? closedCircuit;
  }

  #ownerOf(route: Pick<TrunkRoute, 'id'> | undefined): string | undefined {
    return route && this.#owners.get(route.id);
  }

  /** The organizations that use an endpoint, each mapped to itself; trunks without one count as one. */
  #ownersOf(key: string): Map<string, string> {
    const ids = [...(this.#users.get(key) ?? [])];
    return new Map(ids.map((id) => this.#owners.get(id) ?? '').map((owner) => [owner, owner]));
  }

  /** Status of an endpoint. @param route include observations by calls of its organization */
  #seenOf(endpoint: Pick<Endpoint, 'host' | 'port'>, route?: Pick<TrunkRoute, 'id'>): Seen | undefined {
    const key = endpointKey(endpoint);
    return this.#seenByCalls.get(key)?.get(this.#ownerOf(route) ?? '') ?? this.#seen.get(key);
  }

  #statusOf(endpoint: Pick<Endpoint, 'host' | 'port'>, route?: Pick<TrunkRoute, 'id'>): EndpointStatus {
    const seen = this.#seenOf(endpoint, route);
    if (!seen || seen.at + this.#options.forgetAfterMs <= this.#options.clock.elapsed()) return 'unchecked';
    return seen.reachable ? 'healthy' : 'unreachable';
  }

  #isDead(endpoint: Pick<Endpoint, 'host' | 'port'>, route: Pick<TrunkRoute, 'id'>): boolean {
    return this.#statusOf(endpoint, route) === 'unreachable' && this.#seenOf(endpoint, route)?.dead === true;
  }

  /** Whether this edge itself has found an endpoint unreachable. @param route of a call: what its organization found */
  #failedHere(endpoint: Pick<Endpoint, 'host' | 'port'>, route?: Pick<TrunkRoute, 'id'>): boolean {
    return this.#statusOf(endpoint, route) === 'unreachable' && this.#seenOf(endpoint, route)?.own === true;
  }

  /** This edge reaches an endpoint: trunks go where the fleet has them. */
  #followFleet(endpoint: Pick<Endpoint, 'host' | 'port'>): void {
    for (const id of this.#users.get(endpointKey(endpoint)) ?? []) {
      const priority = this.#inFleet.get(id);
      if (priority !== undefined) this.adopt(id, priority);
    }
  }

  #sawByCall(route: TrunkRoute, endpoint: Endpoint, reachable: boolean): void {
    const key = endpointKey(endpoint);
    if (this.#ownersOf(key).size < 2) {
      this.#saw(endpoint, reachable, 1);
      return;
    }
    const failures = reachable ? 0 : (this.#seenOf(endpoint, route)?.failures ?? 0) + 1;
    const at = this.#options.clock.elapsed();
    this.#keepOwn(route, key, { reachable, failures, dead: !reachable, at, own: true });
  }

  #keepOwn(route: TrunkRoute, key: string, seen: Seen): void {
    const own = this.#seenByCalls.get(key) ?? new Map<string, Seen>();
    this.#seenByCalls.set(key, own.set(this.#ownerOf(route) ?? '', seen));
  }

  /** Lets the next call of the trunk try an endpoint, whatever its status. */
  #forgive(route: TrunkRoute, key: string): void {
    if (this.#ownersOf(key).size > 1) {
      const at = this.#options.clock.elapsed();
      this.#keepOwn(route, key, { reachable: true, failures: 0, dead: false, at, own: true });
      return;
    }
    this.#seen.delete(key);
    this.#options.store.forgetEndpoint(key);
  }

  /** @param deadAfter failures in a row, of probes and calls, after which trunks leave the endpoint */
  #saw(endpoint: Pick<Endpoint, 'host' | 'port'>, reachable: boolean, deadAfter: number): void {
    const key = endpointKey(endpoint);
    // An attempt may end after its trunk was removed.
    if (!this.#users.has(key)) return;
    const before = this.#seen.get(key);
    const { clock } = this.#options;
    const failures = reachable ? 0 : (before?.failures ?? 0) + 1;
    const dead = !reachable && (failures >= deadAfter || before?.dead === true);
    this.#seen.set(key, { reachable, failures, dead, at: clock.elapsed(), own: true });
    if (before?.reachable !== reachable)
      this.#options.store.saveEndpoint({ key, reachable, at: clock.now() });
  }

  #settleUsers(endpoint: Pick<Endpoint, 'host' | 'port'>): void {
    for (const id of this.#users.get(endpointKey(endpoint)) ?? []) {
      const route = this.#routes.get(id);
      if (!route) continue;
      const circuit = this.#circuit(id);
      this.#set(
        route,
        circuit,
        settled(
          route,
          circuit,
          (one) => this.#isDead(one, route),
          (one) => this.#statusOf(one, route),
        ),
        'probe',
      );
    }
  }

  #set(route: TrunkRoute, before: Circuit, after: Circuit, cause: Move['cause']): void {
    if (after === before || !this.#routes.has(route.id)) return;
    this.#circuits.set(route.id, after);
    const from = activeEndpoint(route, before)?.priority ?? 0;
    if (from === after.active) return;
    this.#options.store.saveTrunk({ id: route.id, active: after.active });
    if (cause !== 'fleet' && this.#inFleet.has(route.id)) this.#inFleet.set(route.id, after.active);
    this.#options.moved({ trunkId: route.id, from, to: after.active, cause });
  }
}

function forgetOthers(known: Map<string, unknown>, kept: ReadonlyMap<string, unknown>): void {
  for (const key of known.keys()) if (!kept.has(key)) known.delete(key);
}
