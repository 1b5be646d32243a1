/** Requests within a dialog of either direction: from the peer, and the engine's own BYE. */
import type { LostCode } from '../../call/ports/signaling.ts';
import type { Refers } from '../refer/refers.ts';
import type { DialogSession } from '../session/dialog-session.ts';
import { capabilities, type Environment, respond } from '../srf/environment.ts';
import { allow, headerOf } from '../srf/headers.ts';
import type { SrfRequest, SrfResponse } from '../srf/srf.ts';

/**
 * Answers a request from the peer in a live dialog; the leg handles ACK, BYE and PRACK itself.
 * @param refers null before the answer: an early dialog is not transferred
 */
export function answerInDialog(
  environment: Environment,
  session: DialogSession | null,
  refers: Refers | null,
  request: SrfRequest,
  response: SrfResponse,
) {
  switch (request.method) {
    case 'INVITE':
    case 'UPDATE':
      return session?.receive(request.method, request, response);
    case 'OPTIONS':
      return respond(environment, response, 200, { headers: capabilities() });
    case 'REFER':
      session?.peer.learn(request.headers);
      if (refers) return refers.receive(request, response);
      return respond(environment, response, 403, { reason: 'The call is not answered' });
    case 'NOTIFY':
      session?.peer.learn(request.headers);
      if (refers) return refers.notified(request, response);
      return respond(environment, response, 481, { reason: 'Subscription does not exist' });
    default:
      return respond(environment, response, 405, { headers: { Allow: allow } });
  }
}

export const unknownDialog = 'The SIP engine does not know the dialog any more.';

/** Reason texts in requests that an engine makes itself: of the embedded one, and of drachtio-server. */
const ends: readonly (readonly [RegExp, LostCode, string])[] = [
  [/ack timeout/i, 'ack_timeout', 'No ACK came within 32 s of the answer'],
  [
    /ack impossible/i,
    'connection_lost',
    'The connection closed before the ACK, and the Contact cannot be called',
  ],
  [/connection lost/i, 'connection_lost', 'The connection closed before the answer'],
  [/unreachable/i, 'connection_lost', 'The connection closed, and the Contact cannot be called'],
  [/prack timeout/i, 'ack_timeout', 'No PRACK came within 32 s of the reliable response'],
  [/from the application/i, 'internal_error', 'The edge took too long'],
  [/no call owns/i, 'dialog_lost', 'No call owned the dialog'],
  [/session/i, 'session_expired', 'The session was not refreshed in time'],
  [/no contact/i, 'bad_answer', 'The answer had no Contact that can be called'],
];

type EndOfEngine = [code: LostCode, detail: string];

/** The meaning of a BYE or CANCEL that the engine made itself; null: the Reason is not from an engine. */
export function endOfEngine(reason: string | undefined): EndOfEngine | null {
  const text = /text="([^"]*)"/.exec(reason ?? '')?.[1] ?? '';
  const [, code, detail] = ends.find(([pattern]) => pattern.test(text)) ?? [];
  return code && detail ? [code, `${detail} (SIP engine: ${text}).`] : null;
}

/** The status of the final response that a Reason names (RFC 3326 section 2); undefined when it names none. */
export function statusOfReason(reason: string | undefined): number | undefined {
  const cause = /^\s*SIP\s*;(?:.*;)?\s*cause\s*=\s*([3-6]\d\d)\b/i.exec(reason ?? '')?.[1];
  return cause === undefined ? undefined : Number(cause);
}

/** Why the engine made a BYE itself, according to its Reason. */
export function causeOfEngineBye({ headers }: SrfRequest): EndOfEngine {
  const reason = headerOf(headers, 'reason');
  return (
    endOfEngine(reason) ?? ['engine_lost', `The SIP engine ended the dialog: ${reason ?? 'no reason given'}.`]
  );
}
