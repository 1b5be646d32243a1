/**
 * Where the streams of one replica read events. While there are any, it looks for news of their organizations: at once after
 * what this replica has stored, and all the time for what others have. A page is read once for all streams that are at the
 * same place; a stream that is behind reads on its own.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Database, StoredEvent } from '../db/index.ts';
import type { Followers } from './followers.ts';
import type { EventLimits } from './limits.ts';
import { Turns } from './turns.ts';
import { eventsAfter, keepWindows, newestEvents, openWindow, type Position } from './windows-store.ts';

export interface FeedParts {
  readonly database: Pick<Database, 'db' | 'durable'>;
  readonly followers: Pick<Followers, 'opened'>;
  readonly clock: Clock;
  readonly limits: Pick<EventLimits, 'windowMs' | 'mostEvents' | 'mostOctets' | 'lookMs' | 'pageOctets'>;
  readonly log: Pick<FastifyBaseLogger, 'error'>;
}

/** An event as it is sent. */
export interface ReadEvent {
  readonly type: string;
  readonly subject: StoredEvent[1];
  /** In the form of server-sent events. */
  readonly text: string;
}

export interface EventPage {
  readonly events: readonly ReadEvent[];
  /** Of the last event, or where the reader was. */
  readonly last: Position;
  /** Events are missing before these: they are no longer stored. */
  readonly hasMissed: boolean;
}

/** Between two looks for what this replica has stored, ms: a busy one stores hundreds of times per second. */
const soonMs = 25;
/** Organizations whose last page is kept for other streams. */
const mostPages = 64;

interface SharedPage {
  readonly after: Position;
  readonly page: Promise<EventPage>;
}

export class EventFeed {
  readonly #parts: FeedParts;
  /** What wakes the streams, by organization. */
  readonly #readers = new Map<string, Set<() => void>>();
  readonly #known = new Map<string, Position>();
  readonly #pages = new Map<string, SharedPage>();
  readonly #turns = new Turns();
  #timer: Timer | null = null;
  #soon: Timer | null = null;
  #looking: Promise<void> | null = null;
  #keptAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** Has events of the organization stored from now on, if they are not yet. @returns the newest */
  async open(orgId: string): Promise<Position> {
    const { clock, database, followers, limits } = this.#parts;
    const opened = () => followers.opened();
    const opening = { ...limits, now: clock.now(), until: this.#readUntil(), opened };
    const newest = await openWindow(database.db, orgId, opening);
    await database.durable();
    return newest;
  }

  /** Calls `wake` when there may be news of the organization. Returns a function that ends it. */
  follow(orgId: string, wake: () => void): () => void {
    const readers = this.#readers.get(orgId) ?? new Set();
    this.#readers.set(orgId, readers.add(wake));
    this.#timer ??= this.#lookLater();
    return () => {
      readers.delete(wake);
      if (readers.size > 0) return;
      this.#readers.delete(orgId);
      this.#known.delete(orgId);
      this.#pages.delete(orgId);
    };
  }

  /** This replica has stored something. */
  stored(): void {
    if (this.#readers.size === 0 || this.#soon !== null || this.#isClosed) return;
    this.#soon = this.#parts.clock.after(soonMs, () => {
      this.#soon = null;
      void this.#look();
    });
  }

  /** The next events after a place. */
  read(orgId: string, after: Position): Promise<EventPage> {
    const shared = this.#pages.get(orgId);
    if (shared?.after.epoch === after.epoch && shared.after.seq === after.seq) return shared.page;
    // Readers that go through a long window, and find nothing in it, would hold up the process.
    const page = this.#turns.take(orgId, () => this.#read(orgId, after));
    if (!this.#readers.has(orgId)) return page;
    const own: SharedPage = { after, page };
    const forget = () => {
      if (this.#pages.get(orgId) === own) this.#pages.delete(orgId);
    };
    this.#pages.delete(orgId);
    this.#pages.set(orgId, own);
    // An empty page is soon out of date.
    page.then(({ events }) => {
      if (events.length === 0) forget();
    }, forget);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > mostPages && oldest !== undefined) this.#pages.delete(oldest);
    return page;
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#soon?.cancel();
  }

  async #read(orgId: string, after: Position): Promise<EventPage> {
    const { database, limits } = this.#parts;
    const newest = (await newestEvents(database.db, [orgId])).get(orgId) ?? (await this.open(orgId));
    const { epoch } = after;
    if (newest.epoch === epoch && newest.seq === after.seq)
      return { events: [], last: after, hasMissed: false };
    const isGone = newest.epoch !== epoch || newest.seq < after.seq;
    const found = isGone ? null : await eventsAfter(database.db, orgId, after.seq, limits.pageOctets);
    // What is sent must not be lost with the power: its number would be given to another event.
    await database.durable();
    const last = found?.at(-1);
    if (!found || !last) return { events: [], last: newest, hasMissed: true };
    return {
      events: found.map(({ event, seq }) => readEvent({ epoch, seq }, event)),
      last: { epoch, seq: last.seq },
      hasMissed: false,
    };
  }

  #lookLater(): Timer {
    return this.#parts.clock.after(this.#parts.limits.lookMs, () => {
      void this.#look().then(() => {
        this.#timer = this.#readers.size > 0 && !this.#isClosed ? this.#lookLater() : null;
      });
    });
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    const { database, log } = this.#parts;
    const orgIds = [...this.#readers.keys()];
    try {
      await this.#keep(orgIds);
      const newest = await newestEvents(database.db, orgIds);
      for (const orgId of orgIds) {
        const [before, now] = [this.#known.get(orgId), newest.get(orgId)];
        if (before && now && before.epoch === now.epoch && before.seq === now.seq) continue;
        if (now && this.#readers.has(orgId)) this.#known.set(orgId, now);
        for (const wake of this.#readers.get(orgId) ?? []) wake();
      }
    } catch (error) {
      // The next look follows soon; streams end when their client stops reading.
      if (!this.#isClosed) log.error({ err: error }, 'news of events could not be read');
    }
  }

  /** Keeps the windows of what is read open. */
  async #keep(orgIds: readonly string[]): Promise<void> {
    const { clock, database, limits } = this.#parts;
    const now = clock.elapsed();
    if (now - this.#keptAt < limits.windowMs / 16) return;
    await keepWindows(database.db, orgIds, this.#readUntil());
    this.#keptAt = now;
  }

  /** Somewhat longer than the window, because it is not prolonged at each moment. */
  #readUntil(): number {
    const { clock, limits } = this.#parts;
    return clock.now() + limits.windowMs + limits.windowMs / 8;
  }
}

export function idOf({ epoch, seq }: Position): string {
  return `${epoch}-${seq}`;
}

/** The place that an id names; null: it is none of ours. */
export function positionOf(id: string): Position | null {
  const [, epoch, seq] = /^([0-9]{1,15})-([0-9]{1,15})$/.exec(id) ?? [];
  return epoch === undefined ? null : { epoch: Number(epoch), seq: Number(seq) };
}

function readEvent(position: Position, [type, subject, body]: StoredEvent): ReadEvent {
  const id = idOf(position);
  return { type, subject, text: `id: ${id}\nevent: ${type}\ndata: {"id":"${id}",${body.slice(1)}\n\n` };
}
