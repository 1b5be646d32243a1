import { statSync } from 'node:fs';

/**
 * Whether something is at `path`. existsSync also answers no for what this user may not see, and whoever believes it
 * tells the operator that a database is missing that is there.
 * @throws the system's error (EACCES), which names the path, when nobody can say
 */
export function pathExists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
