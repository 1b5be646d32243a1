/** Numbers as SIP carries them, and the lookup of configured numbers. Pure. */
import { toE164 } from '#shared/e164.ts';
import type { NumberConfig } from '#shared/edge-protocol/numbers.ts';
import { withoutQuoted } from './quoted.ts';

/** E.164 with plus where `user` is a full number, else `user` unchanged. */
export function normalizeNumber(user: string): string {
  return toE164(user) ?? user;
}

/**
 * The user part of a SIP URI or the number of a tel URI, unescaped, without its own parameters (`;npdi`,
 * `;phone-context=`; RFC 3261 section 19.1.6). Null when there is none.
 */
export function userOf(uri: string): string | null {
  const colon = uri.indexOf(':');
  const scheme = uri.slice(0, colon).toLowerCase();
  const rest = uri.slice(colon + 1);
  let user: string;
  if (scheme === 'tel') {
    user = rest;
  } else if (scheme === 'sip' || scheme === 'sips') {
    const at = rest.lastIndexOf('@');
    if (at < 0) return null;
    user = rest.slice(0, at);
    const password = user.indexOf(':');
    if (password >= 0) user = user.slice(0, password);
  } else {
    return null;
  }
  const parameters = user.indexOf(';');
  if (parameters >= 0) user = user.slice(0, parameters);
  if (user === '') return null;
  try {
    return decodeURIComponent(user);
  } catch {
    return user;
  }
}

/** The URI inside a From, To or Contact value, with or without display name and angle brackets. */
export function uriOf(nameAddr: string): string {
  // A quoted display name may itself contain a "<" (RFC 3261 section 20.10).
  const unquoted = withoutQuoted(nameAddr);
  const open = unquoted.indexOf('<');
  if (open >= 0) {
    const close = unquoted.indexOf('>', open);
    return unquoted.slice(open + 1, close < 0 ? undefined : close).trim();
  }
  // Without brackets everything after ";" belongs to the header (RFC 3261 section 20).
  const semicolon = unquoted.indexOf(';');
  return (semicolon < 0 ? unquoted : unquoted.slice(0, semicolon)).trim();
}

/** A user part for a SIP URI: characters that RFC 3261 section 25.1 does not allow are escaped. */
export function userPart(user: string): string {
  return encodeURIComponent(user).replace(/%(?:24|26|2B|2C|2F|3B|3D|3F)/g, decodeURIComponent);
}

/** A host for a SIP URI: an IPv6 address in brackets. */
export function hostPart(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** `host` or `host:port` of a SIP URI, in lower case; empty when it is not one. */
export function hostPortOf(uri: string): string {
  return (/^sips?:(?:[^@]*@)?([^;?>]+)/i.exec(uri)?.[1] ?? '').toLowerCase();
}

/**
 * A SIP URI of `user` at a host over TLS.
 * @param host name or address, IPv6 with or without brackets
 */
export function sipUri(user: string, host: string, port: number): string {
  return `sip:${user === '' ? '' : `${userPart(user)}@`}${hostPart(host)}:${port};transport=tls`;
}

/** Finds the configured number that a caller dialed, with or without a leading plus. */
export class NumberIndex {
  readonly #byNumber = new Map<string, NumberConfig>();

  constructor(numbers: readonly NumberConfig[]) {
    for (const config of numbers) this.#byNumber.set(config.number, config);
  }

  /** @param user the dialed user part */
  find(user: string): NumberConfig | undefined {
    const number = toE164(user);
    return number === null ? undefined : this.#byNumber.get(number);
  }
}
