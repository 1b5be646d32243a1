/** Moves a control plane's data from its SQLite file to a PostgreSQL server, with a pause of seconds. */
import { setTimeout as wait } from 'node:timers/promises';
import { counted } from '#shared/counted.ts';
import { pathExists } from '#shared/path-exists.ts';
import { SettingError } from '#shared/settings/reader.ts';
import {
  beginChanges,
  copyChanges,
  copyRows,
  countAll,
  type Database,
  endChanges,
  holdDataFolder,
  isCurrent,
  isEmpty,
  isServer,
  openDatabase,
  renameDatabase,
  shownAddress,
} from '../db/index.ts';
import { movedEnding } from './existing-data.ts';
import { OperationError } from './operation-error.ts';
import { refuseWhileServed } from './served.ts';

/** Time between two rounds while the control plane still runs, ms. */
const roundEveryMs = 500;

export interface MoveOptions {
  readonly databaseFile: string;
  readonly dataFolder: string;
  /** URL of the server's database. */
  readonly to: string;
  /** Whether rows in the server's database may be replaced. */
  readonly force: boolean;
  readonly now: Date;
  /** Receives each step, for the person who waits. */
  readonly say: (line: string) => void;
}

export interface Moved {
  /** Rows of all tables. */
  readonly rows: number;
  /** New location of the SQLite file. */
  readonly kept: string;
}

/**
 * Copies everything while the control plane runs, then what changes meanwhile, until it is stopped; copies the rest, and
 * renames the file, so that nobody starts on it by mistake. Every row is compared after it was written.
 * @throws OperationError; CopyDiffers. The SQLite file is as before then
 */
export async function moveDatabase(options: MoveOptions): Promise<Moved> {
  const { databaseFile, to, force, say } = options;
  await checkBoth(databaseFile, to);
  const [source, target] = [await openDatabase(databaseFile), await openDatabase(to)];
  try {
    await refuseWhileServed(target.db, to);
    if (!force && !(await isEmpty(target.db))) {
      throw new OperationError(`${shownAddress(to)} has rows already; --force replaces them.`);
    }
    await beginChanges(source.db);
    const release = await copyUntilStopped(source, target, options);
    try {
      const rows = await finish(source, target);
      await source.close();
      return { rows, kept: setAside(databaseFile, options.now) };
    } finally {
      release();
    }
  } catch (error) {
    await endChanges(source.db).catch(() =>
      say('Run this again with --cancel: the file still notes changes.'),
    );
    throw error;
  } finally {
    await source.close();
    await target.close();
  }
}

/** Ends what a killed move left behind; the control plane may run. @returns what was done, in words */
export async function cancelMove(databaseFile: string): Promise<string> {
  await checkFile(databaseFile);
  const source = await openDatabase(databaseFile);
  try {
    await endChanges(source.db);
  } finally {
    await source.close();
  }
  return `${databaseFile} notes no changes for a move.`;
}

async function checkBoth(databaseFile: string, to: string): Promise<void> {
  if (!isServer(to)) throw new OperationError('--to takes a URL that begins with postgres://.');
  await checkFile(databaseFile);
}

async function checkFile(databaseFile: string): Promise<void> {
  if (isServer(databaseFile)) {
    throw new OperationError('DATABASE_URL names a server; leave it out, so that the SQLite file is moved.');
  }
  if (!pathExists(databaseFile)) throw new OperationError(`There is no database at ${databaseFile}.`);
  if (!(await isCurrent(databaseFile))) {
    throw new OperationError(
      `${databaseFile} belongs to another version of the program: start the control plane of this version first.`,
    );
  }
}

/** @returns releases the data folder, which it holds once the control plane has stopped */
async function copyUntilStopped(
  source: Database,
  target: Database,
  { dataFolder, say }: MoveOptions,
): Promise<() => void> {
  const copied = await copyRows(source.db, target.db);
  say(`Copied and compared: ${counted(sum(copied), 'row')}.`);
  await copyChanges(source.db, target.db);
  for (let asked = false; ; ) {
    const release = heldFolder(dataFolder);
    if (release !== null) return release;
    if (!asked) say('Stop the control plane now: the rest takes seconds.');
    asked = true;
    await copyChanges(source.db, target.db);
    await wait(roundEveryMs);
  }
}

/** null while a control plane holds it. */
function heldFolder(dataFolder: string): (() => void) | null {
  try {
    return holdDataFolder(dataFolder);
  } catch (error) {
    if (error instanceof SettingError) return null;
    throw error;
  }
}

async function finish(source: Database, target: Database): Promise<number> {
  await copyChanges(source.db, target.db);
  await endChanges(source.db);
  const [original, copy] = [await countAll(source.db), await countAll(target.db)];
  for (const [table, rows] of original) {
    if (copy.get(table) !== rows) {
      throw new OperationError(
        `Table ${table} has ${counted(rows, 'row')}, its copy ${copy.get(table)}: nothing was moved. Does something else write into the server's database?`,
      );
    }
  }
  return sum(original);
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((all, rows) => all + rows, 0);
}

function setAside(databaseFile: string, now: Date): string {
  const kept = `${databaseFile}${movedEnding}${now.toISOString().replaceAll(/[:.]/g, '-')}`;
  renameDatabase(databaseFile, kept);
  return kept;
}
