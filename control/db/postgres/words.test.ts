import { sql } from 'kysely';
import pg from 'pg';
import { expect, it } from 'vitest';
import { SettingError } from '#shared/settings/reader.ts';
import { onSqlite, takeDatabase } from '../../../test/kit/db/test-database.ts';
import { openDatabase, schemaState } from '../open.ts';
import { unreachable } from './unreachable.ts';
import { ofServer, serverWords } from './words.ts';

const server = 'postgres://trunkline@db.example.com:5432/trunkline';
const withCode = (code: string, message = 'it said so') => Object.assign(new Error(message), { code });
const wordsOf = (error: Error) => serverWords(ofServer(error, server));

it.each([
  ['28P01', 'rejects the user'],
  ['28000', 'rejects the user'],
  ['3D000', 'does not have the database'],
  ['42501', 'does not let the user do this'],
  ['25006', 'takes no writes'],
  ['53100', 'has no room on its disk'],
  ['53300', 'has no free connection'],
  ['57P03', 'is starting or stopping'],
  ['DATABASE_UNREACHABLE', 'cannot be reached'],
])('%s: the server %s', (code, what) => {
  const words = wordsOf(new Error('cannot be used', { cause: withCode(code, 'it said so.') }));
  expect(words).toMatch(`The PostgreSQL server of ${server} ${what}: it said so. `);
  expect(words).not.toContain('data folder');
});

it('says why a server cannot be reached, also when none of its addresses answers', () => {
  for (const [cause, reason] of [
    [withCode('ECONNREFUSED', 'connect ECONNREFUSED 192.0.2.1:5432'), 'connect ECONNREFUSED 192.0.2.1:5432'],
    [withCode('ECONNREFUSED', ''), 'ECONNREFUSED'],
  ] as const) {
    const failure = unreachable(cause);
    expect(failure).toBeInstanceOf(Error);
    if (failure instanceof Error)
      expect(wordsOf(failure)).toContain(`cannot be reached: ${reason}. Check host`);
  }
});

it('leaves faults of the program, and errors of other things, to others', () => {
  expect(wordsOf(withCode('42601', 'syntax error'))).toBeNull();
  expect(serverWords(withCode('ENOSPC'))).toBeNull();
});

it.skipIf(onSqlite)(
  'names the server of a database that is not there, without a stack or a password',
  async () => {
    const { address, release } = await takeDatabase();
    const url = new URL(address);
    url.pathname = '/nowhere';
    url.searchParams.set('password', 'secret');
    for (const open of [openDatabase, schemaState]) {
      const error: unknown = await open(url.href).catch((failure: unknown) => failure);
      expect(serverWords(error)).toMatch(
        /nowhere does not have the database: database "nowhere" does not exist\. Create it/,
      );
      expect(serverWords(error)).not.toContain('secret');
    }
    await release();
  },
);

it.skipIf(onSqlite).each(['LATIN1', 'SQL_ASCII'])(
  'a new database of the encoding %s is refused before a table is made, with what to do',
  async (encoding) => {
    const { address, release } = await takeDatabase();
    const admin = new pg.Client({ connectionString: address });
    await admin.connect();
    const url = new URL(address);
    url.pathname = `/${url.pathname.slice(1)}_${encoding.toLowerCase()}`;
    const name = url.pathname.slice(1);
    await admin.query(`create database ${name} encoding '${encoding}' locale 'C' template template0`);
    try {
      const opening = openDatabase(url.href);
      await expect(opening).rejects.toThrow(SettingError);
      await expect(opening).rejects.toThrow(
        `has the encoding ${encoding}, which cannot hold all text. Create it again with: ENCODING 'UTF8' TEMPLATE template0`,
      );
      expect(await schemaState(url.href)).toBeNull();
    } finally {
      await admin.query(`drop database ${name}`);
      await admin.end();
      await release();
    }
  },
);

it.skipIf(onSqlite)('names the server that is lost in the middle of a transaction', async () => {
  const { address, release } = await takeDatabase();
  const database = await openDatabase(address);
  const lost = database.db
    .transaction()
    .execute((trx) => sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx));
  const error: unknown = await lost.catch((failure: unknown) => failure);
  expect(serverWords(error)).toMatch(
    /^The PostgreSQL server of postgres:\/\/.* (?:is starting or stopping|cannot be reached): /,
  );
  await database.close();
  await release();
});
