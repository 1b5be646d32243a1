/** Port requests, their numbers, history and signed letters, as stored. */
import { sql } from 'kysely';
import type {
  Db,
  PortHistoryRow,
  PortLetterRow,
  PortNumberRow,
  PortRequestRow,
  PortStatus,
} from '../db/index.ts';
import { hashKey } from '../organizations/index.ts';
import type { NumberState } from './state-rules.ts';

/** A row as read. */
export type PortRequest = Omit<PortRequestRow, 'seq'> & { readonly seq: number };

export async function insertRequest(db: Db, row: Omit<PortRequestRow, 'seq'>): Promise<void> {
  await db.insertInto('port_requests').values(row).execute();
}

/** @param orgId null: of any organization */
export function findRequest(db: Db, orgId: string | null, id: string): Promise<PortRequest | undefined> {
  const query = db.selectFrom('port_requests').selectAll().where('id', '=', id);
  return (orgId === null ? query : query.where('org_id', '=', orgId)).executeTakeFirst();
}

/** Looked up by hash, so the look-up time reveals nothing about the token. */
export function findRequestOfToken(db: Db, token: string): Promise<PortRequest | undefined> {
  return db
    .selectFrom('port_requests')
    .selectAll()
    .where('token_hash', '=', hashKey(token))
    .executeTakeFirst();
}

export interface RequestFilter {
  readonly orgId?: string;
  readonly status?: PortStatus;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Newest first. */
export function listRequests(db: Db, filter: RequestFilter, page: Page): Promise<PortRequest[]> {
  let query = db.selectFrom('port_requests').selectAll();
  if (filter.orgId !== undefined) query = query.where('org_id', '=', filter.orgId);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  return query.orderBy('seq', 'desc').limit(page.limit).offset(page.offset).execute();
}

export async function countRequests(db: Db, filter: RequestFilter): Promise<number> {
  let query = db.selectFrom('port_requests').select((eb) => eb.fn.countAll<number>().as('count'));
  if (filter.orgId !== undefined) query = query.where('org_id', '=', filter.orgId);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  return (await query.executeTakeFirstOrThrow()).count;
}

export async function updateRequest(
  db: Db,
  id: string,
  change: Partial<Omit<PortRequestRow, 'seq' | 'id' | 'org_id'>>,
): Promise<void> {
  await db.updateTable('port_requests').set(change).where('id', '=', id).execute();
}

export async function insertNumbers(db: Db, requestId: string, numbers: readonly string[]): Promise<void> {
  const rows = numbers.map(
    (number, position): PortNumberRow => ({
      request_id: requestId,
      position,
      number,
      status: 'waiting_for_signature',
      open: 1,
    }),
  );
  await db.insertInto('port_numbers').values(rows).execute();
}

/** In the order of the request. */
export function findNumbers(db: Db, requestId: string): Promise<NumberState[]> {
  return db
    .selectFrom('port_numbers')
    .select(['number', 'status'])
    .where('request_id', '=', requestId)
    .orderBy('position')
    .execute();
}

export async function findNumbersOf(
  db: Db,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, readonly NumberState[]>> {
  if (requestIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('port_numbers')
    .select(['request_id', 'number', 'status'])
    .where('request_id', 'in', [...requestIds])
    .orderBy('position')
    .execute();
  return Map.groupBy(rows, (row) => row.request_id);
}

export async function setNumberStatus(
  db: Db,
  requestId: string,
  numbers: readonly string[],
  status: PortStatus,
  open: boolean,
): Promise<void> {
  await db
    .updateTable('port_numbers')
    .set({ status, open: open ? 1 : 0 })
    .where('request_id', '=', requestId)
    .where('number', 'in', [...numbers])
    .execute();
}

/** Those of `numbers` in an open request of any organization. */
export async function numbersInProgress(db: Db, numbers: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('port_numbers')
    .select('number')
    .where('number', 'in', [...numbers])
    .where('open', '=', sql.lit(1))
    .execute();
  return numbers.filter((number) => rows.some((row) => row.number === number));
}

/** The holders of those `numbers` that are active here. */
export async function holdersOf(db: Db, numbers: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('numbers')
    .select(['number', 'org_id'])
    .where('number', 'in', [...numbers])
    .where('archived_at', 'is', null)
    .execute();
  return new Map(rows.map(({ number, org_id }) => [number, org_id]));
}

/** Marks a held number as ported: it stays when SIP is detached. */
export async function markPorted(db: Db, orgId: string, number: string, now: string): Promise<void> {
  await db
    .updateTable('numbers')
    .set({ source: 'ported', updated_at: now })
    .where('number', '=', number)
    .where('org_id', '=', orgId)
    .execute();
}

export async function insertHistory(db: Db, row: Omit<PortHistoryRow, 'id'>): Promise<void> {
  await db.insertInto('port_history').values(row).execute();
}

/** Oldest first. */
export function findHistory(db: Db, requestId: string): Promise<Omit<PortHistoryRow, 'id'>[]> {
  return db
    .selectFrom('port_history')
    .selectAll()
    .where('request_id', '=', requestId)
    .orderBy('id')
    .execute();
}

export async function insertLetter(db: Db, row: PortLetterRow): Promise<void> {
  await db.insertInto('port_letters').values(row).execute();
}

export function findLetter(db: Db, requestId: string): Promise<PortLetterRow | undefined> {
  return db.selectFrom('port_letters').selectAll().where('request_id', '=', requestId).executeTakeFirst();
}
