/**
 * Counters that the replicas share, such as rate limits:
 *
 *     counted --soon, a batch--> told --notification--> heard by all
 *
 * Each replica counts for itself and tells the others. What it has let through and the others have not heard is bounded:
 * at most `allowance` of a key, then it waits until they have. So N replicas together let through less than the limit
 * plus N times the allowance, however slow the notifications are, and a key that uses only one replica has its whole
 * limit. A replica that has let through less than half of its allowance of a key tells nobody.
 */
import { type Clock, systemClock, type Timer } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { outsideFences, toJson } from '../db/index.ts';
import type { Transients } from './transients.ts';

/** Entries are JSON. */
export interface Counter<Entry> {
  /** What is to be told now; it is on its way until `told`. */
  collect(): readonly Entry[];
  /** Whether the others have heard what was collected last. */
  told(heard: boolean): void;
  /** What another replica has collected. */
  heard(entries: readonly Entry[], sender: string): void;
  /** What a replica must know that has just started, or has missed something; without what is to be told. */
  all(): readonly Entry[];
  /** All of another replica. */
  known(entries: readonly Entry[], sender: string): void;
  /** A replica has ended or died. */
  left(sender: string): void;
}

/** A counter's connection to its like on the other replicas. */
export interface Teller {
  /** Whether there are no others. */
  readonly isAlone: boolean;
  /** How much of a key may be let through that the others have not heard of. At least 1. */
  allowance(limit: number): number;
  /** Tells within some milliseconds. */
  soon(): void;
  /** Tells within a quarter of a second. */
  later(): void;
  /** Resolves when the others have heard what was counted before. @throws ApiError SERVICE_UNAVAILABLE */
  now(): Promise<void>;
}

/** Connects a counter. */
export type Join = <Entry>(counter: Counter<Entry>) => Teller;

/** For the only control plane. */
export const alone: Join = () => ({
  isAlone: true,
  allowance: (limit) => limit,
  soon: () => undefined,
  later: () => undefined,
  now: async () => undefined,
});

/** What it needs of them. */
export type Hearing = Pick<Transients, 'peers' | 'topic' | 'onArrival' | 'onLeft' | 'onGap'>;

/** The part of a limit that all replicas together may let through beyond it. */
const overshoot = 0.05;
/** What is to be told soon gathers for this long. */
const soonMs = 20;
const laterMs = 250;
/** Octets of entries in one message. */
const entriesBytes = 7_000;

interface Told<Entry> {
  readonly kind: 'told' | 'all' | 'ask';
  readonly entries: readonly Entry[];
}

export class SharedCounts {
  readonly #transients: Hearing;
  readonly #clock: Clock;

  /** @param clock real time: what it waits for happens in other processes */
  constructor(transients: Hearing, clock: Clock = systemClock) {
    this.#transients = transients;
    this.#clock = clock;
  }

  /** @param name unique */
  as(name: string): Join {
    return (counter) => new CounterTeller(this.#transients, this.#clock, name, counter);
  }
}

class CounterTeller<Entry> implements Teller {
  readonly #transients: Hearing;
  readonly #clock: Clock;
  readonly #counter: Counter<Entry>;
  readonly #topic;
  #running: Promise<boolean> = Promise.resolve(true);
  #next: Promise<boolean> | null = null;
  #timer: { readonly timer: Timer; readonly at: number } | null = null;

  constructor(transients: Hearing, clock: Clock, name: string, counter: Counter<Entry>) {
    this.#transients = transients;
    this.#clock = clock;
    this.#counter = counter;
    this.#topic = transients.topic<Told<Entry>>(`counts ${name}`);
    this.#topic.on(({ kind, entries }, sender) => {
      if (kind === 'told') counter.heard(entries, sender);
      else if (kind === 'all') counter.known(entries, sender);
      else void this.#send('all', counter.all(), sender);
    });
    transients.onArrival((replica) => void this.#send('all', counter.all(), replica));
    transients.onLeft((replica) => counter.left(replica));
    transients.onGap((sender) => void this.#topic.send({ kind: 'ask', entries: [] }, sender ?? undefined));
  }

  get isAlone(): boolean {
    return this.#transients.peers.size === 0;
  }

  allowance(limit: number): number {
    return Math.max(1, Math.floor((limit * overshoot) / (this.#transients.peers.size + 1)));
  }

  soon(): void {
    this.#within(soonMs);
  }

  later(): void {
    this.#within(laterMs);
  }

  async now(): Promise<void> {
    if (await this.#tell()) return;
    throw ApiError.unavailable('The replicas of the control plane cannot reach each other; try again.', 1);
  }

  #within(ms: number): void {
    const at = this.#clock.elapsed() + ms;
    if (this.#timer && this.#timer.at <= at) return;
    this.#timer?.timer.cancel();
    const timer = outsideFences(() =>
      this.#clock.after(ms, () => {
        this.#timer = null;
        void this.#tell();
      }),
    );
    this.#timer = { timer, at };
  }

  /** One after another: what is on its way is told before more follows. */
  #tell(): Promise<boolean> {
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      this.#running = this.#tellNow();
      return this.#running;
    });
    return this.#next;
  }

  async #tellNow(): Promise<boolean> {
    const entries = this.#counter.collect();
    const heard = await this.#send('told', entries);
    this.#counter.told(heard);
    if (!heard) this.later();
    return heard;
  }

  /** @returns whether all of them were heard */
  async #send(kind: Told<Entry>['kind'], entries: readonly Entry[], recipient?: string): Promise<boolean> {
    const sent: Promise<boolean>[] = [];
    let begin = 0;
    let bytes = 0;
    for (const [index, entry] of entries.entries()) {
      const size = Buffer.byteLength(JSON.stringify(toJson(entry)));
      if (bytes > 0 && bytes + size > entriesBytes) {
        sent.push(this.#topic.send({ kind, entries: entries.slice(begin, index) }, recipient));
        begin = index;
        bytes = 0;
      }
      bytes += size;
    }
    if (begin < entries.length)
      sent.push(this.#topic.send({ kind, entries: entries.slice(begin) }, recipient));
    return (await Promise.all(sent)).every((heard) => heard);
  }
}
