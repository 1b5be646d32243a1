/**
 * Records what happens in organizations, in the transaction that stores it: an event is there if and only if what it tells
 * of is.
 *
 *     nobody reads --first reader--> window: each transaction adds a row --no reader for an hour--> nobody reads
 *
 * Of an organization without a window nothing is recorded, so that events nobody reads cost nothing. Whether there is one
 * is asked in each transaction: one that opens a window runs alone (db/postgres/dialect.ts), so no concurrent
 * transaction can miss it. Adding events locks the row of the window until the commit: numbers have no gaps, and ascend in the
 * order of the commits. Transactions that share the database add them as the last thing they do, to several windows in the
 * order of the organizations, so that none waits for another that waits for it.
 */
import {
  builtOnce,
  type Db,
  type EventRow,
  isAmong,
  type Json,
  type StoredEvent,
  toJson,
} from '../db/index.ts';
import { eventCounts } from './counts.ts';
import { eventLimits } from './limits.ts';
import type { EventSubject, Happening } from './types.ts';
import { deleteOldest } from './windows-store.ts';

/** Organizations with a window. */
export interface Followed {
  readonly isEmpty: boolean;
  /** Whether the organization may have a window. */
  has(orgId: string): boolean;
}

/** Announced in this process when a frame of reports has added events. */
export const eventSubject = 'events';

export const nobody: Followed = { isEmpty: true, has: () => false };
const anybody: Followed = { isEmpty: false, has: () => true };

/** Windows that are read in a transaction; with more, each organization is asked for. */
const mostRead = 50;

const someWindows = builtOnce((db) =>
  db
    .selectFrom('event_windows')
    .select('org_id')
    .limit(mostRead + 1),
);

/** For what takes more than a moment to tell: whether to. Events are recorded in the same transaction. */
export async function followedOrganizations(db: Db): Promise<Followed> {
  const rows = await someWindows(db);
  if (rows.length === 0) return nobody;
  if (rows.length > mostRead) return anybody;
  const ids = new Set(rows.map(({ org_id }) => org_id));
  return { isEmpty: false, has: (orgId) => ids.has(orgId) };
}

const windowsOf = builtOnce((db, orgIds: readonly string[]) =>
  db
    .selectFrom('event_windows')
    .select('org_id')
    .where(isAmong(db, 'org_id', orgIds)),
);

const advance = builtOnce((db, orgId: string, events: number, octets: number) =>
  db
    .updateTable('event_windows')
    .set((eb) => ({
      last_seq: eb('last_seq', '+', events),
      last_octet: eb('last_octet', '+', octets),
    }))
    .where('org_id', '=', orgId)
    .returning(['last_seq', 'last_octet', 'most_events', 'most_octets']),
);

const insertRow = builtOnce((db, row: EventRow) => db.insertInto('events').values(row));

/** Stores events of organizations that are followed. Call it in the transaction that stores what has happened. */
export async function recordEvents(db: Db, happenings: readonly Happening[]): Promise<void> {
  if (happenings.length === 0) return;
  const byOrganization = Map.groupBy(happenings, ({ orgId }) => orgId);
  const windows = await windowsOf(db, [...byOrganization.keys()]);
  for (const orgId of windows.map(({ org_id }) => org_id).toSorted()) {
    const stored = (byOrganization.get(orgId) ?? []).map((one) =>
      storedEvent(one, eventLimits.mostEventOctets),
    );
    await add(db, orgId, stored, Date.parse(happenings.at(-1)?.at ?? ''));
  }
}

/** Changes something and records it, in one transaction: the one around it, if there is one. */
export function changeAndRecord(db: Db, change: (db: Db) => Promise<readonly Happening[]>): Promise<void> {
  return inTransaction(db, async (trx) => recordEvents(trx, await change(trx)));
}

/** In the transaction around it, or one of its own. */
export function inTransaction<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}

async function add(db: Db, orgId: string, events: readonly StoredEvent[], at: number): Promise<void> {
  const rows = rowsOf(events);
  const octets = rows.reduce((sum, row) => sum + row.octets, 0);
  const [window] = await advance(db, orgId, events.length, octets);
  if (!window) return;
  const { last_octet: octet, last_seq: seq, most_events, most_octets } = window;
  const last = { seq: seq - events.length, octet: octet - octets };
  for (const row of rows) {
    const first_seq = last.seq + 1;
    last.seq += row.events;
    last.octet += row.octets;
    await insertRow(db, { org_id: orgId, seq: last.seq, first_seq, octet: last.octet, at, body: row.body });
  }
  eventCounts.recorded += events.length;
  // Some at a time, because each deletion costs a search.
  const steps = 64;
  const passes = (now: number, added: number, most: number) =>
    Math.floor((now * steps) / most) > Math.floor(((now - added) * steps) / most);
  if (passes(seq, events.length, most_events) || passes(octet, octets, most_octets))
    eventCounts.crowdedOut += (
      await deleteOldest(db, orgId, { seq: seq - most_events, octet: octet - most_octets, at: 0 })
    ).events;
}

interface EventsOfRow {
  readonly body: Json<StoredEvent[]>;
  readonly events: number;
  readonly octets: number;
}

/** A row is read as a whole, so it has about a quarter of a page at most. */
function rowsOf(events: readonly StoredEvent[]): EventsOfRow[] {
  const groups: StoredEvent[][] = [];
  let room = 0;
  for (const event of events) {
    const size = event[2].length;
    const group = groups.at(-1);
    if (group && size <= room) group.push(event);
    else {
      groups.push([event]);
      room = eventLimits.pageOctets / 4;
    }
    room -= size;
  }
  return groups.map((group) => {
    const body = toJson(group);
    return { body, events: group.length, octets: Buffer.byteLength(body) };
  });
}

function storedEvent({ type, at, subject, data }: Happening, mostOctets: number): StoredEvent {
  const names = namesOf(subject);
  const text = JSON.stringify({ type, at, subject: names, data });
  if (Buffer.byteLength(text) <= mostOctets) return [type, names, text];
  eventCounts.shortened++;
  return [type, names, JSON.stringify({ type, at, subject: names, data: null })];
}

export function namesOf(subject: EventSubject): Record<string, string> {
  const entries = Object.entries(subject).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries);
}
