/**
 * On which media shard a call begins. Only calls of one shard can be joined, and only those of one organization ever are: so
 * a call follows the others of its organization while that costs nobody else anything. Pure.
 */

/** A shard that is up. */
export interface Candidate {
  /** Calls on it. */
  readonly calls: number;
  /** Those of the organization whose call is to be placed. */
  readonly own: number;
  /** Its port pairs. */
  readonly ports: number;
}

/**
 * Calls of an organization that stay together on a shard that has up to twice as many calls more than the one with the
 * fewest: an eighth of a core with agents that listen and speak. An organization with more of them gets half of that, so
 * that it does not part the calls of a smaller one.
 */
export const mostTogether = 32;

/**
 * The shards in the order in which a call asks them for a place: first the one with most calls of its organization that has
 * room, then the one with the fewest calls for its ports.
 */
export function placesFor<T extends Candidate>(shards: readonly T[]): T[] {
  const byLoad = shards.toSorted((one, other) => one.calls / one.ports - other.calls / other.ports);
  const [least] = byLoad;
  const joined = byLoad.filter(({ own }) => own > 0).sort((one, other) => other.own - one.own);
  const first = joined.find((shard) => least && hasRoom(shard, least));
  return first ? [first, ...byLoad.filter((shard) => shard !== first)] : byLoad;
}

/** Legs of transfers need ports on the shard of their call, so that one with few ports left takes less. */
function hasRoom({ calls, own, ports }: Candidate, least: Candidate): boolean {
  const above = calls - (least.calls / least.ports) * ports;
  const allowed = own < mostTogether ? 2 * mostTogether : mostTogether;
  return above <= Math.min(allowed, (ports - calls) / 2);
}
