/** The search index over transcripts (migrations/0038-transcript-words.ts). */
import { sql } from 'kysely';
import { dialectOf } from './dialect-name.ts';
import type { TranscriptPartRow } from './tables/calls.ts';
import type { Db } from './tables.ts';

/** Words that follow each other. */
export interface Phrase {
  /** At least one, of lower-case letters and digits only. */
  readonly words: readonly string[];
  /** Whether the last word may go on. */
  readonly isPrefix: boolean;
}

type FoundPart = Pick<TranscriptPartRow, 'call_id' | 'entries'> & { readonly id: number };

/**
 * Parts of the organization's transcripts with all of these phrases, the last one stored first.
 * @param before only parts with a lower id
 */
export async function findParts(
  db: Db,
  orgId: string,
  phrases: readonly Phrase[],
  before: number,
  limit: number,
): Promise<FoundPart[]> {
  const org = `o${Buffer.from(orgId).toString('hex')}`;
  const found =
    dialectOf(db) === 'sqlite'
      ? sql<FoundPart>`select part.id, part.call_id, part.entries
          from transcript_words join transcript_parts as part on part.id = transcript_words.rowid
          where transcript_words match ${matchOf(org, phrases)} and transcript_words.rowid < ${before}
          order by transcript_words.rowid desc limit ${sql.lit(limit)}`
      : sql<FoundPart>`select id, call_id, entries from transcript_parts
          where words @@ to_tsquery('simple', ${queryOf(org, phrases)}) and id < ${before}
          order by id desc limit ${sql.lit(limit)}`;
  return (await found.execute(db)).rows;
}

/** https://sqlite.org/fts5.html#full_text_query_syntax */
function matchOf(org: string, phrases: readonly Phrase[]): string {
  const said = phrases.map(({ words, isPrefix }) => `"${words.join(' ')}"${isPrefix ? ' *' : ''}`);
  return `org : "${org}" AND said : (${said.join(' AND ')})`;
}

/** https://www.postgresql.org/docs/15/datatype-textsearch.html#DATATYPE-TSQUERY */
function queryOf(org: string, phrases: readonly Phrase[]): string {
  // The organization's word alone has weight A, so that nobody can say it.
  const said = phrases.map(({ words, isPrefix }) => `(${words.join(':D <-> ')}:${isPrefix ? '*D' : 'D'})`);
  return [`${org}:A`, ...said].join(' & ');
}
