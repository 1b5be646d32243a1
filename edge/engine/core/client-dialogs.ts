import { contactUri, Dialog, refreshesTarget } from '../dialog/dialog.ts';
import type { AppClient } from '../drachtio-port/client.ts';
import type { SipResponse } from '../message/message.ts';
import { timers } from '../transaction/timers.ts';
import type { Flow } from '../transport/flow.ts';
import type { Context } from './context.ts';
import { idOf } from './forming-dialogs.ts';
import type { OutgoingRequest } from './outgoing-request.ts';
import { Session } from './session.ts';
import { endsSubscription, watchSubscription } from './subscription.ts';

/** The effect of responses to our requests on dialogs (RFC 3261 sections 12.1.2, 12.2.1.2, 13.2.2 and 15.1.1). */
export class ClientDialogs {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Processes a response. @returns the dialog id that the application sees with it */
  take(outgoing: OutgoingRequest, response: SipResponse): string {
    return outgoing.inDialog ? this.#advance(outgoing, response) : this.#form(outgoing, response);
  }

  /** A response to a request that may create a dialog. */
  #form(outgoing: OutgoingRequest, response: SipResponse): string {
    const { request, client, flow } = outgoing;
    const { method, headers } = request;
    const id = idOf(method, headers);
    if (id === null || !client) return '';
    const { status } = response;
    // 13.2.2.4: every 2xx, although drachtio-srf's dialogs handle only 200.
    const confirms = status >= 200 && status < 300;
    const early = method === 'INVITE' && status < 200 && response.headers.toTag !== undefined;
    if ((confirms || early) && flow) {
      const session = this.#session(outgoing, response, client, flow);
      if (confirms) this.#confirm(session, outgoing, response);
    } else if (status >= 200 && outgoing.session) {
      this.#context.ends.end(outgoing.session, { by: 'response' });
      outgoing.session = null;
    }
    return id;
  }

  #session(outgoing: OutgoingRequest, response: SipResponse, client: AppClient, flow: Flow): Session {
    const known = outgoing.session;
    if (known && known.dialog.state !== 'Terminated') {
      known.dialog.adopt(response);
      return known;
    }
    const { request } = outgoing;
    const method = request.method === 'INVITE' ? 'INVITE' : 'SUBSCRIBE';
    const dialog = Dialog.ofClient(request, response);
    const session = new Session(
      dialog,
      client,
      method,
      request.uri.startsWith('sips:'),
      flow,
      this.#context.awaitingAck,
    );
    if (outgoing.invite) session.outgoingInvite = outgoing;
    outgoing.session = session;
    this.#context.sessions.add(session);
    return session;
  }

  #confirm(session: Session, outgoing: OutgoingRequest, response: SipResponse): void {
    session.dialog.move('confirm');
    if (outgoing.invite) owe(session, outgoing, response);
    else watchSubscription(this.#context, session, response.headers, outgoing.request.headers);
  }

  /** A response to a request in a dialog. */
  #advance(outgoing: OutgoingRequest, response: SipResponse): string {
    const { session, request } = outgoing;
    if (!session) return '';
    const { dialog } = session;
    const { status } = response;
    if (status >= 200 && session.outgoingInvite === outgoing) session.outgoingInvite = null;
    if (dialog.state === 'Terminated') return dialog.id;
    if (status >= 200 && status < 300) {
      if (refreshesTarget(request.method))
        dialog.refreshTarget(response.headers, dialog.peer(response.headers.toTag));
      if (outgoing.invite) owe(session, outgoing, response);
      if (request.method === 'SUBSCRIBE' && session.method === 'SUBSCRIBE') {
        watchSubscription(this.#context, session, response.headers, request.headers);
      }
    }
    const last = request.method === 'BYE' || (session.method === 'SUBSCRIBE' && endsSubscription(request));
    if (last && settles(status)) this.#context.ends.end(session, { by: 'response' });
    else if (request.method === 'BYE' && status >= 200) this.#awaitCredentials(session);
    return dialog.id;
  }

  /**
   * A BYE was challenged. The application may repeat it with credentials. If it does not, the challenge was the
   * BYE's final response, and the dialog ends anyway (RFC 3261 section 15.1.1).
   */
  #awaitCredentials(session: Session): void {
    session.expiry?.cancel();
    session.expiry = this.#context.clock.after(timers.F, () =>
      this.#context.ends.end(session, { by: 'response' }),
    );
  }
}

/** Whether a response is final and not an authentication challenge. */
export function settles(status: number): boolean {
  return status >= 200 && status !== 401 && status !== 407;
}

/** The application owes an ACK for this 2xx. */
function owe(session: Session, outgoing: OutgoingRequest, response: SipResponse): void {
  if (session.outgoingInvite === outgoing) session.outgoingInvite = null;
  // A call that was canceled too late, or whose peer has no usable address, is ended right after the ACK.
  const cancelled = outgoing.invite?.cancelRequest ? 'cancel_race' : null;
  const mute = outgoing.inDialog || contactUri(response.headers) !== undefined ? null : 'no_contact';
  session.owedAck = { invite: outgoing, endedBy: cancelled ?? mute, ack: null, copies: 0 };
}
