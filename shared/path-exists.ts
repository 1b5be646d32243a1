import { statSync } from 'node:fs';

/**
 * Whether `path` exists. existsSync also returns false for paths that this user cannot see, so the operator would
 * read that an existing database is missing.
 * @throws the system's error (EACCES), which names the path, when this user cannot see it
 */
export function pathExists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
