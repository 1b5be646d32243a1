import type { EndCause } from '#shared/engine-protocol/ends.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import { RoomyMap } from '#shared/roomy-map.ts';
import type { Context } from '../core/context.ts';
import { FormingDialogs, idOf } from '../core/forming-dialogs.ts';
import { newTag } from '../core/identity.ts';
import { type IncomingOwner, IncomingRequest } from '../core/incoming-request.ts';
import { NextHops, peerOf } from '../core/next-hops.ts';
import { RequestWarnings } from '../core/request-warnings.ts';
import { type Fields, plainResponse, stampVia, trying, warning } from '../core/responses.ts';
import type { Session } from '../core/session.ts';
import { endsSubscription } from '../core/subscription.ts';
import type { AppClient } from '../drachtio-port/client.ts';
import { sipLine, wireTime } from '../drachtio-port/lines.ts';
import type { SipRequest } from '../message/message.ts';
import { serializeRequest, serializeResponse } from '../message/serialize.ts';
import { type Rejection, unsupportedOptions, validateRequest } from '../message/validate.ts';
import { mergeKey, originOf, serverKey } from '../transaction/matching.ts';
import type { Flow } from '../transport/flow.ts';
import { Acks } from './ack.ts';
import { collision, type Refusal } from './overlapping-invites.ts';
import { acceptPrack } from './prack.ts';
import { ALLOW, KNOWN, SUPPORTED } from './supported.ts';

/**
 * The server half of the user agent core (RFC 3261 section 8.2): dispatches requests from the network to their
 * transaction, dialog and application, and answers those that concern no application.
 */
export class Uas implements IncomingOwner {
  readonly #context: Context;
  readonly #acks: Acks;
  /** By the application's transaction id. */
  readonly #incoming = new RoomyMap<string, IncomingRequest>();
  readonly #forming = new FormingDialogs();
  readonly #warnings: RequestWarnings;
  /** Connections whose stream broke, and why: they close after the last pending response. */
  readonly #draining = new Map<Flow, string>();

  constructor(context: Context) {
    this.#context = context;
    this.#acks = new Acks(context, new NextHops(context));
    this.#warnings = new RequestWarnings(context);
  }

  get clock() {
    return this.#context.clock;
  }

  get messages() {
    return this.#context.messages;
  }

  /** Number of entries of each kind. */
  get held(): Record<string, number> {
    return {
      incoming: this.#incoming.size,
      dialogsForming: this.#forming.size,
      flowsDraining: this.#draining.size,
    };
  }

  /** The request with this transaction id, while it may still be answered. */
  find(transactionId: string): IncomingRequest | undefined {
    return this.#incoming.get(transactionId);
  }

  receive(flow: Flow, request: SipRequest): void {
    const rejection = validateRequest(request);
    if (rejection) {
      this.refuse(flow, request, rejection);
      return;
    }
    const { method } = request;
    const origin = originOf(request.headers);
    stampVia(request, flow);
    if (method === 'ACK') {
      this.#ack(flow, request, origin);
      return;
    }
    const key = serverKey(origin, method);
    const known = this.#context.transactions.server(key);
    if (known) {
      known.retransmitted();
      return;
    }
    if (method === 'CANCEL') this.#cancel(flow, request, origin);
    else if (request.headers.toTag === undefined) this.#outOfDialog(flow, request, key);
    else this.#inDialog(flow, request, key);
  }

  /** Answers a request at once without keeping state. An ACK is never answered. */
  refuse(flow: Flow, request: SipRequest, rejection: Rejection): void {
    if (request.method === 'ACK') return;
    const fields = [...(rejection.headers ?? [])];
    const host = this.#context.identity.hostPort(flow.protocol, flow.localAddress);
    if (rejection.warning !== undefined) fields.push(warning(host, rejection.warning));
    this.#refuseAndCount(flow, request, rejection.status, rejection.reason, fields);
  }

  /**
   * Rejects a request that a peer in a call with us would hardly send, and counts it. Failures on our side do not
   * count.
   */
  #refuseAndCount(
    flow: Flow,
    request: SipRequest,
    status: number,
    reason: string,
    fields: Fields = [],
  ): void {
    if (status !== 500 && status !== 503) this.#context.refusals.count(flow.remoteAddress);
    this.#respond(flow, request, status, reason, fields);
  }

  #respond(flow: Flow, request: SipRequest, status: number, reason: string, fields: Fields = []): void {
    const response = plainResponse(request, status, reason, newTag(), fields);
    this.#context.metrics.count('requests_refused');
    this.messages.send(flow, serializeResponse(response), request.headers);
  }

  #outOfDialog(flow: Flow, request: SipRequest, key: string): void {
    const { applications, transactions, metrics } = this.#context;
    const { method, headers } = request;
    if (!KNOWN.has(method)) {
      this.#refuseAndCount(flow, request, 405, 'Method Not Allowed', ALLOW);
      return;
    }
    const merge = mergeKey(headers);
    if (transactions.isMerged(merge)) {
      this.#respond(flow, request, 482, 'Loop Detected');
      return;
    }
    // These act on a dialog, but the request names none.
    if (method === 'BYE' || method === 'PRACK' || method === 'UPDATE') {
      this.#refuseAndCount(flow, request, 481, 'Call/Transaction Does Not Exist');
      return;
    }
    const unsupported = unsupportedOptions(request, SUPPORTED);
    if (unsupported.length > 0) {
      this.#refuseAndCount(flow, request, 420, 'Bad Extension', [['Unsupported', unsupported.join(', ')]]);
      return;
    }
    if (method === 'INVITE' && !headers.has('contact')) {
      this.#refuseAndCount(flow, request, 400, 'Missing Contact');
      return;
    }
    const formingId = idOf(method, headers);
    if (formingId !== null && this.#isTaken(formingId)) {
      this.#respond(flow, request, 482, 'Loop Detected');
      return;
    }
    const client = applications.pick(method.toLowerCase());
    if (!client) {
      this.#respond(flow, request, 503, 'Service Unavailable');
      return;
    }
    const isTooMuch = method === 'INVITE' && client.firstWords.tooMuchOf(flow.group);
    if (isTooMuch || transactions.serverCount >= this.#context.maxTransactions) {
      metrics.count('requests_overload');
      this.#warnings.warn('a request was refused: there is more to do than can be done', flow, request);
      this.#respond(flow, request, 503, 'Service Unavailable', [['Retry-After', '5']]);
      return;
    }
    const incoming = this.#begin(key, merge, request, flow, client, null);
    if (formingId !== null) this.#forming.add(formingId, incoming);
    const bytes = serializeRequest(request);
    if (incoming.invite) applications.cdr('attempt', 'network', null, bytes);
    this.#deliver(incoming, bytes, incoming.id);
  }

  /**
   * Whether a dialog with this id exists or is being set up: the application could not tell a second one apart,
   * nor see the end of each.
   */
  #isTaken(id: string): boolean {
    return this.#forming.has(id) || this.#context.sessions.get('uas', id) !== undefined;
  }

  #inDialog(flow: Flow, request: SipRequest, key: string): void {
    const { sessions, ends } = this.#context;
    const { method } = request;
    const session = sessions.forRequest(request.headers);
    if (!session || session.client.closed) {
      if (session && method === 'BYE') ends.end(session, { by: 'application gone' });
      this.#refuseAndCount(flow, request, 481, 'Call/Transaction Does Not Exist');
      return;
    }
    if (!KNOWN.has(method)) {
      this.#respond(flow, request, 405, 'Method Not Allowed', ALLOW);
      return;
    }
    // 15: a callee does not end an early dialog by BYE. A subscription is not ended by one either.
    const endsNothing = session.dialog.role === 'uac' && session.dialog.state === 'Early';
    if (method === 'BYE' && (endsNothing || session.method !== 'INVITE')) {
      this.#respond(flow, request, 481, 'Call/Transaction Does Not Exist');
      return;
    }
    const refusal: Refusal | null = session.dialog.count(request) ?? collision(session, request);
    if (refusal) {
      this.#respond(flow, request, refusal.status, refusal.reason, refusal.fields ?? []);
      return;
    }
    session.use(flow);
    if (method === 'PRACK' && !acceptPrack(session, request)) {
      this.#respond(flow, request, 481, 'Call/Transaction Does Not Exist');
      return;
    }
    const incoming = this.#begin(key, null, request, flow, session.client, session);
    if (incoming.invite) session.incomingInvite = incoming;
    const bytes = serializeRequest(request);
    if (method === 'BYE') this.#bye(incoming, session, bytes);
    this.#deliver(incoming, bytes, incoming.id);
    if (method === 'NOTIFY' && endsSubscription(request) && session.method === 'SUBSCRIBE')
      ends.end(session, { by: 'peer' });
  }

  #bye(incoming: IncomingRequest, session: Session, bytes: Buffer): void {
    incoming.after = session.incomingInvite?.id ?? null;
    this.#acks.settle(session, { flow: incoming.flow });
    this.#context.ends.end(session, { by: 'peer' });
    this.#context.applications.cdr('stop', 'network', 'normal-release', bytes);
  }

  #begin(
    key: string,
    merge: string | null,
    request: SipRequest,
    flow: Flow,
    client: AppClient,
    session: Session | null,
  ): IncomingRequest {
    const incoming = new IncomingRequest(this, key, merge, request, flow, client, session);
    this.#context.transactions.addServer(incoming.transaction);
    this.#incoming.set(incoming.id, incoming);
    this.#context.metrics.count(incoming.invite ? 'invites_received' : 'requests_received');
    incoming.invite?.trying(trying(request));
    return incoming;
  }

  #deliver(incoming: IncomingRequest, bytes: Buffer, transactionId: string): void {
    const { flow, session } = incoming;
    const listener = incoming.inDialog ? null : { address: flow.localAddress, port: flow.localPort };
    const time = wireTime(this.clock.now());
    const dialogId = session?.dialog.id ?? '';
    const line = sipLine('network', bytes.length, peerOf(flow), time, transactionId, dialogId, listener);
    incoming.delivered(bytes.length);
    incoming.client.send(line, bytes);
  }

  /** ACK: for a failure it ends the INVITE's transaction, for a 2xx it goes to the dialog (13.3.1.4). */
  #ack(flow: Flow, request: SipRequest, origin: string): void {
    const { transactions, sessions } = this.#context;
    const invite = transactions.inviteServer(serverKey(origin, 'INVITE'));
    if (invite?.state === 'Completed') {
      invite.acknowledgedFailure();
      return;
    }
    const session = sessions.forRequest(request.headers);
    const awaited = session?.awaitedAck;
    if (!session || !awaited || awaited.cseq !== request.headers.cseq?.number) return;
    session.awaitAckNoLonger();
    session.use(flow);
    // The ACK of a re-INVITE is delivered with a transaction id of its own, as applications expect.
    const { incoming } = awaited;
    const bytes = serializeRequest(request);
    const time = wireTime(this.clock.now());
    const line = sipLine('network', bytes.length, peerOf(flow), time, incoming.id, session.dialog.id, null);
    incoming.client.send(line, bytes);
    incoming.invite?.acknowledged();
    session.sendHeld();
  }

  /** CANCEL (9.2): 200 for itself and 487 for its INVITE; the application is notified. */
  #cancel(flow: Flow, request: SipRequest, origin: string): void {
    const { transactions, applications, ends } = this.#context;
    const invite = transactions.inviteServer(serverKey(origin, 'INVITE'));
    const incoming = invite?.open ? this.#incoming.get(invite.userId) : undefined;
    // An INVITE that has its final response cannot be canceled. 9.2 allows a 200 while the transaction is kept
    // for retransmissions; 481 is more accurate, and other servers send it too.
    if (!incoming) {
      const refuse = invite ? this.#respond : this.#refuseAndCount;
      refuse.call(this, flow, request, 481, 'Call/Transaction Does Not Exist');
      return;
    }
    incoming.toTag ??= newTag();
    const ok = plainResponse(request, 200, 'OK', incoming.toTag);
    this.messages.send(flow, serializeResponse(ok), request.headers);
    const { session } = incoming;
    const dialogId = session?.dialog.id ?? '';
    this.finish(incoming, 487, 'Request Terminated');
    if (session && !incoming.inDialog) ends.end(session, { by: 'peer' });
    // Only the engine says that it has given up the call itself.
    request.headers.remove(privateHeaders.end);
    const bytes = serializeRequest(request);
    const time = wireTime(this.clock.now());
    incoming.client.send(
      sipLine('network', bytes.length, peerOf(flow), time, incoming.id, dialogId, null),
      bytes,
    );
    // Attempts that no application has answered yet get no second record.
    if (session && !incoming.inDialog)
      applications.cdr('stop', 'network', 'call-canceled', serializeRequest(incoming.request));
  }

  /** A final response from the engine to a request that an application should have answered. */
  finish(incoming: IncomingRequest, status: number, reason: string): void {
    incoming.toTag ??= newTag();
    const response = plainResponse(incoming.request, status, reason, incoming.toTag);
    incoming.transaction.respond(status, serializeResponse(response));
    this.closed(incoming);
  }

  /**
   * Ends an INVITE that neither its caller nor the application has ended: sends its final response, and a CANCEL
   * to the application.
   */
  giveUp(incoming: IncomingRequest, status: number, reason: string, cause: EndCause): void {
    const { ends, applications } = this.#context;
    const { session, inDialog, invite } = incoming;
    this.finish(incoming, status, reason);
    if (!invite) return;
    const notice = () => ends.notifyCanceled(incoming, status, cause);
    if (session && !inDialog) ends.end(session, { by: 'engine', notice });
    else notice();
    if (session && !inDialog)
      applications.cdr('stop', 'network', 'call-rejected', serializeRequest(incoming.request));
  }

  /** The same, by transaction id. */
  giveUpOn(transactionId: string, cause: EndCause): void {
    const incoming = this.#incoming.get(transactionId);
    if (incoming?.transaction.open) this.giveUp(incoming, 480, 'Temporarily Unavailable', cause);
  }

  /** A request has its final response: an INVITE no longer blocks others in its dialog. */
  closed(incoming: IncomingRequest): void {
    this.#forming.remove(incoming);
    if (incoming.session?.incomingInvite === incoming) incoming.session.incomingInvite = null;
    if (this.#draining.size > 0) this.#drained(incoming.flow);
  }

  /** Nothing more can be read from `flow`: closes it once its pending requests are answered. */
  drain(flow: Flow, reason: string): void {
    this.#draining.set(flow, reason);
    this.#drained(flow);
  }

  #drained(flow: Flow): void {
    const reason = this.#draining.get(flow);
    if (reason === undefined) return;
    for (const incoming of this.#incoming.values()) {
      if (incoming.flow === flow && incoming.transaction.open) return;
    }
    flow.close(reason);
  }

  /** 18.2.2 would open a connection to the sent-by of the Via; a caller behind a NAT cannot accept one. */
  flowClosed(flow: Flow): void {
    this.#draining.delete(flow);
    // Unanswered INVITEs keep their connections: most have none, and it need not be looked for among those of all others.
    if (!flow.pinned) return;
    for (const incoming of this.#forming.invitesOn(flow))
      this.giveUp(incoming, 487, 'Request Terminated', 'connection_lost');
  }

  /** No application will answer these anymore. */
  clientGone(client: AppClient): void {
    for (const incoming of this.#incoming.values()) {
      if (incoming.client !== client || !incoming.transaction.open) continue;
      this.finish(incoming, 503, 'Service Unavailable');
    }
  }

  unanswered(incoming: IncomingRequest): void {
    this.#giveUpUnanswered(incoming, 'the application has not answered an INVITE', 408, 'Request Timeout');
  }

  /** 503, so that the caller or a proxy tries another edge. */
  silent(incoming: IncomingRequest): void {
    const what = 'the application hangs: it has said nothing about an INVITE';
    if (incoming.transaction.open) this.#giveUpUnanswered(incoming, what, 503, 'Service Unavailable');
  }

  #giveUpUnanswered(incoming: IncomingRequest, what: string, status: number, reason: string): void {
    this.#context.metrics.count('invites_unanswered');
    this.#warnings.warn(what, incoming.flow, incoming.request);
    this.giveUp(incoming, status, reason, 'unanswered');
  }

  ended(incoming: IncomingRequest): void {
    this.#context.transactions.removeServer(incoming.transaction);
    this.#incoming.delete(incoming.id);
    this.closed(incoming);
    // 15.1.2: once the BYE is answered, pending requests of the dialog get 487.
    const after = incoming.after === null ? undefined : this.#incoming.get(incoming.after);
    if (after?.transaction.open) this.finish(after, 487, 'Request Terminated');
  }
}
