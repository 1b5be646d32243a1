import { randomUUID } from 'node:crypto';

/** A new row identifier (UUID v4, lower case). Passed as a function so that tests can fix the value. */
export type NewId = () => string;

export const newId: NewId = () => randomUUID();

/**
 * A new identifier with the time in it (UUID v7, RFC 9562 section 5.7), lower case: later ones sort after earlier ones, and
 * PostgreSQL keeps calls in partitions by it (control/db/postgres/partitions.ts).
 * @param now ms since 1970
 */
export function newTimedId(now: number): string {
  return `${timedIdsFrom(now)}-7${randomUUID().slice(15)}`;
}

/** What all timed ids of `time` (ms since 1970) and later are greater than or begin with, compared as text. */
export function timedIdsFrom(time: number): string {
  const hex = Math.floor(time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
