/**
 * Whether the files of an open database still have their names. Deleted or replaced ones can be written like any other,
 * and are gone with the process (https://sqlite.org/howtocorrupt.html, 2.4).
 */
import { statSync } from 'node:fs';

/** It is of no use to go on: what is written is lost. */
class DatabaseRemoved extends Error {
  readonly code = 'DATABASE_REMOVED';

  constructor(file: string) {
    super(`${file} was deleted or replaced while the database was open`);
  }
}

export class FilesInPlace {
  readonly #files: readonly string[];
  readonly #nodes = new Map<string, bigint>();

  /** @param file of a database that is open */
  constructor(file: string) {
    const node = nodeOf(file);
    // Without a file there is nothing to delete.
    this.#files = node === null ? [] : [file, `${file}-wal`];
    if (node !== null) this.#nodes.set(file, node);
  }

  /** To call after a write: then the log is there, too. @throws DatabaseRemoved */
  check(): void {
    for (const file of this.#files) {
      const node = nodeOf(file);
      const known = this.#nodes.get(file) ?? node;
      if (node === null || node !== known) throw new DatabaseRemoved(file);
      this.#nodes.set(file, node);
    }
  }
}

function nodeOf(file: string): bigint | null {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}
