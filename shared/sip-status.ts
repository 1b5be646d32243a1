/** What final SIP responses mean: the one list for calls, registrations, probes and the call log. Pure. */
export type StatusMeaning =
  /** 3xx: RFC 3261 section 21.3. */
  | 'redirected'
  | 'credentials_missing'
  | 'forbidden'
  | 'payment'
  | 'identity'
  | 'blocked'
  | 'unknown_number'
  | 'busy'
  | 'unavailable'
  | 'declined'
  | 'media'
  | 'loop'
  | 'protocol'
  | 'overloaded'
  | 'server_failed'
  | 'timeout';

/**
 * All statuses from 300 to 699 that RFC 3261 and its extensions define (IANA, "Response Codes"). Others mean the same
 * as the x00 of their class (section 8.1.3.2).
 */
export const statusMeanings: Readonly<Record<number, StatusMeaning>> = {
  300: 'redirected',
  301: 'redirected',
  302: 'redirected',
  305: 'redirected',
  380: 'redirected',
  400: 'protocol',
  401: 'credentials_missing',
  402: 'payment',
  403: 'forbidden',
  404: 'unknown_number',
  405: 'protocol',
  406: 'protocol',
  407: 'credentials_missing',
  408: 'timeout',
  410: 'unknown_number',
  412: 'protocol',
  413: 'protocol',
  414: 'protocol',
  415: 'media',
  416: 'protocol',
  417: 'protocol',
  420: 'protocol',
  421: 'protocol',
  422: 'protocol',
  423: 'protocol',
  424: 'protocol',
  425: 'protocol',
  428: 'identity',
  429: 'identity',
  430: 'unavailable',
  433: 'identity',
  436: 'identity',
  437: 'identity',
  438: 'identity',
  439: 'protocol',
  440: 'loop',
  469: 'protocol',
  470: 'forbidden',
  480: 'unavailable',
  481: 'protocol',
  482: 'loop',
  483: 'loop',
  484: 'unknown_number',
  485: 'unknown_number',
  486: 'busy',
  487: 'unavailable',
  488: 'media',
  489: 'protocol',
  491: 'protocol',
  493: 'media',
  494: 'protocol',
  500: 'server_failed',
  501: 'server_failed',
  502: 'server_failed',
  503: 'overloaded',
  504: 'server_failed',
  505: 'server_failed',
  513: 'server_failed',
  555: 'server_failed',
  580: 'media',
  600: 'busy',
  603: 'declined',
  604: 'unknown_number',
  606: 'media',
  607: 'declined',
  608: 'blocked',
};

/** @param status 300 to 699; an unknown one means the same as the x00 of its class */
export function meaningOf(status: number): StatusMeaning {
  return statusMeanings[status] ?? statusMeanings[Math.floor(status / 100) * 100] ?? 'protocol';
}

/** How the call log names an unanswered call that ended with this status (contract 3.4); null: failed. */
export function unansweredBy(status: number | null): 'busy' | 'no_answer' | null {
  if (status === null) return null;
  if (meaningOf(status) === 'busy') return 'busy';
  return status === 480 ? 'no_answer' : null;
}

/** Whether another server of the same domain may take the request (RFC 3263 section 4.3). */
export function failsOver(status: number): boolean {
  const meaning = meaningOf(status);
  return meaning === 'timeout' || meaning === 'overloaded';
}

/** Whether the same request may succeed later without manual action. */
export function isTemporary(status: number): boolean {
  return status === 480 || status === 491 || failsOver(status) || (status >= 500 && status < 600);
}

/** Whether the peer that answers a request inside a dialog so has no such dialog (RFC 3261 section 12.2.1.2). */
export function endsDialog(status: number): boolean {
  return status === 408 || status === 481;
}
