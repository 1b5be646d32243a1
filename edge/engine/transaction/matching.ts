/** Which transaction a message belongs to (RFC 3261 sections 17.1.3, 17.2.3, 8.2.2.2 and 9.2). */
import { parameter, tagOf } from '../message/address.ts';
import { COMMA, lowerCase, SEMICOLON, skipSpace } from '../message/chars.ts';
import { parseCSeq } from '../message/cseq.ts';
import type { Headers, SipRequest } from '../message/message.ts';
import { BRANCH_COOKIE } from '../message/via.ts';

const WHITE_SPACE = /[ \t]+/g;

/**
 * sent-by of the topmost Via, in lower case and without white space. A validated Via has the form `SIP/2.0/TLS
 * host[:port][;parameters]`.
 */
function sentBy(via: string): string {
  const slash = via.lastIndexOf('/', via.indexOf(';') === -1 ? via.length : via.indexOf(';'));
  let start = slash + 1;
  while (via.charCodeAt(start) <= 32) start++;
  while (start < via.length && via.charCodeAt(start) > 32) start++;
  start = skipSpace(via, start);
  let end = start;
  while (end < via.length && via.charCodeAt(end) !== SEMICOLON && via.charCodeAt(end) !== COMMA) end++;
  // White space is allowed around the colon.
  return lowerCase(via.slice(start, end).replace(WHITE_SPACE, ''));
}

/**
 * The key that a request and its retransmissions share (17.2.3): branch, sent-by and method. `method` is INVITE
 * for an ACK and for the target of a CANCEL; else the request's own.
 */
export function serverKey(request: SipRequest, method: string): string {
  const via = request.headers.get('via') ?? '';
  const branch = parameter(via, 'branch') ?? '';
  if (branch.length > BRANCH_COOKIE.length && hasCookie(branch)) {
    // Parameter values are case-insensitive (7.3.1).
    return `${branch.toLowerCase()}|${sentBy(via)}|${method}`;
  }
  return legacyKey(request.headers, `${branch}|${sentBy(via)}|${method}`);
}

function hasCookie(branch: string): boolean {
  return branch.startsWith(BRANCH_COOKIE) || branch.toLowerCase().startsWith(BRANCH_COOKIE.toLowerCase());
}

/**
 * RFC 2543 clients have no unique branch, so Call-ID, From tag and CSeq number are added to it. Request-URI and
 * To tag are left out: those of an ACK or CANCEL follow from the INVITE's, and the ACK has a To tag that the
 * INVITE lacks.
 */
function legacyKey(headers: Headers, via: string): string {
  return `2543|${via}|${headers.get('call-id')}|${tagOf(headers.get('from') ?? '') ?? ''}|${cseqNumber(headers)}`;
}

/**
 * Identifies a merged request (8.2.2.2): the same From tag, Call-ID and CSeq in another transaction. Null for
 * requests in a dialog, to which the rule does not apply, and for clients without tags.
 */
export function mergeKey(headers: Headers): string | null {
  if (tagOf(headers.get('to') ?? '') !== undefined) return null;
  const from = tagOf(headers.get('from') ?? '');
  return from === undefined ? null : `${headers.get('call-id')}|${from}|${headers.get('cseq')}`;
}

/** The number of CSeq; -1 when there is none, which validation excludes. */
export function cseqNumber(headers: Headers): number {
  return parseCSeq(headers.get('cseq') ?? '')?.number ?? -1;
}

/** The branch that links a response to its request (17.1.3); undefined when it has none. */
export function responseBranch(headers: Headers): string | undefined {
  return parameter(headers.get('via') ?? '', 'branch');
}
