/** Refer-To and Referred-By of a REFER from the peer (RFC 3515 section 2.1, RFC 3892). Pure. */
import { parseSipDestination } from '#shared/sip-destination.ts';
import { type HeaderFields, headerOf } from '../srf/headers.ts';
import { uriOf } from '../srf/numbers.ts';
import { outsideQuotesAndBrackets } from '../srf/quoted.ts';

export type ReferTarget =
  | {
      readonly ok: true;
      /** URI without its header part. */
      readonly target: string;
      /** Value of the embedded Replaces header, unescaped. */
      readonly replaces: string | null;
      readonly referredBy: string | null;
    }
  | { readonly ok: false; readonly status: 400 | 403 | 416; readonly reason: string };

/**
 * scheme:[user@]host:port;parameters, and the header part after the question mark (RFC 3261 section 19.1.1). A user part
 * may have a "?"; but what follows "?Replaces=" is the header, also when a phone has not escaped the "@" of the Call-ID.
 */
const uriForm = /^(sips?:(?:(?![^@]*[?&]replaces=)[^@]+@)?[^;?@]+(?:;[^?]*)?)(?:\?(.*))?$/i;

/** RFC 3966 section 3, without its extensions. */
const telForm = /^tel:\+?[0-9*#.()-]{1,64}(?:;[^\s?]*)?$/i;

/** The target of a REFER, or why it is rejected: section 2.4.2 requires exactly one Refer-To. */
export function readRefer(headers: HeaderFields): ReferTarget {
  const value = headerOf(headers, 'refer-to')?.trim() ?? '';
  if (value === '') return { ok: false, status: 400, reason: 'Missing Refer-To' };
  if (isList(value)) return { ok: false, status: 400, reason: 'More than one Refer-To' };
  const referredBy = headerOf(headers, 'referred-by')?.trim() ?? null;
  if (referredBy !== null && isList(referredBy)) {
    return { ok: false, status: 400, reason: 'More than one Referred-By' };
  }
  const uri = referUri(value);
  // The URI is copied into headers that we write.
  if (!/^[a-z][a-z0-9+.-]*:/i.test(uri) || /\p{Cc}/u.test(uri))
    return { ok: false, status: 400, reason: 'Malformed Refer-To' };
  if (/^tel:/i.test(uri)) {
    if (!telForm.test(uri)) return { ok: false, status: 400, reason: 'Malformed Refer-To' };
    return { ok: true, target: uri, replaces: null, referredBy };
  }
  if (!/^sips?:/i.test(uri)) return { ok: false, status: 416, reason: 'Unsupported URI Scheme' };
  const [, address = '', embedded = ''] = uriForm.exec(uri) ?? [];
  if (address === '' || !parseSipDestination(address)) {
    return { ok: false, status: 400, reason: 'Malformed Refer-To' };
  }
  const method = /;method=([^;]*)/i.exec(address)?.[1];
  if (method !== undefined && method.toUpperCase() !== 'INVITE') {
    return { ok: false, status: 403, reason: 'Only INVITE is sent for a REFER' };
  }
  const replaces = embeddedHeader(embedded, 'replaces');
  if (replaces === undefined) return { ok: false, status: 400, reason: 'Malformed Refer-To' };
  // RFC 3261 section 19.1.1: the resulting Request-URI has no method parameter.
  return { ok: true, target: address.replace(/;method=[^;]*/i, ''), replaces, referredBy };
}

/**
 * The URI of Refer-To. One with a header part must have brackets (RFC 3261 section 20), which some phones omit (baresip
 * 1.0); no parameter of the header has a "?", so all of it is the URI then.
 */
function referUri(value: string): string {
  return /^sips?:[^<"]*[?&]replaces=/i.test(value) ? value : uriOf(value);
}

/** Whether a value has a comma outside quotes and brackets: repeated headers are joined by a comma. */
function isList(value: string): boolean {
  return outsideQuotesAndBrackets(value).includes(',');
}

/** A header from a URI's header part; null when it is missing, undefined when it is duplicated or malformed. */
function embeddedHeader(part: string, name: string): string | null | undefined {
  const values = part.split('&').flatMap((header) => {
    const equals = header.indexOf('=');
    return header.slice(0, Math.max(equals, 0)).toLowerCase() === name ? [header.slice(equals + 1)] : [];
  });
  if (values.length > 1) return undefined;
  const [value] = values;
  if (value === undefined) return null;
  try {
    const text = decodeURIComponent(value);
    // It is copied into an INVITE header: a line end would start another header.
    return /\p{Cc}/u.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
