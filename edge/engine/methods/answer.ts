import { randomInt } from 'node:crypto';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import { frameRefusals } from '#shared/engine-protocol/refusals.ts';
import type { Context } from '../core/context.ts';
import { newTag } from '../core/identity.ts';
import type { IncomingRequest } from '../core/incoming-request.ts';
import { peerOf } from '../core/next-hops.ts';
import { copyRest, type LocalEndpoint, ours } from '../core/requests.ts';
import { responseHeaders } from '../core/responses.ts';
import { Session } from '../core/session.ts';
import { watchSubscription } from '../core/subscription.ts';
import { Dialog } from '../dialog/dialog.ts';
import { Retransmission } from '../dialog/retransmission.ts';
import type { AppMessage } from '../drachtio-port/app-message.ts';
import type { SipCommand } from '../drachtio-port/command.ts';
import { headerKey } from '../message/headers.ts';
import type { Headers, SipResponse } from '../message/message.ts';
import { parseDeltaSeconds } from '../message/numbers.ts';
import { requires100rel, supports100rel } from '../message/options.ts';
import { serializeResponse } from '../message/serialize.ts';
import { schemeOf } from '../message/uri.ts';
import type { Uac } from './uac.ts';
import type { Uas } from './uas.ts';

const BLOCK = headerKey(privateHeaders.block);
/** Responses from the application to requests from the network (RFC 3261 sections 8.2.6, 12.1.1 and 13.3.1). */
export class Answers {
  readonly #context: Context;
  readonly #uas: Uas;
  readonly #uac: Uac;

  constructor(context: Context, uas: Uas, uac: Uac) {
    this.#context = context;
    this.#uas = uas;
    this.#uac = uac;
  }

  execute(command: SipCommand, status: number, reason: string): void {
    const incoming = this.#uas.find(command.transactionId);
    if (!incoming || incoming.client !== command.client || !incoming.transaction.open) {
      command.refuse(frameRefusals.unknownTransaction);
      return;
    }
    if (incoming.invite && incoming.session?.dialog.state === 'Terminated' && status < 300) {
      // 15.1.2: the dialog ended while its INVITE was pending.
      this.#uas.finish(incoming, 487, 'Request Terminated');
      command.refuse(frameRefusals.unknownTransaction);
      return;
    }
    const { message } = command;
    const reliable = status > 100 && status < 200 && requires100rel(message.headers);
    if (reliable && !(incoming.invite && supports100rel(incoming.request.headers))) {
      command.refuse('Remote endpoint does not support 100rel');
      return;
    }
    const blockSeconds = parseDeltaSeconds(message.headers.get(BLOCK) ?? '') ?? 0;
    const built = this.#build(incoming, status, reason, message, reliable);
    if (typeof built === 'string') {
      command.refuse(built);
      return;
    }
    const bytes = serializeResponse(built);
    if (incoming.flow.closed) {
      // 18.2.2 would open a connection to the sent-by of the Via; a caller behind a NAT cannot accept one.
      if (status >= 200) this.#undeliverable(incoming, status, bytes);
      command.refuse(frameRefusals.connectionClosed);
      return;
    }
    const session = this.#advance(incoming, built);
    const dialogId = incoming.request.method === 'BYE' ? '' : (session?.dialog.id ?? '');
    command.sent(bytes, peerOf(incoming.flow), this.#context.clock.now(), incoming.id, dialogId);
    incoming.transaction.respond(status, bytes);
    if (incoming.invite) this.#invite(incoming, session, built, bytes, reliable);
    else if (session && status < 300) this.#subscription(session, incoming, built);
    if (blockSeconds > 0) this.#context.transport.block(incoming.flow.remoteAddress, blockSeconds * 1_000);
  }

  /** A final response that cannot be delivered still ends its transaction, and the early dialog with it. */
  #undeliverable(incoming: IncomingRequest, status: number, bytes: Buffer): void {
    incoming.transaction.respond(status < 300 ? 500 : status, bytes);
    this.#uas.closed(incoming);
    if (incoming.session && !incoming.inDialog) this.#context.ends.end(incoming.session, { by: 'response' });
  }

  /** The response as sent on the wire, or why it cannot be sent. */
  #build(
    incoming: IncomingRequest,
    status: number,
    reason: string,
    message: AppMessage,
    reliable: boolean,
  ): SipResponse | string {
    const { request, flow } = incoming;
    const { method } = request;
    incoming.toTag ??= message.headers.toTag ?? newTag();
    const makesDialog = status > 100 && status < 300 && (method === 'INVITE' || method === 'SUBSCRIBE');
    const headers = responseHeaders(request, status === 100 ? null : incoming.toTag, makesDialog);
    const us = this.#localEndpoint(incoming);
    const contact = ours(message.headers.get('contact'), us, true);
    if (contact !== undefined) headers.append('Contact', contact);
    // 12.1.1: a response that creates a dialog has a Contact, also a 180; 2xx to UPDATE: RFC 3311 section 5.2.
    else if (makesDialog || (method === 'UPDATE' && status >= 200 && status < 300)) {
      headers.append(
        'Contact',
        this.#context.identity.contact(flow.protocol, flow.localAddress, isSecure(incoming)),
      );
    }
    if (reliable) {
      // RFC 3262 section 3: the first number is random below 2^31, later ones increment it.
      incoming.rseq = incoming.rseq === 0 ? randomInt(1, 2 ** 31 - 1) : incoming.rseq + 1;
      headers.append('RSeq', `${incoming.rseq}`);
    }
    const fault = copyRest(message, headers, us);
    if (fault) return fault;
    headers.remove(BLOCK);
    return { kind: 'response', status, reason, headers, body: message.body };
  }

  #localEndpoint(incoming: IncomingRequest): LocalEndpoint {
    const { protocol, localAddress } = incoming.flow;
    return {
      hostPort: this.#context.identity.hostPort(protocol, localAddress),
      contact: '',
      via: '',
      transport: protocol === 'wss' ? 'ws' : 'tls',
    };
  }

  /** The dialog after this response: created, confirmed, unchanged, or gone. */
  #advance(incoming: IncomingRequest, response: SipResponse): Session | null {
    const { request } = incoming;
    const { status } = response;
    if (incoming.inDialog) {
      if (status >= 200 && status < 300) incoming.session?.dialog.accepted(request);
      return incoming.session;
    }
    // 13.3.1.4: every 2xx, because the caller treats them all as acceptance.
    const confirms =
      status >= 200 && status < 300 && (incoming.invite !== null || isSubscribe(request.method));
    const early = incoming.invite !== null && status > 100 && status < 200;
    if (!confirms && !early) {
      if (status >= 200 && incoming.session) this.#context.ends.end(incoming.session, { by: 'response' });
      if (status >= 200) incoming.session = null;
      return incoming.session;
    }
    incoming.session ??= this.#newSession(incoming, response.headers);
    if (status >= 200) incoming.session.dialog.move('confirm');
    return incoming.session;
  }

  #newSession(incoming: IncomingRequest, headers: Headers): Session {
    const { request, client, flow } = incoming;
    const dialog = Dialog.ofServer(request, headers.get('to') ?? '');
    const method = request.method === 'INVITE' ? 'INVITE' : 'SUBSCRIBE';
    const session = new Session(dialog, client, method, isSecure(incoming), flow, this.#context.awaitingAck);
    if (incoming.invite) session.incomingInvite = incoming;
    this.#context.sessions.add(session);
    return session;
  }

  #invite(
    incoming: IncomingRequest,
    session: Session | null,
    response: SipResponse,
    bytes: Buffer,
    reliable: boolean,
  ): void {
    const { status } = response;
    const cseq = incoming.request.headers.cseq?.number ?? 0;
    if (reliable && session) this.#awaitPrack(incoming, session, cseq, bytes);
    if (status < 200) return;
    this.#uas.closed(incoming);
    if (session) session.awaitPracksNoLonger(cseq);
    if (status < 300 && session) this.#awaitAck(incoming, session, cseq, bytes);
    if (incoming.inDialog) return;
    const { applications } = this.#context;
    if (status < 300) applications.cdr('start', 'application', 'uas', bytes);
    else applications.cdr('stop', 'application', 'call-rejected', bytes);
  }

  /** 13.3.1.4: retransmits the 2xx until the ACK; without one, ends the call. */
  #awaitAck(incoming: IncomingRequest, session: Session, cseq: number, bytes: Buffer): void {
    const retransmission = new Retransmission(
      this.#context.clock,
      '2xx',
      () => incoming.resend(bytes),
      () => {
        this.#context.metrics.count('ack_timeouts');
        this.#uac.bye(session, 'no_ack');
      },
    );
    session.awaitAck({ cseq, incoming, retransmission });
  }

  /** RFC 3262 section 3: without PRACK the INVITE is rejected. */
  #awaitPrack(incoming: IncomingRequest, session: Session, cseq: number, bytes: Buffer): void {
    const { rseq } = incoming;
    const retransmission = new Retransmission(
      this.#context.clock,
      'reliable 1xx',
      () => incoming.resend(bytes),
      () => {
        session.awaitedPracks.delete(rseq);
        if (incoming.transaction.open) this.#uas.giveUp(incoming, 504, 'Server Time-out', 'no_prack');
      },
    );
    session.awaitedPracks.set(rseq, { cseq, retransmission });
  }

  /** A subscription that is not refreshed expires silently, and its dialog with it (RFC 6665 section 4.2.1). */
  #subscription(session: Session, incoming: IncomingRequest, response: SipResponse): void {
    if (session.method !== 'SUBSCRIBE' || !isSubscribe(incoming.request.method)) return;
    watchSubscription(this.#context, session, response.headers, incoming.request.headers);
  }
}

function isSubscribe(method: string): boolean {
  return method === 'SUBSCRIBE';
}

/** 12.1.1: a sips Contact when the Request-URI, the top Record-Route or, failing that, the Contact is sips. */
function isSecure(incoming: IncomingRequest): boolean {
  if (incoming.session) return incoming.session.secure;
  const { uri, headers } = incoming.request;
  if (schemeOf(uri) === 'sips') return true;
  return /^[^,]*<?sips:/i.test(headers.get('record-route') ?? headers.get('contact') ?? '');
}
