/**
 * Caches DNS answers for their TTL. Each query has its own time limit, identical queries share one, and an expired
 * answer is served for some time while the name servers fail (RFC 8767): calls keep working when DNS does not.
 */
import type { Clock } from '#shared/clock.ts';
import { type Dns, type DnsAnswer, DnsFailure, type NaptrRecord, type SrvRecord } from './dns.ts';

export interface DnsCacheLimits {
  /** Maximum number of cached answers; the least recently used is dropped first. */
  readonly maxEntries: number;
  /** Time limit of a query, ms. */
  readonly timeoutMs: number;
  /** TTL of answers without a known one, seconds: those of the hosts file. */
  readonly defaultTtlS: number;
  /** Maximum time to keep an answer, whatever its TTL, seconds. */
  readonly maxTtlS: number;
  /**
   * Longest time to keep "does not exist", seconds: less than most zones allow (RFC 2308 section 5), because an
   * operator who adds a record tries it at once.
   */
  readonly negativeTtlS: number;
  /** Time before a failed query is retried (RFC 2308 section 7), seconds. */
  readonly failureTtlS: number;
  /** Time for which an expired answer may still be served, seconds. */
  readonly staleS: number;
  /**
   * Time after which an expired answer is served while its query continues, ms (the client response timer of RFC 8767
   * section 5).
   */
  readonly patienceMs: number;
}

export const dnsCacheLimits: DnsCacheLimits = {
  maxEntries: 10_000,
  timeoutMs: 3000,
  defaultTtlS: 60,
  maxTtlS: 3600,
  negativeTtlS: 30,
  failureTtlS: 5,
  staleS: 86_400,
  // A working name server answers faster, even from the other side of the world. RFC 8767 suggests 1.8 s, but here a
  // caller waits, for NAPTR, SRV and A in sequence.
  patienceMs: 300,
};

interface Entry {
  readonly answer: DnsAnswer<unknown> | null;
  readonly freshUntil: number;
  readonly staleUntil: number;
  /** The last query failed; no new one is sent before this time. */
  readonly retryAt: number;
}

interface Query {
  readonly answer: Promise<DnsAnswer<unknown>>;
  readonly since: number;
}

type Kind = keyof Dns;

export class CachingDns implements Dns {
  readonly #inner: Dns;
  readonly #clock: Clock;
  readonly #limits: DnsCacheLimits;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #running = new Map<string, Query>();

  constructor(inner: Dns, clock: Clock, limits: DnsCacheLimits = dnsCacheLimits) {
    this.#inner = inner;
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  a(host: string): Promise<DnsAnswer<string>> {
    return this.#ask('a', host, () => this.#inner.a(host));
  }

  aaaa(host: string): Promise<DnsAnswer<string>> {
    return this.#ask('aaaa', host, () => this.#inner.aaaa(host));
  }

  srv(name: string): Promise<DnsAnswer<SrvRecord>> {
    return this.#ask('srv', name, () => this.#inner.srv(name));
  }

  naptr(name: string): Promise<DnsAnswer<NaptrRecord>> {
    return this.#ask('naptr', name, () => this.#inner.naptr(name));
  }

  /** The key includes the kind, so the entry found under it has the kind's type. */
  #ask<T>(kind: Kind, name: string, query: () => Promise<DnsAnswer<T>>): Promise<DnsAnswer<T>> {
    const key = `${kind} ${name.toLowerCase()}`;
    const entry = this.#entries.get(key);
    if (entry) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      const now = this.#clock.elapsed();
      if (entry.answer && entry.freshUntil > now) return Promise.resolve(entry.answer as DnsAnswer<T>);
      if (entry.retryAt > now) return this.#stale<T>(entry, name);
    }
    const running = this.#running.get(key) ?? this.#begin(key, name, query);
    const answer = running.answer as Promise<DnsAnswer<T>>;
    if (!entry?.answer || entry.staleUntil <= this.#clock.elapsed()) return answer;
    const waited = this.#clock.elapsed() - running.since;
    return this.#patiently(answer, entry.answer as DnsAnswer<T>, this.#limits.patienceMs - waited);
  }

  #begin<T>(key: string, name: string, query: () => Promise<DnsAnswer<T>>): Query {
    const answer = this.#query(key, name, query).finally(() => this.#running.delete(key));
    const running = { answer, since: this.#clock.elapsed() };
    this.#running.set(key, running);
    return running;
  }

  /** `asked`, or `stale` when that takes longer than `ms`; the query continues for later callers. */
  #patiently<T>(asked: Promise<DnsAnswer<T>>, stale: DnsAnswer<T>, ms: number): Promise<DnsAnswer<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<DnsAnswer<T>>();
    const timer = this.#clock.after(Math.max(0, ms), () => resolve(stale));
    asked.then(resolve, reject);
    return promise.finally(() => timer.cancel());
  }

  async #query<T>(key: string, name: string, query: () => Promise<DnsAnswer<T>>): Promise<DnsAnswer<T>> {
    try {
      const answer = await this.#inTime(name, query());
      const ttlS = Math.min(this.#ttlOf(answer), this.#limits.maxTtlS);
      const freshUntil = this.#clock.elapsed() + ttlS * 1000;
      // "Does not exist" too: most names have no NAPTR or AAAA, and each call would wait for them as long as a query may take.
      const staleUntil = freshUntil + this.#limits.staleS * 1000;
      this.#keep(key, { answer, freshUntil, staleUntil, retryAt: 0 });
      return answer;
    } catch {
      const retryAt = this.#clock.elapsed() + this.#limits.failureTtlS * 1000;
      const before = this.#entries.get(key);
      const entry = { answer: null, freshUntil: 0, staleUntil: 0, ...before, retryAt };
      this.#keep(key, entry);
      return this.#stale<T>(entry, name);
    }
  }

  async #stale<T>(entry: Entry, name: string): Promise<DnsAnswer<T>> {
    if (entry.answer && entry.staleUntil > this.#clock.elapsed()) return entry.answer as DnsAnswer<T>;
    throw new DnsFailure(`no answer from the name servers for ${name}`, 'ETIMEOUT');
  }

  #ttlOf({ records, ttlS }: DnsAnswer<unknown>): number {
    const { negativeTtlS } = this.#limits;
    if (records.length === 0) return Math.max(1, Math.min(ttlS ?? negativeTtlS, negativeTtlS));
    return Math.max(1, ttlS ?? this.#limits.defaultTtlS);
  }

  #keep(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#limits.maxEntries) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }

  #inTime<T>(name: string, query: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const timer = this.#clock.after(this.#limits.timeoutMs, () =>
      reject(new DnsFailure(`no answer from the name servers for ${name} in time`, 'ETIMEOUT')),
    );
    query.then(resolve, reject);
    return promise.finally(() => timer.cancel());
  }
}
