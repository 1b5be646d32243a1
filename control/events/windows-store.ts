/** Windows of events and their rows, as stored. */
import { type Compilable, sql } from 'kysely';
import {
  builtOnce,
  type Db,
  type EventRow,
  type EventWindowRow,
  fromJson,
  isAmong,
  type StoredEvent,
} from '../db/index.ts';

/** A place in the events of an organization: all up to `seq` are before it. */
export interface Position {
  readonly epoch: number;
  readonly seq: number;
}

export interface WindowOpening {
  /** ms since the epoch */
  readonly now: number;
  readonly until: number;
  readonly mostEvents: number;
  readonly mostOctets: number;
  /** Called in the transaction. */
  readonly opened: () => void;
}

/**
 * Opens the window of an organization, or keeps it open. On PostgreSQL the transaction runs alone, so what commits later is
 * recorded. @returns its newest event
 */
export function openWindow(
  database: Db,
  orgId: string,
  { now, until, mostEvents, mostOctets, opened }: WindowOpening,
): Promise<Position> {
  const kept = { most_events: mostEvents, most_octets: mostOctets, read_until: until };
  return database.transaction().execute(async (db) => {
    const { epoch, last_seq: seq } = await db
      .insertInto('event_windows')
      .values({ org_id: orgId, epoch: now, last_seq: 0, last_octet: 0, ...kept })
      .onConflict((conflict) => conflict.column('org_id').doUpdateSet(kept))
      .returning(['epoch', 'last_seq'])
      .executeTakeFirstOrThrow();
    opened();
    return { epoch, seq };
  });
}

const extend = builtOnce((db, orgIds: readonly string[], until: number) =>
  db
    .updateTable('event_windows')
    .set({ read_until: until })
    .where(isAmong(db, 'org_id', orgIds)),
);

export async function keepWindows(db: Db, orgIds: readonly string[], until: number): Promise<void> {
  if (orgIds.length > 0) await extend(db, orgIds, until);
}

const positions = builtOnce((db, orgIds: readonly string[]) =>
  db
    .selectFrom('event_windows')
    .select(['org_id', 'epoch', 'last_seq as seq'])
    .where(isAmong(db, 'org_id', orgIds)),
);

/** The newest events, by organization. */
export async function newestEvents(
  db: Db,
  orgIds: readonly string[],
): Promise<ReadonlyMap<string, Position>> {
  if (orgIds.length === 0) return new Map();
  const rows = await positions(db, orgIds);
  return new Map(rows.map(({ org_id, epoch, seq }) => [org_id, { epoch, seq }]));
}

type EventsOfRow = Pick<EventRow, 'first_seq' | 'seq' | 'octet' | 'body'>;

const rowsAfter = builtOnce((db, orgId: string, seq: number, limit: number) =>
  db
    .selectFrom('events')
    .select(['first_seq', 'seq', 'octet', 'body'])
    .where('org_id', '=', orgId)
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(limit),
);

export interface NumberedEvent {
  readonly seq: number;
  readonly event: StoredEvent;
}

/** Rows in one query; most rows are small. */
const rowsAtOnce = 16;

/**
 * The events after `seq`, in their order, up to about `octets`. @returns null when some of them are no longer stored; an
 * empty list: there are none
 */
export async function eventsAfter(
  db: Db,
  orgId: string,
  seq: number,
  octets: number,
): Promise<NumberedEvent[] | null> {
  const found: NumberedEvent[] = [];
  let last = seq;
  for (let room = octets; room > 0; ) {
    const rows: EventsOfRow[] = await rowsAfter(db, orgId, last, rowsAtOnce);
    for (const { body, first_seq, seq: lastOfRow } of rows) {
      // Numbers have no gaps, so what is missing was deleted.
      if (first_seq > last + 1) return found.length > 0 ? found : null;
      for (const [index, event] of fromJson(body).entries())
        if (first_seq + index > last) found.push({ seq: first_seq + index, event });
      last = lastOfRow;
      room -= body.length;
      if (room <= 0) break;
    }
    if (rows.length < rowsAtOnce) break;
  }
  return found;
}

/** What is deleted: events up to a number, up to an octet of the window, and stored before a time. */
export interface Bounds {
  readonly seq: number;
  readonly octet: number;
  readonly at: number;
}

/** Rows looked at in one statement. */
const rowsDeletedAtOnce = 1_000;

const deleteUpTo = builtOnce((db, orgId: string, { at, octet, seq }: Bounds) => {
  // Not by a condition on each row: those that stay are the most, and are not looked at.
  const oldest = sql`select seq, octet, at from events where org_id = ${orgId}
    order by seq limit ${sql.lit(rowsDeletedAtOnce)}`;
  const statement = sql<
    Pick<EventRow, 'first_seq' | 'seq'>
  >`delete from events where org_id = ${orgId} and seq <= (
    select max(seq) from (${oldest}) as oldest where seq <= ${seq} or octet <= ${octet} or at < ${at}
  ) returning first_seq, seq`;
  const compilable: Compilable<Pick<EventRow, 'first_seq' | 'seq'>> = {
    compile: () => statement.compile(db),
  };
  return compilable;
});

export interface DeletedEvents {
  readonly events: number;
  readonly mayBeMore: boolean;
}

/** Deletes some of the oldest events. */
export async function deleteOldest(db: Db, orgId: string, bounds: Bounds): Promise<DeletedEvents> {
  const rows = await deleteUpTo(db, orgId, bounds);
  const events = rows.reduce((sum, { first_seq, seq }) => sum + seq - first_seq + 1, 0);
  return { events, mayBeMore: rows.length === rowsDeletedAtOnce };
}

type Window = Pick<EventWindowRow, 'org_id' | 'last_seq' | 'last_octet' | 'read_until'>;

export function windowsAfter(db: Db, orgId: string, limit: number): Promise<Window[]> {
  return db
    .selectFrom('event_windows')
    .select(['org_id', 'last_seq', 'last_octet', 'read_until'])
    .where('org_id', '>', orgId)
    .orderBy('org_id')
    .limit(limit)
    .execute();
}

/** Ends a window that nobody has read until `now`. Its events must be deleted before; does nothing while there are some. */
export async function endWindow(database: Db, orgId: string, now: number): Promise<void> {
  // A transaction runs alone, so no event is added between the look and the deletion.
  await database.transaction().execute(async (db) => {
    const left = await db.selectFrom('events').select('seq').where('org_id', '=', orgId).limit(1).execute();
    if (left.length > 0) return;
    await db.deleteFrom('event_windows').where('org_id', '=', orgId).where('read_until', '<', now).execute();
  });
}

/**
 * Ends all windows of a database that was restored: what was recorded after its backup is lost, and its numbers must not be
 * given to other events.
 */
export async function forgetEvents(database: Db): Promise<void> {
  await database.transaction().execute(async (db) => {
    await db.deleteFrom('events').execute();
    await db.deleteFrom('event_windows').execute();
  });
}
