import { randomUUID } from 'node:crypto';
import type { ConnectionFailure } from '#shared/connection-faults.ts';
import type { EndCause } from '#shared/engine-protocol/ends.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import { frameRefusals } from '#shared/engine-protocol/refusals.ts';
import { RoomyMap } from '#shared/roomy-map.ts';
import { AwaitedFlows } from '../core/awaited-flows.ts';
import { ClientDialogs, settles } from '../core/client-dialogs.ts';
import type { Context } from '../core/context.ts';
import { destinationOf, destinationVia, type NextHop } from '../core/destination.ts';
import { idOf } from '../core/forming-dialogs.ts';
import { newBranch, newTag } from '../core/identity.ts';
import { NextHops, peerOf, peerOfNextHop } from '../core/next-hops.ts';
import { type OutgoingOwner, OutgoingRequest } from '../core/outgoing-request.ts';
import { cancelFields, dialogRequest, newRequest } from '../core/requests.ts';
import { failureFields, plainResponse } from '../core/responses.ts';
import type { Session } from '../core/session.ts';
import type { AppClient } from '../drachtio-port/client.ts';
import type { SipCommand } from '../drachtio-port/command.ts';
import { NOWHERE, type Peer, sipLine, wireTime } from '../drachtio-port/lines.ts';
import { headerKey } from '../message/headers.ts';
import type { SipResponse } from '../message/message.ts';
import { serializeRequest, serializeResponse } from '../message/serialize.ts';
import { parseUri } from '../message/uri.ts';
import type { Flow } from '../transport/flow.ts';
import { Acks } from './ack.ts';
import { Byes } from './bye.ts';
import { refuseGlare } from './overlapping-invites.ts';
import { secondsRegistered } from './registration.ts';

/**
 * Extension: a request with this header, which is not sent on, has its 100 delivered too. drachtio-server passes
 * no 100 on, so the application cannot tell whether the far end is silent or is still locating the callee.
 */
const TRYING = headerKey(privateHeaders.trying);

/** Extension: a request with this header, which is not sent on, may go to our own listener: a test call. */
const TO_SELF = headerKey(privateHeaders.self);

/** The client half of the user agent core (RFC 3261 sections 8.1, 12.2.1, 13.2, 15.1.1). */
export class Uac implements OutgoingOwner {
  readonly #context: Context;
  readonly #nextHops: NextHops;
  readonly #dialogs: ClientDialogs;
  /** By the application's transaction id. */
  readonly #outgoing = new RoomyMap<string, OutgoingRequest>();
  readonly #flows: AwaitedFlows;
  readonly #acks: Acks;
  readonly #byes: Byes;
  /** INVITEs outside dialogs without a final response, by the id that their dialog will have. */
  readonly #forming = new RoomyMap<string, OutgoingRequest>();

  constructor(context: Context) {
    this.#context = context;
    this.#nextHops = new NextHops(context);
    this.#dialogs = new ClientDialogs(context);
    this.#flows = new AwaitedFlows(context);
    this.#acks = new Acks(context, this.#nextHops);
    this.#byes = new Byes(context, this.#nextHops, this.#acks, this, (...request) => this.#send(...request));
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
      outgoing: this.#outgoing.size,
      flowsAwaited: this.#flows.size,
      ownDialogsForming: this.#forming.size,
    };
  }

  /** A request from the application. */
  execute(command: SipCommand, method: string, uri: string): void {
    if (method === 'CANCEL') this.#cancel(command);
    else if (command.dialogId === '' && method !== 'ACK') this.#outOfDialog(command, method, uri);
    else if (method === 'ACK') this.#ack(command);
    else this.#inDialog(command, method);
  }

  #outOfDialog(command: SipCommand, method: string, uri: string): void {
    const parsed = parseUri(uri);
    if (!parsed || (parsed.scheme === 'tel' && command.proxy === '')) {
      command.refuse(`invalid request-uri: ${method} ${uri}`);
      return;
    }
    const result = command.proxy === '' ? destinationOf(uri) : destinationVia(command.proxy, uri);
    if (!result.ok) {
      command.refuse(result.reason);
      return;
    }
    const meantForUs = command.message.headers.has(TO_SELF);
    command.message.headers.remove(TO_SELF);
    if (!meantForUs && this.#context.identity.isSelf(result.destination.host, result.destination.port)) {
      command.refuse(frameRefusals.ownAddress);
      return;
    }
    const nextHop = this.#nextHops.to(result.destination);
    const branch = newBranch();
    const us = this.#nextHops.localEndpoint(nextHop, branch, parsed.scheme === 'sips');
    const wantsTrying = command.message.headers.has(TRYING);
    command.message.headers.remove(TRYING);
    const built = newRequest(command.message, method, uri, us);
    if (!built.ok) {
      command.refuse(built.reason);
      return;
    }
    const id = idOf(method, built.message.headers);
    if (id !== null && (this.#forming.has(id) || this.#context.sessions.get('uac', id))) {
      // The application could not tell the two dialogs apart, nor see the end of each.
      command.refuse('a dialog with this Call-ID and From tag already exists');
      return;
    }
    const outgoing = new OutgoingRequest(this, branch, built.message, command.client, null, wantsTrying);
    if (id !== null) this.#forming.set(id, outgoing);
    const bytes = serializeRequest(built.message);
    command.sent(bytes, peerOfNextHop(nextHop), this.clock.now(), outgoing.id, '');
    if (outgoing.invite) this.#context.applications.cdr('attempt', 'application', null, bytes);
    this.#send(outgoing, nextHop, bytes);
  }

  #inDialog(command: SipCommand, method: string): void {
    const session = this.#session(command);
    if (!session) {
      command.refuse(frameRefusals.unknownDialog);
      return;
    }
    const nextHop = session.nextHop();
    if (typeof nextHop === 'string') {
      if (method === 'BYE') this.#byes.nowhere(command, session, nextHop);
      else command.refuse(nextHop);
      return;
    }
    const { dialog } = session;
    const branch = newBranch();
    const us = this.#nextHops.localEndpoint(nextHop, branch, session.secure);
    const built = dialogRequest(dialog, method, dialog.localCSeq + 1, command.message, us);
    if (!built.ok) {
      command.refuse(built.reason);
      return;
    }
    const bytes = serializeRequest(built.message);
    if (method === 'INVITE' && (session.outgoingInvite || session.incomingInvite)) {
      refuseGlare(command, built.message, bytes, dialog.id, this.clock.now());
      return;
    }
    dialog.localCSeq++;
    const outgoing = new OutgoingRequest(this, branch, built.message, command.client, session);
    if (outgoing.invite) session.outgoingInvite = outgoing;
    if (method === 'BYE') session.leaving = true;
    command.sent(bytes, peerOfNextHop(nextHop), this.clock.now(), outgoing.id, dialog.id);
    const send = () => this.#send(outgoing, nextHop, bytes);
    // The callee must not send BYE before the ACK of its 2xx has arrived (15), nor another INVITE (14.1).
    if (session.awaitedAck && (method === 'BYE' || method === 'INVITE')) session.hold(method, send);
    else send();
  }

  /** The ACK of a 2xx, sent without transaction state (13.2.2.4). */
  #ack(command: SipCommand): void {
    const session = this.#session(command);
    if (!session) {
      // Applications acknowledge every final response, but failures leave no dialog.
      command.refuse('Server error: ACK for non-success final response is automatically generated by server');
      return;
    }
    const owed = session.owedAck;
    if (!owed) {
      command.refuse('ACK for non-success responses is automatically generated by the stack');
      return;
    }
    const nextHop = session.nextHop();
    if (typeof nextHop === 'string') {
      command.refuse(nextHop);
      this.bye(session, 'unreachable');
      return;
    }
    const built = this.#acks.build(session.dialog, owed.invite, command.message, nextHop, session.secure);
    if (!built.ok) {
      command.refuse(built.reason);
      return;
    }
    const bytes = serializeRequest(built.message);
    owed.ack = bytes;
    command.sent(bytes, peerOfNextHop(nextHop), this.clock.now(), owed.invite.id, session.dialog.id);
    const copies = owed.copies;
    owed.copies = 0;
    for (let sent = 0; sent <= copies; sent++) this.#acks.transmit(built.message, nextHop, bytes);
    if (owed.endedBy !== null) this.bye(session, owed.endedBy);
  }

  #cancel(command: SipCommand): void {
    const outgoing = this.#outgoing.get(command.transactionId);
    const known = outgoing?.client === command.client ? outgoing : undefined;
    const cancel = known?.invite?.cancel(cancelFields(command.message));
    if (!known || !cancel) {
      command.refuse(`unable to cancel unknown transaction id: ${command.transactionId}`);
      return;
    }
    command.sent(serializeRequest(cancel), peerOf(known.flow), this.clock.now(), randomUUID(), '');
    if (!known.flow) known.withdraw();
  }

  #session(command: SipCommand): Session | undefined {
    const { sessions } = this.#context;
    const { client, dialogId } = command;
    const asClient = sessions.get('uac', dialogId);
    if (asClient?.client === client) return asClient;
    const asServer = sessions.get('uas', dialogId);
    return asServer?.client === client ? asServer : undefined;
  }

  /** Passes a request to its transaction and, once the connection is open, to the wire. */
  #send(outgoing: OutgoingRequest, nextHop: NextHop, bytes: Buffer): void {
    // A held request may have timed out meanwhile.
    if (outgoing.transaction.over) return;
    this.#outgoing.set(outgoing.id, outgoing);
    this.#context.transactions.addClient(outgoing.transaction);
    this.#context.metrics.count(outgoing.invite ? 'invites_sent' : 'requests_sent');
    this.#nextHops.reach(
      nextHop,
      (flow) => outgoing.start(flow, bytes),
      (failure) => outgoing.transaction.transportFailed(failure),
    );
  }

  started(outgoing: OutgoingRequest, flow: Flow): void {
    outgoing.session?.use(flow);
    this.#flows.add(outgoing, flow);
  }

  /**
   * Ends a dialog on the engine's initiative, as soon as that is allowed, and notifies the application with a
   * copy of the BYE.
   */
  bye(session: Session, cause: EndCause): void {
    this.#byes.end(session, cause);
  }

  /** A connection has closed: the responses awaited over it will not arrive. */
  flowClosed(flow: Flow, loss: ConnectionFailure): void {
    this.#flows.closed(flow, loss);
    // So do dialogs (as in UAS.flowClosed).
    if (!flow.pinned) return;
    for (const session of [...this.#context.awaitingAck.values()])
      if (session.flow === flow) this.#callBack(session, flow);
  }

  /**
   * The connection closed before the ACK. A reachable peer may send the ACK over another connection, so we open
   * one to the target of its BYE. If that fails, no ACK will come and no BYE could be sent. Waiting for 64*T1
   * would only hold the call, and a peer could fill the edge with abandoned calls.
   */
  #callBack(session: Session, lost: Flow): void {
    const over = () => {
      const { awaitedAck, dialog } = session;
      if (!awaitedAck || dialog.state === 'Terminated' || session.flow !== lost) return;
      this.#context.metrics.count('ack_timeouts');
      this.bye(session, 'ack_impossible');
    };
    const nextHop = session.hasUsableTarget ? session.nextHop() : null;
    if (nextHop === null || typeof nextHop === 'string') over();
    else this.#nextHops.reach(nextHop, () => {}, over);
  }

  response(outgoing: OutgoingRequest, response: SipResponse, bytes: Buffer): void {
    if (response.status === 100 && !outgoing.wantsTrying) return;
    const registeredS = secondsRegistered(outgoing.request, response);
    if (registeredS > 0) outgoing.flow?.keepFor(registeredS * 1000);
    if (!outgoing.inDialog && outgoing.session?.dialog.state === 'Terminated' && response.status < 300) {
      this.#answeredTooLate(outgoing, response);
      return;
    }
    const crossed = outgoing.inDialog && outgoing.session?.dialog.state === 'Terminated';
    if (crossed && outgoing.invite && response.status >= 200 && response.status < 300)
      this.#acks.ofEnded(outgoing);
    if (outgoing.client && !outgoing.client.closed) {
      this.#deliver(outgoing.client, outgoing, response, bytes, peerOf(outgoing.flow), bytes.length);
    } else if (outgoing.invite && response.status >= 200 && response.status < 300) {
      this.#byes.ofUnusable(outgoing, response);
    } else {
      this.#endBye(outgoing, response);
    }
  }

  /** 15: the application ended the early dialog by BYE while its INVITE was pending; a later answer is discarded. */
  #answeredTooLate(outgoing: OutgoingRequest, response: SipResponse): void {
    if (response.status < 200) return;
    this.#byes.ofUnusable(outgoing, response);
    this.failed(outgoing, 487, 'Request Terminated', null);
  }

  /** The outcome of a BYE ends its dialog even when the application that sent it has gone. */
  #endBye(outgoing: OutgoingRequest, response: SipResponse): void {
    if (outgoing.request.method === 'BYE') this.#dialogs.take(outgoing, response);
  }

  failed(outgoing: OutgoingRequest, status: number, reason: string, failure: ConnectionFailure | null): void {
    const { metrics, identity } = this.#context;
    if (status !== 487) metrics.count(status === 408 ? 'requests_timed_out' : 'requests_unreachable');
    if (status === 408) this.#flows.leaveIfDead(outgoing);
    const host = identity.hostPort('tls', identity.localTowards(''));
    const fields = failure === null ? [] : failureFields(host, failure);
    const response = plainResponse(outgoing.request, status, reason, newTag(), fields);
    if (!outgoing.client || outgoing.client.closed) {
      this.#endBye(outgoing, response);
      return;
    }
    this.#deliver(outgoing.client, outgoing, response, serializeResponse(response), NOWHERE, 0);
  }

  /** Delivers a response to the application, after its dialog has processed it. */
  #deliver(
    client: AppClient,
    outgoing: OutgoingRequest,
    response: SipResponse,
    bytes: Buffer,
    peer: Peer,
    onWire: number,
  ): void {
    const { status } = response;
    const { applications } = this.#context;
    if (status >= 200) this.#formed(outgoing);
    const id = this.#dialogs.take(outgoing, response);
    const time = wireTime(this.clock.now());
    client.send(sipLine('network', onWire, peer, time, outgoing.id, id, null), bytes);
    if (outgoing.invite && !outgoing.inDialog && status >= 200) {
      if (status < 300) applications.cdr('start', 'network', 'uac', bytes);
      else applications.cdr('stop', 'network', 'call-rejected', bytes);
    } else if (outgoing.inDialog && outgoing.request.method === 'BYE' && settles(status)) {
      applications.cdr('stop', 'application', 'normal-release', serializeRequest(outgoing.request));
    }
  }

  repeated(outgoing: OutgoingRequest, response: SipResponse): void {
    const { session, flow } = outgoing;
    if (!session) return;
    const owed = session.owedAck?.invite === outgoing ? session.owedAck : null;
    if ((response.headers.toTag ?? '') !== session.dialog.remoteTag) {
      this.#byes.ofUnusable(outgoing, response);
    } else if (owed?.ack && flow) {
      this.messages.send(flow, owed.ack, outgoing.request.headers);
    } else if (owed) owed.copies++;
  }

  ended(outgoing: OutgoingRequest): void {
    outgoing.watch?.cancel();
    this.#context.transactions.removeClient(outgoing.transaction);
    this.#outgoing.delete(outgoing.id);
    this.#formed(outgoing);
    if (outgoing.session?.outgoingInvite === outgoing) outgoing.session.outgoingInvite = null;
    this.#flows.remove(outgoing);
    // The peer has retransmitted its 2xx for 32 s and gives up about now.
    const { session } = outgoing;
    const owed = session?.owedAck;
    if (session && owed?.invite === outgoing && owed.ack === null) this.bye(session, 'unacknowledged');
  }

  #formed(outgoing: OutgoingRequest): void {
    const id = outgoing.inDialog ? null : idOf(outgoing.request.method, outgoing.request.headers);
    if (id !== null && this.#forming.get(id) === outgoing) this.#forming.delete(id);
  }

  /** Cancels outgoing ringing calls of an application that has gone. */
  clientGone(client: AppClient): void {
    for (const outgoing of [...this.#outgoing.values()]) {
      if (outgoing.client !== client) continue;
      if (!outgoing.flow) outgoing.withdraw();
      else outgoing.invite?.cancel();
    }
  }

  /** Ends the dialogs of an application that has gone: no one else would hang up. */
  leaveDialogsOf(client: AppClient): void {
    const { sessions, ends } = this.#context;
    for (const session of [...sessions]) {
      if (session.client !== client) continue;
      const over = session.leaving && !session.awaitedAck;
      if (session.method === 'INVITE' && session.dialog.state === 'Confirmed' && !over)
        this.bye(session, 'application_gone');
      else ends.end(session, { by: 'application gone' });
    }
  }

  /** Gives up an INVITE of ours, by its transaction id. */
  cancelInvite(transactionId: string): void {
    this.#outgoing.get(transactionId)?.invite?.cancel();
  }
}
