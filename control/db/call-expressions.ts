/** What searches of calls compute from their columns: as in the indexes of migrations 0062 and 0087, or they are not used. */
import { type RawBuilder, sql } from 'kysely';
import { dialectOf } from './dialect-name.ts';
import type { Db } from './tables.ts';

/** The number at the other end of a call. */
export function otherParty(): RawBuilder<string> {
  return sql`(case direction when 'inbound' then from_number else to_number end)`;
}

/** The MOS of a call; null when it was not measured. */
export function meanOpinion(db: Db): RawBuilder<number | null> {
  return dialectOf(db) === 'sqlite'
    ? sql`json_extract(media, '$.mos')`
    : sql`((media::json ->> 'mos')::double precision)`;
}

/** When the end of a call became known: as in the index of migration 0087. */
export function endKnownAt(): RawBuilder<string> {
  return sql`(coalesce(end_stored_at, ended_at))`;
}

/** Calls with this MOS or less have an index of their own: many people are dissatisfied with it (ITU-T G.107, annex B). */
export const poorSound = 3.6;
