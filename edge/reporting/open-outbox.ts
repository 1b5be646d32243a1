/** The outbox in the data folder of one edge, and what an earlier version left there. */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { pathExists } from '#shared/path-exists.ts';
import { namingPath } from '#shared/storage-fault.ts';
import { type EarlierOutbox, openEarlier } from './earlier-outbox.ts';
import { liveLine, outboxLine, reportLine } from './journal/entry.ts';
import { Journal } from './journal/journal.ts';
import { folderFiles, type SegmentFiles, syncFolder } from './journal/segment-files.ts';
import { Outbox } from './outbox.ts';
import type { OutboxOptions } from './outbox-options.ts';
import { segmentOctets } from './segment-octets.ts';

/**
 * Opens `outbox/` for this process alone; the system releases it when the process dies. `outbox.db`, the outbox of
 * earlier versions, is taken over: its reports are sent first.
 * @param filesOf for tests: the files in a folder
 * @throws Error when it cannot be opened, or belongs to a running edge
 */
export async function openOutbox(
  dataDir: string,
  options: OutboxOptions = {},
  filesOf: (folder: string) => SegmentFiles = folderFiles,
): Promise<Outbox> {
  const folder = join(dataDir, 'outbox');
  const release = alone(folder, join(dataDir, 'outbox.lock'), holdFile);
  try {
    const path = join(dataDir, 'outbox.db');
    const earlier = alone(path, path, openEarlier);
    if (earlier && !pathExists(folder)) convert(earlier, folder, dataDir);
    const outbox = new Outbox(filesOf(folder), { ...options, closed: release });
    if (earlier) await finish(earlier, outbox);
    return outbox;
  } catch (error) {
    release();
    throw error;
  }
}

/** A journal with the id and the numbers of the earlier outbox. It gets its name when everything is in it. */
function convert(earlier: EarlierOutbox, folder: string, dataDir: string): void {
  const unfinished = `${folder}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  const journal = new Journal(folderFiles(unfinished));
  const live = [...earlier.live].map(([id, record]) => liveLine(id, record));
  const headUpTo = (last: number) => [outboxLine(earlier.id, last, earlier.aliveAt, []), ...live].join('\n');
  const most = segmentOctets(headUpTo(0).length);
  journal.begin(0, 0, headUpTo(0));
  for (const { first, reports } of earlier.runs()) {
    if (journal.size >= most) {
      journal.syncNow();
      journal.begin(first - 1, 0, headUpTo(first - 1));
    }
    journal.append(first, reports.length, 0, reports.map(reportLine).join('\n'));
  }
  journal.begin(earlier.last, 0, headUpTo(earlier.last));
  journal.syncNow();
  journal.close();
  renameSync(unfinished, folder);
  syncFolder(dataDir);
}

/**
 * `outbox.db` is removed. One with another id is there after a return to an earlier version: its reports get numbers of
 * this outbox.
 */
async function finish(earlier: EarlierOutbox, outbox: Outbox): Promise<void> {
  if (earlier.id !== outbox.id) {
    outbox.adopt([], earlier.live);
    for (const { reports } of earlier.runs()) outbox.adopt(reports);
    await outbox.sync();
    if (outbox.fault !== null) throw new Error('the disk cannot take over the reports of outbox.db');
  }
  earlier.remove();
}

/** Locks a file until the process ends. @returns releases it */
function holdFile(path: string): () => void {
  const lock = namingPath(path, () => new Database(path, { timeout: 1_000 }));
  try {
    namingPath(path, () => lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;'));
  } catch (error) {
    lock.close();
    throw error;
  }
  return () => lock.close();
}

/** Opens `path`, which only one process may. @param name what the user knows of it */
function alone<T>(name: string, path: string, open: (path: string) => T): T {
  try {
    return open(path);
  } catch (error) {
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
    throw new Error(`${name} is in use by another edge; give each edge its own data folder (TRUNKLINE_DATA)`);
  }
}
