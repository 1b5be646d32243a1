/** What comes for a dialog, whoever began it: requests of the peer, and the engine's own BYE. */
import type { LegEvents } from '../call/ports/signaling.ts';
import type { DialogSession } from './dialog-session.ts';
import { capabilities, type Environment, respond } from './environment.ts';
import { allow, headerOf } from './headers.ts';
import type { Refers } from './refers.ts';
import type { SrfRequest, SrfResponse } from './srf.ts';

/**
 * Answers a request of the peer in a live dialog; ACK, BYE and PRACK are the leg's own business.
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

/** Why the engine sent a BYE on its own, to the peer; its Reason names the cause. */
export function causeOfEngineBye(bye: SrfRequest): Parameters<LegEvents['lost']> {
  const text = /text="([^"]*)"/.exec(headerOf(bye.headers, 'reason') ?? '')?.[1] ?? 'no reason given';
  const code = /ack timeout/i.test(text)
    ? 'ack_timeout'
    : /session/i.test(text)
      ? 'session_expired'
      : /no contact/i.test(text)
        ? 'bad_answer'
        : 'engine_lost';
  return [code, `The SIP engine ended the dialog: ${text}.`];
}
