/**
 * Whether the files of an open database still have their names. Deleted or replaced ones can be written like any other,
 * and are gone with the process (https://sqlite.org/howtocorrupt.html, 2.4).
 */
import { readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** It is of no use to go on: what is written is lost. */
class DatabaseRemoved extends Error {
  readonly code = 'DATABASE_REMOVED';

  constructor(file: string) {
    super(`${file} was deleted or replaced while the database was open`);
  }
}

type NodeOf = (file: string) => bigint | null;

export class FilesInPlace {
  readonly #files: readonly string[];
  readonly #nodeOf: NodeOf;
  readonly #nodes = new Map<string, bigint>();

  /** @param file of a database that is open @param nodeOf for tests */
  constructor(file: string, nodeOf: NodeOf = inodeOf) {
    this.#nodeOf = nodeOf;
    const node = nodeOf(file);
    // Without a file there is nothing to delete.
    this.#files = node === null ? [] : [file, `${file}-wal`];
    if (node !== null) this.#nodes.set(file, node);
  }

  /** To call after a write: then the log is there, too. @throws DatabaseRemoved */
  check(): void {
    for (const file of this.#files) {
      const node = this.#nodeOf(file);
      const known = this.#nodes.get(file) ?? node;
      if (node === null || (node !== known && isOpenButDeleted(file))) throw new DatabaseRemoved(file);
      this.#nodes.set(file, node);
    }
  }
}

function inodeOf(file: string): bigint | null {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}

/** Some network file systems give a file another number now and then; Linux tells of the files that a process has open. */
function isOpenButDeleted(file: string): boolean {
  const folder = '/proc/self/fd';
  const deleted = `${join(realpathSync(dirname(file)), basename(file))} (deleted)`;
  return readdirSync(folder).some((fd) => {
    try {
      return readlinkSync(join(folder, fd)) === deleted;
    } catch {
      // It has been closed meanwhile.
      return false;
    }
  });
}
