/** The server of the project `postgres` (vitest.config.ts), with a database at the newest schema to copy from. */

import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../../control/db/open.ts';
import { startPostgres } from './postgres-server.ts';
import { templateName } from './test-database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the server's database `postgres`. */
    readonly postgres: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  try {
    const client = new pg.Client({ connectionString: server.url('postgres') });
    await client.connect();
    await client.query(`create database ${templateName}`);
    await client.end();
    await (await openDatabase(server.url(templateName))).close();
  } catch (error) {
    await server.stop();
    throw error;
  }
  project.provide('postgres', server.url('postgres'));
  return () => server.stop();
}
