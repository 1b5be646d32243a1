import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { databaseTests } from './test/database-tests.ts';
import { LongestFirst } from './test/longest-first.ts';
import { maxWorkers, workerFlags } from './test/worker-flags.ts';

/**
 * Limits find what hangs; they measure nothing. On a machine with four times the load that it can carry all takes
 * many times as long.
 */
const poll = { timeout: 30_000 };

/** Compiled code is kept from one worker and run to the next, also without `npm test`. */
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'node');

/** Tests of control that run once, because they use SQLite files: of programs, of earlier versions, of a disk that fails. */
const onFiles = [
  'control/{admin,bootstrap}.test.ts',
  'control/operations/**',
  'control/db/{open,upgrade,secrets-at-rest}.test.ts',
  'control/db/sqlite/**',
  'control/**/{kill,deadly,full-disk,sealed-store}.test.ts',
];

/** What HTTP does before or after any work, and its description; the other tests of routes are there for the database. */
const withoutWork = [
  'control/http/{cors,every-route,roles,unread-body}.test.ts',
  'control/deployment/openapi.test.ts',
  'control/deployment/docs/site.test.ts',
];

/** They import a kit that can open a database, and open none. */
const withoutDatabase = ['control/porting/letter.test.ts'];

/**
 * Three projects: `system` starts real programs (engine, edge, control, SIPp, baresip), which takes longest, so it is
 * first; `unit` is beside the code; `postgres` runs the tests of control that use a database once more, on a PostgreSQL
 * server.
 *
 * The files of a project share processes and with them what is imported and compiled once: a fresh start for each
 * costs more than all the tests of `unit`. So no module may keep a state that a test can see.
 */
export default defineConfig({
  test: {
    maxWorkers,
    pool: 'forks',
    isolate: false,
    execArgv: [...workerFlags],
    // Node imports the sources itself, as in production: Vite would transform each of them, which takes longer, and turn
    // every use of an import into a read of an object's property. Nothing here needs what that gives (vi.mock).
    experimental: { viteModuleRunner: false, nodeLoader: false },
    setupFiles: [
      'test/kit/own-modules.ts',
      'test/kit/generated-code.ts',
      'test/kit/property-seed.ts',
      'test/kit/programs/engine-differences.ts',
    ],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            '{shared,outgoing,edge,control,clients,console}/**/*.test.ts',
            'test/{torture,fuzz,simulation,engine-walk,soak}/**/*.test.ts',
            'test/*.test.ts',
          ],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          expect: { poll },
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: databaseTests(import.meta.dirname),
          exclude: [...onFiles, ...withoutWork, ...withoutDatabase],
          globalSetup: 'test/kit/db/postgres-setup.ts',
          env: { TRUNKLINE_TEST_POSTGRES: 'true' },
          testTimeout: 240_000,
          hookTimeout: 240_000,
          expect: { poll },
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/{sipp,peers,system}/**/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          expect: { poll },
        },
      },
    ],
  },
});
