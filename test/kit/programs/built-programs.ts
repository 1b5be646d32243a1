/**
 * Control, edge and engine as tests start them: from a few files in place of some thousand, whose loading takes Node as
 * much CPU as all else of a start. They are made of the product's own sources as these are now, by build-programs.ts;
 * `npm start` and its tests load the sources themselves.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { databaseName } from '../../../control/operations/manifest.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const cache = join(root, 'node_modules', '.cache', 'test-programs');

/** By path from the root: programs, and threads and programs that these start. */
export const programs: readonly string[] = [
  'control/backup.ts',
  'control/main.ts',
  'control/migrate-database.ts',
  'control/recordings/opus/thread.ts',
  'control/restore.ts',
  'control/tools/code-worker.ts',
  'edge/agent/ears/silero-worker.ts',
  'edge/engine/main.ts',
  'edge/main.ts',
  'edge/start/shard-thread.ts',
  'shared/models/flite-worker.ts',
  'test/kit/programs/admin-entry.ts',
  'test/kit/programs/control-entry.ts',
  'test/kit/programs/edge-entry.ts',
];

const sources = ['control', 'edge', 'outgoing', 'shared', 'test/kit/programs'];

/** Benches measure the sources as an operator starts them. */
export const isTest = process.env.VITEST_POOL_ID !== undefined;

export interface BuiltProgram {
  readonly file: string;
  /** For NODE_COMPILE_CACHE: removed with the program. */
  readonly compiled: string;
}

/**
 * What to start in place of a source file of `programs`. Builds all if a source has changed since the last build.
 * @param file with its whole path
 */
export function builtProgram(file: string): BuiltProgram {
  const name = builtName(file);
  if (name === null) throw new Error(`${file} is not among the programs of built-programs.ts`);
  const folder = built();
  return { file: join(folder, name), compiled: join(folder, 'compiled') };
}

/** The file of a program for a test, the source itself for a bench. */
export function testedFile(file: string): string {
  return isTest ? builtProgram(file).file : file;
}

/** Where a program is in the folder of all; null: it is not built. */
export function builtName(file: string): string | null {
  const path = relative(root, file);
  return programs.includes(path) ? path.replace(/\.ts$/, '.mjs') : null;
}

/** What a first start makes the same each time, in the folder of the programs: its database and certificates. */
export const firstDataName = 'first-data';

/**
 * Spares a first start the migrations and the certificates, if the data folder is empty: it then finds a database without
 * rows, and certificates that it issues again only for other names. The tests of upgrades and of `npm start` let control
 * make its own.
 */
export function giveFirstData(dataFolder: string): void {
  if (readdirSync(dataFolder).length > 0) return;
  const made = join(built(), firstDataName);
  copyFileSync(join(made, databaseName), join(dataFolder, databaseName));
  const tls = join(dataFolder, 'tls');
  mkdirSync(tls, { mode: 0o700 });
  for (const name of readdirSync(join(made, 'tls'))) copyFileSync(join(made, 'tls', name), join(tls, name));
}

let made: string | null = null;

/** The folder of the programs made of the sources as they are now, which are looked at once in each process. */
function built(): string {
  made ??= make();
  return made;
}

function make(): string {
  const folder = join(cache, state());
  if (!existsSync(folder)) {
    execFileSync(process.execPath, [join(import.meta.dirname, 'build-programs.ts'), folder], {
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return folder;
}

/** Changes with every change of a source. */
function state(): string {
  const hash = createHash('sha256');
  const files = sources.flatMap((name) =>
    readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => join(name, file)),
  );
  for (const file of ['package-lock.json', ...files.sort()]) {
    const { mtimeMs, size } = statSync(join(root, file));
    hash.update(`${file}\0${mtimeMs}\0${size}\0`);
  }
  return hash.digest('hex').slice(0, 12);
}
