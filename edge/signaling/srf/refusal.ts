/** What a final response of 300 to 699 says about the reason. Pure. */
import { type ConnectionFailure, connectionFailure } from '#shared/connection-faults.ts';
import { readFailure } from '#shared/engine-protocol/failures.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import { type HeaderFields, headerOf } from './headers.ts';
import { uriOf } from './numbers.ts';
import { entriesOf, withoutQuoted } from './quoted.ts';
import type { SrfAnswer } from './srf.ts';

/** Maximum number of reported redirect contacts, and their maximum length. */
const mostContacts = 3;
const longestContact = 200;

const warningForm = /^\s*(\d{3})\s+\S+\s+"((?:[^"\\]|\\.)*)"/;

/** Text of the first Warning header (RFC 3261 section 20.43), null when there is none. */
export function warningText(headers: HeaderFields): string | null {
  const text = warningForm.exec(headerOf(headers, 'warning') ?? '')?.[2];
  return text === undefined ? null : text.replace(/\\(.)/g, '$1');
}

/** Code of the first Warning header. */
export function warningCode(headers: HeaderFields): number | null {
  const code = warningForm.exec(headerOf(headers, 'warning') ?? '')?.[1];
  return code === undefined ? null : Number(code);
}

/** ITU-T Q.850 cause of a Reason header (RFC 3326 section 2), 1 to 127; null without one. */
export function q850Cause(headers: HeaderFields): number | null {
  // Texts may contain commas, semicolons and what looks like a cause.
  const reason = withoutQuoted(headerOf(headers, 'reason') ?? '');
  for (const value of reason.split(',')) {
    const found = /^\s*Q\.850\s*;(?:[^,]*;)?\s*cause\s*=\s*(\d{1,3})(?!\d)/i.exec(value)?.[1];
    if (found !== undefined && Number(found) >= 1 && Number(found) <= 127) return Number(found);
  }
  return null;
}

/** Targets of a redirect (RFC 3261 section 21.3): URIs without password and header part, the first few. */
export function redirectTargets(headers: HeaderFields): string[] {
  const entries = entriesOf(headerOf(headers, 'contact') ?? '');
  const uris = entries.map((entry) => shown(uriOf(entry))).filter((uri) => uri !== '');
  return uris.slice(0, mostContacts);
}

function shown(uri: string): string {
  const [address = ''] = uri.split('?', 1);
  return address
    .replace(/^(sips?:[^:@]*):[^@]*@/i, '$1@')
    .replace(/[^\x21-\x7e]/g, '')
    .slice(0, longestContact);
}

/** Whether a 401 or 407 contains a challenge; true for other statuses, which need none. */
export function isChallenged(status: number, headers: HeaderFields): boolean {
  if (status === 401) return headerOf(headers, 'www-authenticate') !== undefined;
  if (status === 407) return headerOf(headers, 'proxy-authenticate') !== undefined;
  return true;
}

/**
 * Why no response came, according to the one that the engine made instead. drachtio-server does not name the fault.
 */
export function failureOf({ headers, reason }: Pick<SrfAnswer, 'headers' | 'reason'>): ConnectionFailure {
  const text = warningText(headers) ?? reason;
  const failure = readFailure(headerOf(headers, privateHeaders.failure.toLowerCase()));
  return failure === null ? connectionFailure('unknown', text) : { ...failure, text };
}
