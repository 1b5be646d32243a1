/** Requests within a dialog of either direction: from the peer, and the engine's own BYE. */
import { type EndCause, endTexts, readEndCause } from '#shared/engine-protocol/ends.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import { allow } from '#shared/sip-methods.ts';
import type { Soon } from '../../call/ports/media.ts';
import type { LegEvents, LostCode } from '../../call/ports/signaling.ts';
import type { Refers } from '../refer/refers.ts';
import type { DialogSession } from '../session/dialog-session.ts';
import { answerInfo } from '../session/info.ts';
import { capabilities, type Environment, respond } from '../srf/environment.ts';
import { headerOf } from '../srf/headers.ts';
import type { SrfRequest, SrfResponse } from '../srf/srf.ts';

/** Answers the peer's BYE once the call's record is stored. */
export function whenStored(stored: Soon<undefined>, answer: () => void): void {
  if (stored instanceof Promise) void stored.then(answer);
  else answer();
}

/**
 * Answers a request from the peer in a live dialog; the leg handles ACK, BYE and PRACK itself.
 * @param refers null before the answer: an early dialog is not transferred
 * @param events of the call; null: it does not listen yet
 */
export function answerInDialog(
  environment: Environment,
  session: DialogSession | null,
  refers: Refers | null,
  events: Pick<LegEvents, 'pressed'> | null,
  request: SrfRequest,
  response: SrfResponse,
) {
  switch (request.method) {
    case 'INVITE':
    case 'UPDATE':
      return session?.receive(request.method, request, response);
    case 'OPTIONS':
      return respond(environment, response, 200, { headers: capabilities() });
    case 'INFO':
      return answerInfo(environment, request, response, (key) => events?.pressed(key));
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

export const unknownDialog = 'The SIP engine no longer has the dialog.';

type LostCall = readonly [code: LostCode, detail: string];

const ackTimeout: LostCall = ['ack_timeout', 'No ACK within 32 s of the answer'];
const tooSlow: LostCall = ['internal_error', 'The edge took too long'];

/** By the embedded engine's cause; null: the Reason is all that is known. */
const ends: Readonly<Record<EndCause, LostCall | null>> = {
  no_ack: ackTimeout,
  ack_impossible: ['connection_lost', 'The connection closed before the ACK, and the Contact is unreachable'],
  unacknowledged: tooSlow,
  cancel_race: null,
  no_contact: ['bad_answer', 'The answer had no Contact that can be called'],
  unreachable: ['connection_lost', 'The connection closed, and the Contact is unreachable'],
  no_prack: ['ack_timeout', 'No PRACK within 32 s of the reliable response'],
  unanswered: tooSlow,
  connection_lost: ['connection_lost', 'The connection closed before the answer'],
  unowned: ['dialog_lost', 'The dialog belonged to no call'],
  application_gone: null,
};

/** Reason texts of drachtio-server, which names no cause otherwise. */
const drachtioEnds: readonly (readonly [RegExp, LostCall])[] = [
  [/\back timeout/i, ackTimeout],
  [/session/i, ['session_expired', 'The session was not refreshed in time']],
];

/** The meaning of a BYE or CANCEL that the engine made itself; null: it is not known to be from an engine. */
export function endOfEngine(cause: string | undefined, reason: string | undefined): LostCall | null {
  const known = readEndCause(cause);
  const text = known === null ? (/text="([^"]*)"/.exec(reason ?? '')?.[1] ?? '') : endTexts[known];
  const end = known === null ? drachtioEnds.find(([pattern]) => pattern.test(text))?.[1] : ends[known];
  return end ? [end[0], `${end[1]} (SIP engine: ${text}).`] : null;
}

/** The status of the final response that a Reason names (RFC 3326 section 2); undefined when it names none. */
export function statusOfReason(reason: string | undefined): number | undefined {
  const cause = /^\s*SIP\s*;(?:.*;)?\s*cause\s*=\s*([3-6]\d\d)\b/i.exec(reason ?? '')?.[1];
  return cause === undefined ? undefined : Number(cause);
}

/** Why the engine made a BYE itself, according to its header fields. */
export function causeOfEngineBye({ headers }: SrfRequest): LostCall {
  const reason = headerOf(headers, 'reason');
  return (
    endOfEngine(headerOf(headers, privateHeaders.end.toLowerCase()), reason) ?? [
      'engine_lost',
      `The SIP engine ended the dialog: ${reason ?? 'no reason given'}.`,
    ]
  );
}
