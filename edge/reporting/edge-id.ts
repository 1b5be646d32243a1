import { readFileSync, writeFileSync } from 'node:fs';

/** The text stored in a file; created and stored when missing. */
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
