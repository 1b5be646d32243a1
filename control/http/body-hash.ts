/** Compares bodies (contract 1.8): the order of an object's properties does not matter. */
import { createHash } from 'node:crypto';

/** SHA-256 of a body in hexadecimal. An object with `toJSON`, such as an upload, is hashed by its result. */
export function hashBody(body: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(body ?? {}, sorted))
    .digest('hex');
}

function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}
