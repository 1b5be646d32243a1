/**
 * Which endpoint of a trunk the next call tries first, computed from endpoint statuses. Pure.
 *
 *                     a call failed over, or 2 probes failed      (the next endpoint that is not unreachable)
 *        ┌─────────┐ ─────────────────────────────────────> ┌───────────────────┐
 *        │ primary │                                        │ failover endpoint │
 *        └─────────┘ <───────────────────────────────────── └───────────────────┘
 *                     auto: 3 successful probes of the primary in a row
 *                     manual: `failback_now`
 *                     either: the failover endpoints are all unreachable and the primary is not
 */
import type { OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { plainHost } from '#shared/networks.ts';
import type { Endpoint } from '#shared/trunk-protocol.ts';

/** The outbound configuration fields that failover needs. */
export type TrunkRoute = Pick<
  OutboundTrunk,
  'id' | 'priority' | 'endpoints' | 'standby' | 'triggers' | 'failback'
>;

/** From the last probe or call; `unchecked` before the first, and when the last is too old. */
export type EndpointStatus = 'unchecked' | 'healthy' | 'unreachable';

export type StatusOf = (endpoint: Endpoint) => EndpointStatus;

/** Failover state of a trunk. */
export interface Circuit {
  /** `priority` of the active endpoint. */
  readonly active: number;
  /** Successful probes of the primary in a row since the trunk left it. */
  readonly primaryGoods: number;
}

export const closedCircuit: Circuit = { active: 0, primaryGoods: 0 };

/** Identifies an endpoint: the same text for all spellings of its host. */
export function endpointKey({ host, port }: Pick<Endpoint, 'host' | 'port'>): string {
  return hostPortOf({ host: plainHost(host), port });
}

/** An endpoint as displayed and dialed: as configured. */
export function hostPortOf({ host, port }: Pick<Endpoint, 'host' | 'port'>): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The key of an endpoint that was stored in any spelling. */
export function storedKey(key: string): string {
  const colon = key.lastIndexOf(':');
  return endpointKey({ host: key.slice(0, colon), port: Number(key.slice(colon + 1)) });
}

/** The endpoint with that priority; the first one when the configuration no longer has it. */
export function activeEndpoint(route: TrunkRoute, circuit: Circuit): Endpoint | undefined {
  return route.endpoints.find(({ priority }) => priority === circuit.active) ?? route.endpoints[0];
}

/** The order in which a call tries a trunk's endpoints: the active one, then the others by priority. */
export function tryOrder(route: TrunkRoute, circuit: Circuit): Endpoint[] {
  const active = activeEndpoint(route, circuit);
  if (!active) return [];
  const others = route.endpoints
    .filter((endpoint) => endpoint !== active)
    .toSorted((one, other) => one.priority - other.priority);
  return [active, ...others];
}

/** The circuit after a call failed over from `endpoint`. Changes only when that was the active endpoint. */
export function movedOn(
  route: TrunkRoute,
  circuit: Circuit,
  endpoint: Endpoint,
  statusOf: StatusOf,
): Circuit {
  if (activeEndpoint(route, circuit)?.priority !== endpoint.priority) return circuit;
  return switched(route, circuit, statusOf);
}

/**
 * The circuit after a status change: a dead active endpoint is replaced by a better one.
 * @param isDead whether it failed often enough: a single failed probe may be chance
 */
export function settled(
  route: TrunkRoute,
  circuit: Circuit,
  isDead: (endpoint: Endpoint) => boolean,
  statusOf: StatusOf,
): Circuit {
  const active = activeEndpoint(route, circuit);
  if (!active || !isDead(active)) return circuit;
  return switched(route, circuit, statusOf);
}

/** The circuit after a probe of the primary. @param failbackAfter successful probes in a row before failback */
export function primaryProbed(
  route: TrunkRoute,
  circuit: Circuit,
  good: boolean,
  failbackAfter: number,
): Circuit {
  const primary = primaryOf(route);
  if (!primary || activeEndpoint(route, circuit) === primary) return circuit;
  const primaryGoods = good ? circuit.primaryGoods + 1 : 0;
  if (route.failback === 'auto' && primaryGoods >= failbackAfter) {
    return { active: primary.priority, primaryGoods: 0 };
  }
  return { ...circuit, primaryGoods };
}

export function primaryOf(route: TrunkRoute): Endpoint | undefined {
  return route.endpoints.toSorted((one, other) => one.priority - other.priority)[0];
}

/** Switches to the next healthy endpoint, else to the next unchecked one; otherwise the circuit is unchanged. */
function switched(route: TrunkRoute, circuit: Circuit, statusOf: StatusOf): Circuit {
  const [, ...others] = tryOrder(route, circuit);
  const next =
    others.find((endpoint) => statusOf(endpoint) === 'healthy') ??
    others.find((endpoint) => statusOf(endpoint) === 'unchecked');
  return next ? { active: next.priority, primaryGoods: 0 } : circuit;
}
