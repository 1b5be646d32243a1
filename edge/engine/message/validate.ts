/** Checks a message before a transaction may process it (RFC 3261 sections 8.1.1, 8.2 and 20). */
import { parseAddress, splitList } from './address.ts';
import type { Headers, SipRequest, SipResponse } from './message.ts';
import { parseDecimal } from './numbers.ts';
import { isSipUri, parseUri, schemeOf } from './uri.ts';
import { parseVia } from './via.ts';

/** The error response for a request that is not processed. */
export interface Rejection {
  readonly status: number;
  readonly reason: string;
  /** Text of a `Warning: 399` header. */
  readonly warning?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

/** Headers that a message may contain at most once, each with its bit in the mask of those seen. */
const SINGLE: ReadonlyMap<string, number> = new Map(
  [
    'from',
    'to',
    'call-id',
    'cseq',
    'max-forwards',
    'content-length',
    'content-type',
    'expires',
    'min-se',
    'session-expires',
    'rack',
    'rseq',
    'event',
    'subscription-state',
    'refer-to',
    'referred-by',
    'replaces',
  ].map((name, index) => [name, 1 << index]),
);

/** Mandatory headers. A missing Max-Forwards is tolerated (RFC 2543 elements omit it). */
const MANDATORY = [
  ['from', 'From'],
  ['to', 'To'],
  ['call-id', 'Call-ID'],
  ['cseq', 'CSeq'],
] as const;

const PIPE = 0x7c;

const ADDRESS_LISTS = new Set(['contact', 'record-route', 'route']);

function bad(reason: string): Rejection {
  return { status: 400, reason };
}

/**
 * Null when the request may be processed. Otherwise the answer: 400 with the fault in the reason phrase, or 416
 * for a Request-URI of an unknown scheme (RFC 3261 section 8.2.2.1).
 *
 * Max-Forwards 0 is accepted: only a proxy forwards, and the value means nothing to the final recipient (RFC 4475
 * section 3.3.11). A Date that is not in GMT is ignored, because nothing here depends on it (section 3.1.2.12).
 */
export function validateRequest(request: SipRequest): Rejection | null {
  const fault = headerFault(request.headers);
  if (fault !== null) return bad(fault);
  const { cseq } = request.headers;
  if (cseq === null) return bad('Bad CSeq');
  if (cseq.method !== request.method) return bad('CSeq Method Mismatch');
  const maxForwards = request.headers.get('max-forwards');
  if (maxForwards !== undefined && parseDecimal(maxForwards, 255) === null) return bad('Bad Max-Forwards');
  return requestUriFault(request.uri) ?? contactFault(request);
}

function requestUriFault(text: string): Rejection | null {
  const scheme = schemeOf(text);
  if (scheme === null) return bad('Bad Request-URI');
  if (scheme !== 'sip' && scheme !== 'sips' && scheme !== 'tel') {
    return { status: 416, reason: 'Unsupported URI Scheme' };
  }
  const uri = parseUri(text);
  if (uri === null) return bad('Bad Request-URI');
  // Section 19.1.1: headers are not allowed in a Request-URI.
  return uri.headers.size > 0 ? bad('Headers in Request-URI') : null;
}

/** Methods whose Contact becomes the remote target of a dialog (RFC 3261 section 12.2, RFC 3311, 6665, 3515). */
const TARGET_METHODS = new Set(['INVITE', 'UPDATE', 'SUBSCRIBE', 'NOTIFY', 'REFER']);

/**
 * A dialog has one remote target, a SIP or SIPS URI (section 8.1.1.8), so a request that creates or refreshes it
 * must carry exactly one such Contact. Otherwise nothing could be sent to the peer, and the dialog could not be
 * ended.
 */
function contactFault(request: SipRequest): Rejection | null {
  if (!TARGET_METHODS.has(request.method)) return null;
  const contacts = request.headers.all('contact');
  const single =
    contacts.length === 0 || (contacts.length === 1 && splitList(contacts[0] ?? '').length === 1);
  if (!single) return bad('More Than One Contact');
  const [contact] = contacts;
  if (contact === undefined) return null;
  const address = contact.includes(',') ? parseAddress(contact) : request.headers.contact;
  if (isSipUri(address?.uri)) return null;
  const warning = 'The Contact must be a sip or sips URI (RFC 3261 section 8.1.1.8)';
  return { ...bad('Bad Contact'), warning };
}

/**
 * Null when the response may be matched to a transaction; otherwise why it is dropped. A response is never
 * answered, so the text is for the log.
 */
export function validateResponse(response: SipResponse): string | null {
  const fault = headerFault(response.headers);
  if (fault !== null) return fault;
  if (response.headers.cseq === null) return 'Bad CSeq';
  // Section 8.1.3.3: more than one Via in a response means that it was misrouted or is corrupt.
  const vias = response.headers.all('via');
  if (vias.length > 1 || splitList(vias[0] ?? '').length > 1) return 'More Than One Via';
  return null;
}

/** Checks common to requests and responses: mandatory headers are present, once, and can be parsed. */
function headerFault(headers: Headers): string | null {
  let seen = 0;
  let vias = 0;
  for (let i = 0; i < headers.length; i++) {
    const key = headers.keyAt(i);
    const bit = SINGLE.get(key);
    if (bit !== undefined) {
      if ((seen & bit) !== 0) return `More Than One ${headers.nameAt(i)}`;
      seen |= bit;
    }
    if (key === 'via') {
      if (vias++ === 0 && !areVias(headers, headers.valueAt(i))) return 'Bad Via';
    } else if (key === 'from' || key === 'to') {
      const address = key === 'to' ? headers.to : headers.from;
      if (address === null || !isName(address.params.get('tag') ?? ''))
        return key === 'to' ? 'Bad To' : 'Bad From';
    } else if (ADDRESS_LISTS.has(key) && !areAddresses(headers, i)) {
      return `Bad ${headers.nameAt(i)}`;
    }
  }
  for (const [key, name] of MANDATORY) if ((seen & (SINGLE.get(key) ?? 0)) === 0) return `Missing ${name}`;
  if (vias === 0) return 'Missing Via';
  const callId = headers.get('call-id') ?? '';
  return callId === '' || !isName(callId) ? 'Bad Call-ID' : null;
}

/**
 * Whether a Call-ID or tag can name a dialog. It may contain no octet beyond ASCII and no "|" (section 25.1:
 * word, token): the application writes UTF-8 and splits at "|", so they would not survive the round trip. Other
 * violations of the grammar are harmless.
 */
function isName(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 126 || code === PIPE) return false;
  }
  return true;
}

/** The first is read by `topVia`, which keeps it. */
function areVias(headers: Headers, value: string): boolean {
  if (headers.topVia === null) return false;
  if (!value.includes(',')) return true;
  const [, ...others] = splitList(value);
  return others.every((via) => parseVia(via) !== null);
}

function areAddresses(headers: Headers, index: number): boolean {
  const value = headers.valueAt(index);
  if (headers.keyAt(index) === 'contact') {
    if (value === '*') return true;
    // The first line, which keeps what it reads.
    if (value === headers.get('contact') && !value.includes(','))
      return value === '' || headers.contact !== null;
  }
  for (const element of splitList(value)) if (parseAddress(element) === null) return false;
  return true;
}

/**
 * The option tags of Require that are not in `supported` (lower case): answer 420 and list them in Unsupported
 * (RFC 3261 section 8.2.2.3). Proxy-Require does not concern us.
 */
export function unsupportedOptions(request: SipRequest, supported: ReadonlySet<string>): string[] {
  return request.headers
    .all('require')
    .flatMap(splitList)
    .filter((option) => !supported.has(option.toLowerCase()));
}
