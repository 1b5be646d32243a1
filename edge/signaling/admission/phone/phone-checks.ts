/**
 * The checks of an INVITE over WSS. Addresses and passwords of numbers admit nobody there: a page of anybody's, open behind
 * a listed address, could call otherwise. Nor does a session admit a call over TLS.
 */
import type { NumberConfig } from '#shared/edge-protocol/numbers.ts';
import type { PhoneClaims } from '#shared/phone-session.ts';
import { refusals } from '#shared/refusals.ts';
import { headerOf } from '../../srf/headers.ts';
import { callChecks, challengeWeight, requestChecks } from '../checks.ts';
import type { Check, IncomingInvite } from '../incoming-invite.ts';

/** Finds the number and the session. A refused call is the organization's whose number it dials, or whose session it is. */
export const phoneIsAuthorized: Check = (invite) => {
  const { deps, dialled, request, routing, source } = invite;
  const number = routing?.numbers.find(dialled);
  if (number) invite.number = number;
  invite.phoneVerdict ??= deps.phones.judge({
    method: request.method,
    authorization: headerOf(request.headers, 'authorization'),
    number: number?.number ?? dialled,
  });
  const { phoneVerdict: verdict } = invite;
  switch (verdict.kind) {
    case 'passed':
      // Its organization may have given the number away since.
      if (!ownNumber(invite, verdict.claims))
        return { reason: 'phone_session_other_number', status: 403, suspicious: true };
      invite.phone = verdict.claims;
      invite.admitted = true;
      deps.digest.sources.passed(source);
      return null;
    case 'challenge':
      return {
        reason: verdict.stale ? 'stale_nonce' : 'challenged',
        ...(!verdict.stale && { reported: 'phone_session_missing' }),
        status: 401,
        headers: { 'WWW-Authenticate': verdict.header },
        suspicious: true,
        weight: deps.digest.sources.has(source) ? 0 : challengeWeight,
      };
    case 'malformed':
      return { reason: 'malformed', status: 400, phrase: 'Malformed Authorization', suspicious: true };
    case 'refused': {
      const { claims, reason } = verdict;
      if (claims === null) return { reason, status: 403, suspicious: true };
      ownNumber(invite, claims);
      // The page has shown that it is the organization's: it is told why, and is hardly a scanner.
      return {
        reason,
        status: 403,
        phrase: phraseOf(refusals[reason].summary),
        suspicious: true,
        weight: challengeWeight,
      };
    }
  }
};

/** Makes the number of the session that of the INVITE: nobody else learns of the call. Undefined: it is not its organization's. */
function ownNumber(invite: IncomingInvite, claims: PhoneClaims): NumberConfig | undefined {
  const { number, org_id } = claims;
  const talk = invite.deps.phones.agentOf(claims);
  if (claims.supervise !== undefined) {
    invite.number = { number, org_id, inbound: [], outbound: [], agent: null };
    return invite.number;
  }
  const own = talk
    ? { number: talk.name, org_id, inbound: [], outbound: [], agent: talk.agent }
    : invite.routing?.numbers.find(number);
  if (own?.org_id === org_id) invite.number = own;
  else delete invite.number;
  return invite.number;
}

/** A sentence as a reason phrase. */
function phraseOf(summary: string): string {
  return summary.replace(/\.$/, '');
}

/** A session allows to call a number, not to take over calls that others have. */
const replacesNothing: Check = ({ request }) =>
  headerOf(request.headers, 'replaces') === undefined ? null : { reason: 'replaces', status: 403 };

/** A supervisor may join a call of its organization that is up, and is none of a supervisor. */
const supervisedCallIsUp: Check = ({ deps, phone }) => {
  if (phone?.supervise === undefined) return null;
  const obstacle = deps.calls.supervisions.obstacle(phone.org_id, phone.supervise);
  if (obstacle === null) return null;
  return { reason: 'phone_session_no_call', status: 403, phrase: phraseOf(obstacle) };
};

/** Last: a call that an edge at its limit rejects is none that the session has made. */
const callIsCounted: Check = ({ deps, phone }) => {
  if (phone) deps.phones.uses.count(phone);
  return null;
};

export const phoneChecks: readonly Check[] = [
  ...requestChecks,
  phoneIsAuthorized,
  replacesNothing,
  supervisedCallIsUp,
  ...callChecks,
  callIsCounted,
];
