/** A dialog has one pending INVITE at a time, in either direction (RFC 3261 section 14). */

import { randomInt, randomUUID } from 'node:crypto';
import { newTag } from '../core/identity.ts';
import { type Fields, plainResponse } from '../core/responses.ts';
import type { Session } from '../core/session.ts';
import type { SipCommand } from '../drachtio-port/command.ts';
import { NOWHERE, sipLine, wireTime } from '../drachtio-port/lines.ts';
import type { SipRequest } from '../message/message.ts';
import { serializeResponse } from '../message/serialize.ts';

/** The final response to a request that the engine rejects itself. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly fields?: Fields;
}

/** The answer to an INVITE of the peer that arrives while another one is pending (14.2); null when none is. */
export function collision(session: Session, request: SipRequest): Refusal | null {
  if (request.method !== 'INVITE') return null;
  if (session.outgoingInvite || session.awaitedAck) {
    return { status: 491, reason: 'Request Pending' };
  }
  if (!session.incomingInvite) return null;
  const fields: Fields = [['Retry-After', `${randomInt(0, 11)}`]];
  return { status: 500, reason: 'INVITE In Progress', fields };
}

/**
 * Answers an INVITE of the application while another one is pending (14.1). The peer would answer 491, so the engine
 * does it at once.
 * @param now milliseconds
 */
export function refuseGlare(
  command: SipCommand,
  request: SipRequest,
  bytes: Buffer,
  dialogId: string,
  now: number,
): void {
  const id = randomUUID();
  command.sent(bytes, NOWHERE, now, id, dialogId);
  const response = serializeResponse(plainResponse(request, 491, 'Request Pending', newTag()));
  command.client.send(sipLine('network', 0, NOWHERE, wireTime(now), id, dialogId, null), response);
}
