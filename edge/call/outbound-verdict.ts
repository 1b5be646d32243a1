/** Why a call that we make ended without an answer, from how its last attempt went. One table, pure. */
import type { Termination } from './ending.ts';
import type { DialRefusal } from './ports/dialing.ts';
import type { AttemptOutcome } from './ports/routes.ts';

/** @param outcome of the last attempt; `refusal` has the details of a final response */
export function verdictOf(outcome: AttemptOutcome, refusal: DialRefusal | null): Termination {
  switch (outcome.kind) {
    case 'no_connection':
    case 'connection_lost':
      return { code: 'route_unreachable', detail: outcome.error };
    case 'no_response':
      return { code: 'route_timeout', detail: 'The last endpoint gave no response in time.' };
    case 'canceled':
      return { code: 'no_answer', detail: null };
    case 'final':
      return finalVerdict(outcome, refusal);
  }
}

function finalVerdict(
  { status, ringing, credentialsSent }: Extract<AttemptOutcome, { kind: 'final' }>,
  refusal: DialRefusal | null,
): Termination {
  const said = refusal?.warning ?? null;
  const received = { sipStatus: status, ...(refusal ? { sipReason: refusal.reason } : {}) };
  const because = (code: Termination['code'], detail = said): Termination => ({ code, detail, ...received });
  switch (status) {
    case 486:
    case 600:
      return because('callee_busy');
    case 480:
      return because('no_answer');
    case 408:
      return because(ringing ? 'no_answer' : 'route_timeout');
    case 503:
      return because('route_unreachable');
    case 401:
    case 407:
      return because(
        'route_auth_failed',
        credentialsSent ? said : 'The trunk wants credentials, and its configuration has none that fit.',
      );
    case 403:
      return because('route_auth_failed');
    default:
      // RFC 3261 section 21.3: a redirect leads to hosts that nobody has configured.
      return because('callee_refused', status < 400 ? 'Redirects are not followed.' : said);
  }
}
