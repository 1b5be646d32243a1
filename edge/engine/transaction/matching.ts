/** Which transaction a message belongs to (RFC 3261 sections 17.1.3, 17.2.3, 8.2.2.2 and 9.2). */
import { lowerCase } from '../message/chars.ts';
import type { Headers } from '../message/message.ts';
import { BRANCH_COOKIE } from '../message/via.ts';

/**
 * What the keys of a request, of its retransmissions and of its ACK or CANCEL have in common (17.2.3): branch and sent-by
 * of the topmost Via.
 */
export function originOf(headers: Headers): string {
  const via = headers.topVia;
  const branch = via?.branch ?? '';
  const sentBy = `${lowerCase(via?.host ?? '')}:${via?.port ?? ''}`;
  if (branch.length > BRANCH_COOKIE.length && hasCookie(branch)) {
    // Parameter values are case-insensitive (7.3.1).
    return `${lowerCase(branch)}|${sentBy}`;
  }
  // RFC 2543 clients have no unique branch, so Call-ID, From tag and CSeq number are added to it. Request-URI and To tag
  // are left out: those of an ACK or CANCEL follow from the INVITE's, and the ACK has a To tag that the INVITE lacks.
  return `2543|${branch}|${sentBy}|${headers.get('call-id')}|${headers.fromTag ?? ''}|${cseqNumber(headers)}`;
}

/** @param method INVITE for an ACK and for the target of a CANCEL; else the request's own */
export function serverKey(origin: string, method: string): string {
  return `${origin}|${method}`;
}

function hasCookie(branch: string): boolean {
  return branch.startsWith(BRANCH_COOKIE) || branch.toLowerCase().startsWith(BRANCH_COOKIE.toLowerCase());
}

/**
 * Identifies a merged request (8.2.2.2): the same From tag, Call-ID and CSeq in another transaction. Null for
 * requests in a dialog, to which the rule does not apply, and for clients without tags.
 */
export function mergeKey(headers: Headers): string | null {
  if (headers.toTag !== undefined) return null;
  const from = headers.fromTag;
  return from === undefined ? null : `${headers.get('call-id')}|${from}|${headers.get('cseq')}`;
}

/** The number of CSeq; -1 when there is none, which validation excludes. */
export function cseqNumber(headers: Headers): number {
  return headers.cseq?.number ?? -1;
}

/** The branch that links a response to its request (17.1.3); undefined when it has none. */
export function responseBranch(headers: Headers): string | undefined {
  return headers.topVia?.branch;
}
