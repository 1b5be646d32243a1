import type { Context } from '../core/context.ts';
import type { NextHop } from '../core/destination.ts';
import { newBranch } from '../core/identity.ts';
import type { NextHops } from '../core/next-hops.ts';
import type { OutgoingRequest } from '../core/outgoing-request.ts';
import { type Built, dialogRequest, ownMessage } from '../core/requests.ts';
import type { Session } from '../core/session.ts';
import type { Dialog } from '../dialog/dialog.ts';
import type { AppMessage } from '../drachtio-port/app-message.ts';
import type { SipRequest } from '../message/message.ts';
import { serializeRequest } from '../message/serialize.ts';

const CREDENTIALS = [
  ['authorization', 'Authorization'],
  ['proxy-authorization', 'Proxy-Authorization'],
] as const;
/** An ACK for which the application supplied nothing. */
const BARE_ACK = ownMessage('ACK', []);

/** ACKs of 2xx responses, each sent without transaction state (RFC 3261 section 13.2.2.4). */
export class Acks {
  readonly #context: Context;
  readonly #nextHops: NextHops;

  constructor(context: Context, nextHops: NextHops) {
    this.#context = context;
    this.#nextHops = nextHops;
  }

  build(
    dialog: Dialog,
    invite: Pick<OutgoingRequest, 'request'>,
    message: AppMessage,
    nextHop: NextHop,
    secure: boolean,
  ): Built<SipRequest> {
    const cseq = invite.request.headers.cseq?.number ?? 0;
    const us = this.#nextHops.localEndpoint(nextHop, newBranch(), secure);
    const built = dialogRequest(dialog, 'ACK', cseq, message, us);
    if (!built.ok) return built;
    // 13.2.2.4: the ACK carries the credentials of the INVITE.
    for (const [key, name] of CREDENTIALS) {
      if (built.message.headers.has(key)) continue;
      for (const value of invite.request.headers.all(key)) built.message.headers.append(name, value);
    }
    return built;
  }

  /** Acknowledges a 2xx for an application that cannot: the call has ended, or is none of its own. */
  bare(
    dialog: Dialog,
    invite: Pick<OutgoingRequest, 'request'>,
    nextHop: NextHop,
    secure: boolean,
    level?: 'info' | 'warn',
  ): void {
    const built = this.build(dialog, invite, BARE_ACK, nextHop, secure);
    if (!built.ok) throw new Error(built.reason);
    this.transmit(built.message, nextHop, serializeRequest(built.message), level);
  }

  /** The dialog is about to end: the application will be too late for the ACK that it owes. */
  settle({ owedAck, dialog, secure }: Session, nextHop: NextHop): void {
    if (owedAck?.ack === null) this.bare(dialog, owedAck.invite, nextHop, secure, 'info');
  }

  /** A BYE has crossed the re-INVITE, which has a 2xx all the same. */
  ofEnded(invite: OutgoingRequest): void {
    const { session, flow } = invite;
    if (session && flow) this.bare(session.dialog, invite, { flow }, session.secure, 'info');
  }

  /** Sends an ACK. If it is lost, the retransmitted 2xx triggers it again. */
  transmit(request: SipRequest, nextHop: NextHop, bytes: Buffer, level: 'info' | 'warn' = 'warn'): void {
    this.#nextHops.reach(
      nextHop,
      (flow) => this.#context.messages.send(flow, bytes, request.headers),
      (cause) => this.#context.log(level, 'ACK not sent', { callId: request.headers.get('call-id'), cause }),
    );
  }
}
