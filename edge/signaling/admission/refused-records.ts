/**
 * Which refused INVITEs become an entry of the call log. Whoever can reach the edge can be refused without end, and
 * each entry costs a line in the outbox, a row in the database and a place on the page of whoever owns the number. So
 * entries are counted by source and organization, and those of strangers by organization too: the first ones are
 * written, the rest is a number in the next one.
 */
import type { Clock } from '#shared/clock.ts';
import { hostKey } from '#shared/networks.ts';

const windowMs = 600_000;
/** Entries in a window about one source that may not call a number of one organization. */
const perStranger = 3;
/** The same of all such sources together. */
const perOrganization = 20;
/**
 * Entries in a window about calls of an organization's own sources that found no agent or no room. Each is a call that
 * somebody missed, so there are many more of them, and yet not any number.
 */
const perOwn = 500;
/** Pairs of source and organization, and organizations, remembered at most; the oldest is forgotten first. */
const maxCounted = 20_000;

interface Count {
  readonly until: number;
  written: number;
}

interface Entry {
  /** Refused calls to the organization's numbers that had no entry, since the last one that had. */
  readonly leftOut: number;
  /** Whether further ones of this source have no entry in this window. */
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

  /** Things remembered. */
  get size(): number {
    return this.#counts.size + this.#leftOut.size;
  }

  /** @returns null when the call of a source that may not call the number has no entry */
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

/** Sets a key, and forgets the oldest one beyond `maxCounted`. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value);
  if (map.size <= maxCounted) return;
  const oldest = map.keys().next();
  if (!oldest.done) map.delete(oldest.value);
}

/** What an entry says besides why the call was refused; null when that is all. */
export function entryDetail({ leftOut, last }: Entry): string | null {
  const sentences = [
    ...(leftOut > 0 ? [`${leftOut} more refused calls before this one are not in the call log.`] : []),
    ...(last ? ['Further refused calls of the next 10 minutes are counted, not listed.'] : []),
  ];
  return sentences.length === 0 ? null : sentences.join(' ');
}
