import { readFileSync, writeFileSync } from 'node:fs';

/** The text kept in a file; made and kept when there is none. */
export function readOrMake(path: string, make: () => string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const text = make();
  writeFileSync(path, `${text}\n`, { mode: 0o600 });
  return text;
}
