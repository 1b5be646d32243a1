import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FilesInPlace } from './in-place.ts';

async function withFiles(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-in-place-'));
  for (const name of ['control.db', 'control.db-wal']) writeFileSync(join(folder, name), 'x');
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('does not take another number of the file for another file, as some network file systems give', () =>
  withFiles(async (folder) => {
    let number = 0n;
    const inPlace = new FilesInPlace(join(folder, 'control.db'), () => number++);
    for (let looks = 0; looks < 3; looks++) inPlace.check();
  }));

it('notices a file that is replaced, also in a folder that is a link', () =>
  withFiles(async (folder) => {
    const link = `${folder}-link`;
    symlinkSync(folder, link);
    const used = await open(join(folder, 'control.db'));
    try {
      const inPlace = new FilesInPlace(join(link, 'control.db'));
      inPlace.check();
      writeFileSync(join(folder, 'other'), 'y');
      renameSync(join(folder, 'other'), join(folder, 'control.db'));
      expect(() => inPlace.check()).toThrow('was deleted or replaced while the database was open');
    } finally {
      await used.close();
      rmSync(link);
    }
  }));
