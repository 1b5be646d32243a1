/** The cookie of a session, its CSRF token, and when it ends. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { plainHost } from '#shared/networks.ts';
import type { SessionRow } from '../db/index.ts';

/** A session ends after this long without a request: overnight, not during a lunch break. */
const sessionIdleMs = 8 * 60 * 60 * 1000;
/** The longest a session lasts, however much it is used: a copied cookie stops working. */
export const sessionLongestMs = 7 * 24 * 60 * 60 * 1000;

/**
 * `__Host-` makes browsers insist on Secure, Path=/ and our host alone, so that another host of the domain cannot set it
 * (RFC 6265bis 4.1.3.2). Browsers do not take such a cookie over plain HTTP.
 */
const cookieName = { secure: '__Host-trunkline_session', plain: 'trunkline_session' } as const;

type Asked = Pick<FastifyRequest, 'headers' | 'hostname' | 'ip' | 'protocol'>;

/** Whether a browser on this machine asks without TLS; the name counts too, because a proxy here may serve others. */
function isPlainLoopback({ hostname, ip, protocol }: Asked): boolean {
  return protocol === 'http' && isLoopback(ip) && isLoopback(hostname);
}

function isLoopback(host: string): boolean {
  const plain = plainHost(host);
  if (isIP(plain) === 0) return plain === 'localhost' || plain.endsWith('.localhost');
  return plain === '::1' || plain.startsWith('127.');
}

function nameFor(request: Asked): string {
  return isPlainLoopback(request) ? cookieName.plain : cookieName.secure;
}

const tokenForm = /^ts_[A-Za-z0-9_-]{1,128}$/;

/** The session cookie of a request (RFC 6265, 5.4); null: none. */
export function sessionTokenOf(request: Asked): string | null {
  const name = nameFor(request);
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key = '', value = ''] = pair.split('=', 2);
    if (key.trim() === name && tokenForm.test(value.trim())) return value.trim();
  }
  return null;
}

/** A Set-Cookie header. @param token null removes the cookie */
export function sessionCookie(request: Asked, token: string | null): string {
  const maxAge = token === null ? 0 : sessionLongestMs / 1000;
  const secure = isPlainLoopback(request) ? [] : ['Secure'];
  const attributes = ['Path=/', `Max-Age=${maxAge}`, 'HttpOnly', 'SameSite=Strict', ...secure];
  return [`${nameFor(request)}=${token ?? ''}`, ...attributes].join('; ');
}

/** Made from the cookie, which a page cannot read: so it need not be stored, and ends with the session. */
export function csrfTokenOf(token: string): string {
  return createHmac('sha256', token).update('trunkline csrf token').digest('base64url');
}

/** Constant time, whatever was sent. */
export function isCsrfToken(sent: string | string[] | undefined, token: string): boolean {
  if (typeof sent !== 'string') return false;
  const [left, right] = [hash('sha256', sent, 'buffer'), hash('sha256', csrfTokenOf(token), 'buffer')];
  return timingSafeEqual(left, right);
}

/** When it ends without another request. */
export function idleUntil({
  last_used_at,
  expires_at,
}: Pick<SessionRow, 'last_used_at' | 'expires_at'>): string {
  const idle = new Date(Date.parse(last_used_at) + sessionIdleMs).toISOString();
  return idle < expires_at ? idle : expires_at;
}

/** Sessions last used before this time (ISO) have ended. @param now ms */
export function idleSince(now: number): string {
  return new Date(now - sessionIdleMs).toISOString();
}
