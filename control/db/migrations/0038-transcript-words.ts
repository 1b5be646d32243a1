/**
 * Words of transcripts, for the search over calls (calls/search-store.ts). Triggers keep them, so that every way in which a
 * transcript comes or goes is covered: reports, retention, copies. A transcript's organization is one of its words, so
 * that a search reads only its own.
 *
 *     SQLite       transcript_words, an FTS5 index by transcript_parts.id
 *     PostgreSQL   transcript_parts.words, a tsvector with a GIN index
 *
 * Both have the same words: runs of letters and digits in lower case.
 */
import { type Kysely, sql } from 'kysely';
import { dialectOf } from '../dialect-name.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await (dialectOf(db) === 'sqlite' ? addToSqlite(db) : addToPostgres(db));
}

/** https://sqlite.org/fts5.html#contentless_delete_tables */
async function addToSqlite(db: Kysely<unknown>): Promise<void> {
  await sql`create virtual table transcript_words using fts5(
    org, said, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0')`.execute(db);
  const wordsOf = (part: 'new' | 'transcript_parts') => sql`select ${sql.ref(`${part}.id`)},
    (select 'o' || hex(org_id) from calls where id = ${sql.ref(`${part}.call_id`)}),
    (select group_concat(value ->> 'text', ' ') from json_each(${sql.ref(`${part}.entries`)}))`;
  await sql`insert into transcript_words (rowid, org, said) ${wordsOf('transcript_parts')} from transcript_parts
    where json_valid(entries)`.execute(db);
  await sql`create trigger transcript_words_added after insert on transcript_parts when json_valid(new.entries)
    begin insert into transcript_words (rowid, org, said) ${wordsOf('new')}; end`.execute(db);
  await sql`create trigger transcript_words_deleted after delete on transcript_parts
    begin delete from transcript_words where rowid = old.id; end`.execute(db);
}

/**
 * PostgreSQL's own parser would also find numbers with signs, host names and addresses; only words are left to it. Letters
 * are those of Unicode, whatever the locale of the database.
 */
async function addToPostgres(db: Kysely<unknown>): Promise<void> {
  await sql`create function words_of(said text) returns tsvector language sql immutable parallel safe as $$
    select to_tsvector('simple', regexp_replace(lower(said collate "und-x-icu"), '[^[:alnum:]]+', ' ', 'g')) $$`.execute(
    db,
  );
  await sql`create function words_of_transcript(of_call text, entries text) returns tsvector language plpgsql stable as $$
    declare org text;
    begin
      select encode(convert_to(org_id, 'UTF8'), 'hex') into org from calls where id = of_call;
      return setweight(words_of('o' || coalesce(org, '')), 'A')
        || words_of((select string_agg(entry ->> 'text', ' ') from jsonb_array_elements(entries::jsonb) as entry));
    exception when invalid_text_representation or invalid_parameter_value then
      return null;
    end $$`.execute(db);
  await sql`alter table transcript_parts add column words tsvector`.execute(db);
  await sql`update transcript_parts set words = words_of_transcript(call_id, entries)`.execute(db);
  await sql`create index transcript_parts_by_words on transcript_parts using gin (words)`.execute(db);
  await sql`create function add_transcript_words() returns trigger language plpgsql as $$
    begin new.words := words_of_transcript(new.call_id, new.entries); return new; end $$`.execute(db);
  await sql`create trigger transcript_words_added before insert on transcript_parts
    for each row execute function add_transcript_words()`.execute(db);
}
