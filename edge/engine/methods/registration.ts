import { parameter, splitList } from '../message/address.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import { parseDeltaSeconds } from '../message/numbers.ts';

/** Longest binding for which a connection is kept, seconds: a day. */
const longestS = 86_400;
/** Default lifetime of a binding (RFC 3261 section 10.2), seconds. */
const usualS = 3_600;

/**
 * For how many seconds the answer to our request binds us at a registrar (RFC 3261 sections 10.2.4 and 10.3).
 * While bound, the registrar may send calls over the connection that registered us (RFC 5626 section 5.3). 0: not
 * bound. Pure.
 */
export function secondsRegistered(request: SipRequest, response: SipResponse): number {
  if (request.method !== 'REGISTER' || response.status < 200 || response.status > 299) return 0;
  const asked = bindings(request);
  if (asked.every((seconds) => seconds === 0)) return 0;
  const granted = bindings(response);
  const seconds = granted.length > 0 ? granted : asked;
  return Math.min(longestS, Math.max(...seconds.map((each) => each ?? usualS)));
}

/** Expiry of each binding in a message, seconds; null for a binding without one, an empty list for no bindings. */
function bindings({ headers }: SipRequest | SipResponse): (number | null)[] {
  const common = parseDeltaSeconds(headers.get('expires') ?? '');
  const contacts = headers.all('contact').flatMap(splitList);
  return contacts.map((contact) => parseDeltaSeconds(parameter(contact, 'expires') ?? '') ?? common);
}
