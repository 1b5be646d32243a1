import { randomUUID } from 'node:crypto';
import { connectionFailure } from '#shared/connection-faults.ts';
import { type EndCause, endTexts } from '#shared/engine-protocol/ends.ts';
import type { Context } from '../core/context.ts';
import type { NextHop } from '../core/destination.ts';
import { reasonField } from '../core/dialog-ends.ts';
import { newBranch, newTag } from '../core/identity.ts';
import { type NextHops, peerOfNextHop } from '../core/next-hops.ts';
import { type OutgoingOwner, OutgoingRequest } from '../core/outgoing-request.ts';
import { dialogRequest, ownMessage } from '../core/requests.ts';
import { type Fields, failureFields, plainResponse } from '../core/responses.ts';
import type { Session } from '../core/session.ts';
import { Dialog } from '../dialog/dialog.ts';
import type { SipCommand } from '../drachtio-port/command.ts';
import { NOWHERE, sipLine, wireTime } from '../drachtio-port/lines.ts';
import type { SipResponse } from '../message/message.ts';
import { serializeRequest, serializeResponse } from '../message/serialize.ts';
import type { Acks } from './ack.ts';

type Send = (outgoing: OutgoingRequest, nextHop: NextHop, bytes: Buffer) => void;

/** BYEs that the engine decides on (RFC 3261 section 15), and BYEs that cannot be sent. */
export class Byes {
  readonly #context: Context;
  readonly #nextHops: NextHops;
  readonly #acks: Acks;
  readonly #owner: OutgoingOwner;
  readonly #send: Send;

  /** @param owner of the requests @param send passes them to their transaction and to the wire */
  constructor(context: Context, nextHops: NextHops, acks: Acks, owner: OutgoingOwner, send: Send) {
    this.#context = context;
    this.#nextHops = nextHops;
    this.#acks = acks;
    this.#owner = owner;
    this.#send = send;
  }

  /** A BYE from the application for which no target is left: answered as if it had been lost, and the dialog ends. */
  nowhere(command: SipCommand, session: Session, reason: string): void {
    const { dialog, secure, flow } = session;
    const us = this.#nextHops.localEndpoint({ flow }, newBranch(), secure);
    const built = dialogRequest(dialog, 'BYE', ++dialog.localCSeq, command.message, us);
    if (!built.ok) {
      command.refuse(built.reason);
      return;
    }
    const id = randomUUID();
    command.sent(serializeRequest(built.message), NOWHERE, this.#context.clock.now(), id, dialog.id);
    this.#context.metrics.count('requests_unreachable');
    const fields = failureFields(us.hostPort, connectionFailure('unknown', reason));
    const response = plainResponse(built.message, 503, 'Service Unavailable', newTag(), fields);
    this.#context.ends.end(session, { by: 'response' });
    const time = wireTime(this.#context.clock.now());
    command.client.send(
      sipLine('network', 0, NOWHERE, time, id, dialog.id, null),
      serializeResponse(response),
    );
  }

  /**
   * Ends a dialog on the engine's initiative, as soon as that is allowed, and notifies the application with a
   * copy of the BYE.
   */
  end(session: Session, cause: EndCause): void {
    const { awaitedAck, dialog } = session;
    if (dialog.state === 'Terminated') return;
    const noAckComes = cause === 'no_ack' || cause === 'ack_impossible';
    if (awaitedAck && !noAckComes) {
      // 15: the callee sends no BYE before the ACK. If the ACK never arrives, the BYE is sent when the wait is
      // given up.
      if (!session.leaving) session.hold('BYE', () => this.#leave(session, cause));
      return;
    }
    session.awaitAckNoLonger();
    // When the application is already hanging up, it gets the outcome of its own BYE.
    if (session.sendHeld('BYE') || session.leaving) return;
    this.#leave(session, cause);
  }

  #leave(session: Session, cause: EndCause): void {
    const { ends, log } = this.#context;
    const { dialog, secure, flow } = session;
    if (dialog.state === 'Terminated') return;
    log('info', 'call ended by the engine', { callId: dialog.callId, reason: endTexts[cause] });
    const nextHop = session.nextHop();
    if (typeof nextHop !== 'string') this.#acks.settle(session, nextHop);
    const [bye, bytes] = this.#build(dialog, typeof nextHop === 'string' ? { flow } : nextHop, secure, [
      reasonField(200, cause),
    ]);
    const peer = typeof nextHop === 'string' ? null : peerOfNextHop(nextHop);
    ends.end(session, { by: 'engine', notice: ends.byeNotice(session, bye.request, cause, peer) });
    if (typeof nextHop !== 'string') this.#send(bye, nextHop, bytes);
  }

  /** @returns the BYE and its octets */
  #build(dialog: Dialog, nextHop: NextHop, secure: boolean, fields: Fields): [OutgoingRequest, Buffer] {
    const branch = newBranch();
    const us = this.#nextHops.localEndpoint(nextHop, branch, secure);
    const built = dialogRequest(dialog, 'BYE', ++dialog.localCSeq, ownMessage('BYE', fields), us);
    if (!built.ok) throw new Error(built.reason);
    const bye = new OutgoingRequest(this.#owner, branch, built.message, null, null);
    return [bye, serializeRequest(built.message)];
  }

  /** ACK and BYE for a 2xx that cannot be used: from another fork, or for an application that has gone (13.2.2.4). */
  ofUnusable(outgoing: OutgoingRequest, response: SipResponse): void {
    if (!outgoing.flow) return;
    const dialog = Dialog.ofClient(outgoing.request, response);
    const nextHop = { flow: outgoing.flow };
    const secure = outgoing.request.uri.startsWith('sips:');
    this.#acks.bare(dialog, outgoing, nextHop, secure);
    const [bye, bytes] = this.#build(dialog, nextHop, secure, []);
    this.#send(bye, nextHop, bytes);
  }
}
