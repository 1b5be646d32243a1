import { Kysely, sql } from 'kysely';
import { systemClock } from '#shared/clock.ts';
import type { Tables } from '../tables.ts';
import { openPostgres } from './open.ts';

/** The version that a server tells, such as `16.4 (Debian 16.4-1)`. @throws Error when it cannot be reached */
export async function serverVersion(address: string): Promise<string> {
  const db = new Kysely<Tables>({ dialect: openPostgres(address, systemClock, 1).dialect });
  try {
    const { rows } = await sql<{ server_version: string }>`show server_version`.execute(db);
    return rows[0]?.server_version ?? 'unknown';
  } finally {
    await db.destroy();
  }
}
