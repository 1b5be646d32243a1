/** Keys: their format, storage, and how they are read from a request. */

import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { BlockList } from 'node:net';
import { requireAllowedHost } from '#shared/allowed-host.ts';
import { type KeyRole, keyRoles } from '#shared/api/keys.ts';
import { ApiError } from '#shared/errors.ts';

export type KeyKind = 'customer' | 'operator' | 'edge' | 'session';

const marks: Readonly<Record<KeyKind, string>> = {
  customer: 'tk_',
  operator: 'op_',
  edge: 'et_',
  session: 'ts_',
};

/** How many characters of a key stay readable, for lists. */
const prefixLength = 9;

/** A key and its stored form. The key itself is shown once. */
export interface NewKey {
  readonly key: string;
  readonly prefix: string;
  readonly hash: string;
}

/** Creates a key of 256 random bits. */
export function makeKey(kind: KeyKind): NewKey {
  const key = marks[kind] + randomBytes(32).toString('base64url');
  return { key, prefix: key.slice(0, prefixLength), hash: hashKey(key) };
}

/** SHA-256 in hexadecimal: enough for a key of 256 random bits, which no dictionary attack finds. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/** Compares two hashes in constant time. */
export function sameHash(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a, 'hex'), Buffer.from(b, 'hex')];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Whether a key of this role may call a route with that least role. */
export function reaches(role: KeyRole, least: KeyRole): boolean {
  return keyRoles.indexOf(role) >= keyRoles.indexOf(least);
}

/** The key of an `authorization` header: bare, or after Bearer (contract 1.1). Null if there is none. */
export function keyOfHeader(header: string | undefined): string | null {
  if (header === undefined) return null;
  const key = header
    .trim()
    .replace(/^bearer[ \t]+/i, '')
    .trim();
  return key === '' || key.length > 512 || /\s/.test(key) ? null : key;
}

/**
 * An absolute URL of that protocol without user information. URL parsers also accept surrounding blanks, and
 * backslashes as slashes, which other programs read differently. @throws ApiError INVALID_PARAMETER
 */
export function readUrl(text: string, protocol: 'https:' | 'wss:', path: string): URL {
  const url = /^[a-z]+:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== protocol || url.username !== '' || url.password !== '') {
    throw ApiError.invalid(path, `must be an absolute ${protocol}// URL without user information`);
  }
  return url;
}

/**
 * A URL that the service will contact: a literal address is checked now, a name at use (contract 1.9).
 * @throws ApiError INVALID_PARAMETER, TARGET_NOT_ALLOWED
 */
export function checkUrl(
  text: string,
  protocol: 'https:' | 'wss:',
  path: string,
  allowedTargets: BlockList,
): string {
  const { hostname } = readUrl(text, protocol, path);
  requireAllowedHost(hostname, path, allowedTargets);
  return text;
}
