/** Orders DNS records as RFC 2782 and RFC 3263 require. Pure. */
import type { NaptrRecord, SrvRecord } from './dns.ts';

/**
 * SRV records in the order of RFC 2782: by priority, and within one priority drawn by weight, so a server with weight
 * 60 comes before one with weight 20 three times out of four.
 * @param random numbers from 0 up to but not 1, as `Math.random` gives
 */
export function orderSrv(records: readonly SrvRecord[], random: () => number): SrvRecord[] {
  const byPriority = Map.groupBy(records, ({ priority }) => priority);
  const priorities = [...byPriority.keys()].sort((one, other) => one - other);
  return priorities.flatMap((priority) => drawn(byPriority.get(priority) ?? [], random));
}

function drawn(records: readonly SrvRecord[], random: () => number): SrvRecord[] {
  // Records without weight come first: they are drawn only at 0.
  const left = records.toSorted((one, other) => Number(one.weight > 0) - Number(other.weight > 0));
  const order: SrvRecord[] = [];
  while (left.length > 0) {
    const sum = left.reduce((total, { weight }) => total + weight, 0);
    const draw = Math.floor(random() * (sum + 1));
    let running = 0;
    const index = left.findIndex(({ weight }) => {
      running += weight;
      return running >= draw;
    });
    order.push(...left.splice(Math.max(0, index), 1));
  }
  return order;
}

/** SRV names for SIP over TLS, in the order of RFC 3263 section 4.1; other transports are not used. */
export function sipsServices(records: readonly NaptrRecord[]): string[] {
  return records
    .filter(({ service, flags, replacement }) => {
      return service.toUpperCase() === 'SIPS+D2T' && flags.toLowerCase() === 's' && replacement !== '';
    })
    .toSorted((one, other) => one.order - other.order || one.preference - other.preference)
    .map(({ replacement }) => replacement);
}
