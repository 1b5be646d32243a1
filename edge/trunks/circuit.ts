/**
 * Which endpoint of a trunk the next call uses first, as a function of what is known. Pure.
 *
 *                     a call moved on, or 2 probes failed         (the next endpoint that is not unreachable)
 *        ┌─────────┐ ─────────────────────────────────────> ┌───────────────────┐
 *        │ primary │                                        │ failover endpoint │
 *        └─────────┘ <───────────────────────────────────── └───────────────────┘
 *                     auto: 3 good probes of the primary in a row
 *                     manual: `failback_now`
 *                     either: the failover endpoints are all unreachable and the primary is not
 */
import type { OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { plainHost } from '#shared/networks.ts';
import type { Endpoint } from '#shared/trunk-protocol.ts';

/** What failover needs of an outbound configuration. */
export type TrunkRoute = Pick<
  OutboundTrunk,
  'id' | 'priority' | 'endpoints' | 'standby' | 'triggers' | 'failback'
>;

/** By the last probe or call; `unchecked` before the first, and when the last is too long ago. */
export type EndpointStatus = 'unchecked' | 'healthy' | 'unreachable';

export type StatusOf = (endpoint: Endpoint) => EndpointStatus;

/** Where a trunk stands. */
export interface Circuit {
  /** `priority` of the active endpoint. */
  readonly active: number;
  /** Good probes of the primary in a row since the trunk left it. */
  readonly primaryGoods: number;
}

export const closedCircuit: Circuit = { active: 0, primaryGoods: 0 };

/** An endpoint as it is known by: one text for all spellings of its host. */
export function endpointKey({ host, port }: Pick<Endpoint, 'host' | 'port'>): string {
  return endpointPlace({ host: plainHost(host), port });
}

/** An endpoint as it is shown and dialled: as it is configured. */
export function endpointPlace({ host, port }: Pick<Endpoint, 'host' | 'port'>): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The key of an endpoint that was stored under any spelling of it. */
export function storedKey(key: string): string {
  const colon = key.lastIndexOf(':');
  return endpointKey({ host: key.slice(0, colon), port: Number(key.slice(colon + 1)) });
}

/** The endpoint with that priority; the first one when the configuration has it no more. */
export function activeEndpoint(route: TrunkRoute, circuit: Circuit): Endpoint | undefined {
  return route.endpoints.find(({ priority }) => priority === circuit.active) ?? route.endpoints[0];
}

/** The order in which a call tries the endpoints of one trunk: the active one, then the others by priority. */
export function tryOrder(route: TrunkRoute, circuit: Circuit): Endpoint[] {
  const active = activeEndpoint(route, circuit);
  if (!active) return [];
  const others = route.endpoints
    .filter((endpoint) => endpoint !== active)
    .toSorted((one, other) => one.priority - other.priority);
  return [active, ...others];
}

/** The circuit after a call moved on from `endpoint`. Only leaving the active endpoint alters it. */
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
 * The circuit once the statuses have changed: an active endpoint that is dead gives way to a better one.
 * @param isDead whether that was seen often enough: one probe that fails may be chance
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

/** The circuit after a probe of the primary. @param failbackAfter good probes in a row that close it again */
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

/** The next healthy endpoint; without one the next that was never checked; without that the circuit stays. */
function switched(route: TrunkRoute, circuit: Circuit, statusOf: StatusOf): Circuit {
  const [, ...others] = tryOrder(route, circuit);
  const next =
    others.find((endpoint) => statusOf(endpoint) === 'healthy') ??
    others.find((endpoint) => statusOf(endpoint) === 'unchecked');
  return next ? { active: next.priority, primaryGoods: 0 } : circuit;
}
