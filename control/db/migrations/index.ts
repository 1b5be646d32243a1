/** All migrations in their order. Forward only: a released file is never edited, a new one is added. */
import type { Migration } from 'kysely/migration';
import { up as organizations } from './0001-organizations.ts';
import { up as numbers } from './0002-numbers.ts';
import { up as edgesAndCalls } from './0003-edges-and-calls.ts';

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-organizations': { up: organizations },
  '0002-numbers': { up: numbers },
  '0003-edges-and-calls': { up: edgesAndCalls },
};
