/**
 * Decides which rejected INVITEs get an entry in the call log. Anyone who reaches the edge can be rejected
 * endlessly, and each entry costs a line in the outbox, a row in the database and space on the page of the
 * number's owner. So entries are counted by source and organization, and those of strangers also by organization:
 * the first ones are written, the others are a count in the next entry.
 */
import type { Clock } from '#shared/clock.ts';
import { hostKey } from '#shared/networks.ts';

const windowMs = 600_000;
/** Entries per window about one source that may not call the numbers of one organization. */
const perStranger = 3;
/** The same for all such sources together. */
const perOrganization = 20;
/**
 * Entries per window about calls from an organization's own sources that found no agent or no capacity. Each is a
 * missed call, so the limit is much higher, but still a limit.
 */
const perOwn = 500;
/** Maximum number of remembered organizations and of source and organization pairs; the oldest is dropped first. */
const maxCounted = 20_000;

interface Count {
  readonly until: number;
  written: number;
}

interface Entry {
  /** Rejected calls to the organization's numbers without an entry, since the last entry. */
  readonly leftOut: number;
  /** Whether further calls of this source get no entry in this window. */
  readonly last: boolean;
}

export class RefusedRecords {
  readonly #clock: Clock;
  readonly #counts = new Map<string, Count>();
  /** By organization. */
  readonly #leftOut = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of remembered items. */
  get size(): number {
    return this.#counts.size + this.#leftOut.size;
  }

  /** @returns null when the call from a source that may not call the number gets no entry */
  ofStranger(source: string, orgId: string): Entry | null {
    return this.#entry(orgId, [
      [`${hostKey(source)} ${orgId}`, perStranger],
      [`all ${orgId}`, perOrganization],
    ]);
  }

  /** The same for a source that may call the number. */
  ofOwn(orgId: string): Entry | null {
    return this.#entry(orgId, [[`own ${orgId}`, perOwn]]);
  }

  #entry(orgId: string, budgets: readonly (readonly [key: string, most: number])[]): Entry | null {
    const counts = budgets.map(([key, most]) => ({ count: this.#count(key), most }));
    if (counts.some(({ count, most }) => count.written >= most)) {
      keep(this.#leftOut, orgId, (this.#leftOut.get(orgId) ?? 0) + 1);
      return null;
    }
    for (const { count } of counts) count.written++;
    const leftOut = this.#leftOut.get(orgId) ?? 0;
    this.#leftOut.delete(orgId);
    return { leftOut, last: counts.some(({ count, most }) => count.written >= most) };
  }

  #count(key: string): Count {
    const now = this.#clock.elapsed();
    const known = this.#counts.get(key);
    if (known && known.until > now) return known;
    const fresh: Count = { until: now + windowMs, written: 0 };
    this.#counts.delete(key);
    keep(this.#counts, key, fresh);
    return fresh;
  }
}

/** Sets a key, and drops the oldest one beyond `maxCounted`. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value);
  if (map.size <= maxCounted) return;
  const oldest = map.keys().next();
  if (!oldest.done) map.delete(oldest.value);
}

/** What an entry says in addition to the reason; null for nothing. */
export function entryDetail({ leftOut, last }: Entry): string | null {
  const sentences = [
    ...(leftOut > 0 ? [`${leftOut} earlier rejected calls are not in the call log.`] : []),
    ...(last ? ['Rejected calls in the next 10 minutes are counted, not listed.'] : []),
  ];
  return sentences.length === 0 ? null : sentences.join(' ');
}
