import { randomUUID } from 'node:crypto';
import { ClientDialogs, settles } from './client-dialogs.ts';
import type { Context } from './context.ts';
import { destinationOf, destinationVia, type Way } from './destination.ts';
import { Dialog } from './dialog/dialog.ts';
import type { AppMessage } from './drachtio-port/app-message.ts';
import type { AppClient } from './drachtio-port/client.ts';
import type { SipCommand } from './drachtio-port/command.ts';
import { NOWHERE, type Peer, sipLine, UNSOLICITED, wireTime } from './drachtio-port/lines.ts';
import { newBranch, newTag } from './identity.ts';
import { tagOf } from './message/address.ts';
import { parseCSeq } from './message/cseq.ts';
import type { SipRequest, SipResponse } from './message/message.ts';
import { serializeRequest, serializeResponse } from './message/serialize.ts';
import { parseUri } from './message/uri.ts';
import { type OutgoingOwner, OutgoingRequest } from './outgoing-request.ts';
import { type Built, cancelFields, dialogRequest, newRequest, ownMessage } from './requests.ts';
import { plainResponse, warning } from './responses.ts';
import type { Session } from './session.ts';
import type { Flow } from './transport/flow.ts';
import { peerOf, peerOfWay, Ways } from './ways.ts';

/** Contains what applications look for to recognise a dialog that is gone. */
const NO_DIALOG = 'Server error: unable to find dialog for dialog id provided';
const CREDENTIALS = [
  ['authorization', 'Authorization'],
  ['proxy-authorization', 'Proxy-Authorization'],
] as const;
const BARE_ACK = ownMessage('ACK', []);

/**
 * Our own: a request with this header, which does not leave, gets its 100 too. drachtio-server passes none on,
 * and an application cannot tell then whether the far end is silent or busy finding the callee.
 */
const TRYING = 'x-trunkline-trying';

/** Our own: a request with this header, which does not leave, may go to our own listener: a test call. */
const TO_SELF = 'x-trunkline-self';

/** The client half of the user agent core (RFC 3261 sections 8.1, 12.2.1, 13.2, 15.1.1). */
export class Uac implements OutgoingOwner {
  readonly #context: Context;
  readonly #ways: Ways;
  readonly #dialogs: ClientDialogs;
  /** By the name that the application uses. */
  readonly #outgoing = new Map<string, OutgoingRequest>();
  readonly #byFlow = new Map<Flow, Set<OutgoingRequest>>();

  constructor(context: Context) {
    this.#context = context;
    this.#ways = new Ways(context);
    this.#dialogs = new ClientDialogs(context);
  }

  get clock() {
    return this.#context.clock;
  }

  get wire() {
    return this.#context.wire;
  }

  /** A request of the application. */
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
      command.refuse('can not send request to myself');
      return;
    }
    const way = this.#ways.to(result.destination);
    const branch = newBranch();
    const us = this.#ways.ourselves(way, branch, parsed.scheme === 'sips');
    const wantsTrying = command.message.headers.has(TRYING);
    command.message.headers.remove(TRYING);
    const built = newRequest(command.message, method, uri, us);
    if (!built.ok) {
      command.refuse(built.reason);
      return;
    }
    const outgoing = new OutgoingRequest(this, branch, built.message, command.client, null, wantsTrying);
    const bytes = serializeRequest(built.message);
    command.sent(bytes, peerOfWay(way), this.clock.now(), outgoing.id, '');
    if (outgoing.invite) this.#context.applications.cdr('attempt', 'application', null, bytes);
    this.#send(outgoing, way, bytes);
  }

  #inDialog(command: SipCommand, method: string): void {
    const session = this.#session(command);
    if (!session) {
      command.refuse(NO_DIALOG);
      return;
    }
    const way = session.way();
    if (typeof way === 'string') {
      command.refuse(way);
      // 15: who says BYE has left the dialog, also when the peer cannot be told.
      if (method === 'BYE') this.#dialogs.drop(session);
      return;
    }
    const { dialog } = session;
    const branch = newBranch();
    const us = this.#ways.ourselves(way, branch, session.secure);
    const built = dialogRequest(dialog, method, dialog.localCSeq + 1, command.message, us);
    if (!built.ok) {
      command.refuse(built.reason);
      return;
    }
    const bytes = serializeRequest(built.message);
    if (method === 'INVITE' && (session.outgoingInvite || session.incomingInvite)) {
      this.#refuseGlare(command, built.message, bytes, dialog.id);
      return;
    }
    dialog.localCSeq++;
    const outgoing = new OutgoingRequest(this, branch, built.message, command.client, session);
    if (outgoing.invite) session.outgoingInvite = outgoing;
    command.sent(bytes, peerOfWay(way), this.clock.now(), outgoing.id, dialog.id);
    const send = () => this.#send(outgoing, way, bytes);
    // The callee must not send BYE before it has the ACK of its 2xx (15), nor another INVITE (14.1).
    if (session.awaitedAck && (method === 'BYE' || method === 'INVITE')) session.hold(method, send);
    else send();
  }

  /** 14.1: no INVITE while another one is under way. The peer would answer 491, so the engine does at once. */
  #refuseGlare(command: SipCommand, request: SipRequest, bytes: Buffer, dialogId: string): void {
    const id = randomUUID();
    command.sent(bytes, NOWHERE, this.clock.now(), id, dialogId);
    const response = serializeResponse(plainResponse(request, 491, 'Request Pending', newTag()));
    const time = wireTime(this.clock.now());
    command.client.send(sipLine('network', 0, NOWHERE, time, id, dialogId, null), response);
  }

  /** The ACK of a 2xx: a transaction of its own without state (13.2.2.4). */
  #ack(command: SipCommand): void {
    const session = this.#session(command);
    if (!session) {
      // Applications acknowledge every final response, and failures have left no dialog.
      command.refuse('Server error: ACK for non-success final response is automatically generated by server');
      return;
    }
    const owed = session.owedAck;
    if (!owed) {
      command.refuse('ACK for non-success responses is automatically generated by the stack');
      return;
    }
    const way = session.way();
    if (typeof way === 'string') {
      command.refuse(way);
      return;
    }
    const built = this.#buildAck(session.dialog, owed.invite, command.message, way, session.secure);
    if (!built.ok) {
      command.refuse(built.reason);
      return;
    }
    const bytes = serializeRequest(built.message);
    owed.ack = bytes;
    command.sent(bytes, peerOfWay(way), this.clock.now(), owed.invite.id, session.dialog.id);
    this.#transmit(built.message, way, bytes);
    if (owed.endedBy !== null) this.bye(session, owed.endedBy);
  }

  #buildAck(
    dialog: Dialog,
    invite: Pick<OutgoingRequest, 'request'>,
    message: AppMessage,
    way: Way,
    secure: boolean,
  ): Built<SipRequest> {
    const cseq = parseCSeq(invite.request.headers.get('cseq') ?? '')?.number ?? 0;
    const us = this.#ways.ourselves(way, newBranch(), secure);
    const built = dialogRequest(dialog, 'ACK', cseq, message, us);
    if (!built.ok) return built;
    // 13.2.2.4: the ACK has the credentials of the INVITE.
    for (const [key, name] of CREDENTIALS) {
      if (built.message.headers.has(key)) continue;
      for (const value of invite.request.headers.all(key)) built.message.headers.append(name, value);
    }
    return built;
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

  /** Ends a call without being asked, and tells the application by a copy of the BYE. */
  bye(session: Session, text: string): void {
    session.awaitedAck = null;
    // Where the application wants the same, it waits for the outcome of its own BYE.
    if (session.letGo('BYE')) return;
    const { dialog, client, secure } = session;
    const way = session.way();
    this.#dialogs.drop(session);
    this.#context.log('info', 'call ended by the engine', { callId: dialog.callId, reason: text });
    if (typeof way === 'string') return;
    const bytes = this.#sendBye(dialog, way, secure, [['Reason', `SIP;cause=200;text="${text}"`]]);
    const time = wireTime(this.clock.now());
    const line = sipLine('application', bytes.length, peerOfWay(way), time, UNSOLICITED, dialog.id, null);
    client.send(line, bytes);
  }

  #sendBye(
    dialog: Dialog,
    way: Way,
    secure: boolean,
    fields: readonly (readonly [string, string])[],
  ): Buffer {
    const branch = newBranch();
    const us = this.#ways.ourselves(way, branch, secure);
    const built = dialogRequest(dialog, 'BYE', ++dialog.localCSeq, ownMessage('BYE', fields), us);
    if (!built.ok) throw new Error(built.reason);
    const bytes = serializeRequest(built.message);
    this.#send(new OutgoingRequest(this, branch, built.message, null, null), way, bytes);
    return bytes;
  }

  /** A 2xx that nobody can use, another fork's or one for an application that has gone: ACK and BYE (13.2.2.4). */
  #ackAndBye(outgoing: OutgoingRequest, response: SipResponse): void {
    if (!outgoing.flow) return;
    const dialog = Dialog.ofClient(outgoing.request, response);
    const way = { flow: outgoing.flow };
    const secure = outgoing.request.uri.startsWith('sips:');
    const ack = this.#buildAck(dialog, outgoing, BARE_ACK, way, secure);
    if (!ack.ok) throw new Error(ack.reason);
    this.#transmit(ack.message, way, serializeRequest(ack.message));
    this.#sendBye(dialog, way, secure, []);
  }

  /** Hands a request to its transaction and, once there is a connection, to the wire. */
  #send(outgoing: OutgoingRequest, way: Way, bytes: Buffer): void {
    this.#outgoing.set(outgoing.id, outgoing);
    this.#context.transactions.addClient(outgoing.transaction);
    this.#context.metrics.count(outgoing.invite ? 'invites_sent' : 'requests_sent');
    this.#ways.reach(
      way,
      (flow) => outgoing.start(flow, bytes),
      (cause) => outgoing.transaction.transportFailed(cause),
    );
  }

  /** Sends an ACK. Should it be lost, the repeated 2xx brings it again. */
  #transmit(request: SipRequest, way: Way, bytes: Buffer): void {
    this.#ways.reach(
      way,
      (flow) => this.wire.send(flow, bytes, request.headers),
      (cause) => this.#context.log('warn', 'ACK not sent', { callId: request.headers.get('call-id'), cause }),
    );
  }

  started(outgoing: OutgoingRequest, flow: Flow): void {
    outgoing.session?.use(flow);
    if (flow.outbound) this.#watchSilence(outgoing, flow);
    const sharing = this.#byFlow.get(flow);
    if (sharing) sharing.add(outgoing);
    else this.#byFlow.set(flow, new Set([outgoing]));
  }

  /**
   * Nobody has to wait for the end of a request that is lost with its connection: a peer that lives says something
   * soon, be it 100 (RFC 3261 section 17.2.1), and what comes next does not go the way of what was lost.
   */
  #watchSilence(outgoing: OutgoingRequest, flow: Flow): void {
    const { clock, transport, metrics } = this.#context;
    const { silenceTimeoutMs } = transport.limits;
    const timer = clock.after(silenceTimeoutMs, () => {
      if (flow.closed || !outgoing.unheard) return;
      metrics.count('flows_set_aside');
      const { remoteAddress, remotePort } = flow;
      const fields = { remoteAddress, remotePort, silent_ms: silenceTimeoutMs };
      this.#context.log('warn', 'connection set aside: its peer is silent', fields);
      flow.setAside();
    });
    outgoing.watch = timer;
  }

  /** A connection is gone, and with it the hope for the responses awaited over it. */
  flowClosed(flow: Flow, reason: string): void {
    const waiting = this.#byFlow.get(flow);
    this.#byFlow.delete(flow);
    const cause = `${flow.remoteAddress}:${flow.remotePort}: connection lost: ${reason}`;
    for (const outgoing of waiting ?? []) outgoing.transaction.transportFailed(cause);
  }

  response(outgoing: OutgoingRequest, response: SipResponse, bytes: Buffer): void {
    if (response.status === 100 && !outgoing.wantsTrying) return;
    if (outgoing.client && !outgoing.client.closed) {
      this.#tell(outgoing.client, outgoing, response, bytes, peerOf(outgoing.flow), bytes.length);
    } else if (outgoing.invite && response.status >= 200 && response.status < 300) {
      this.#ackAndBye(outgoing, response);
    }
  }

  failed(outgoing: OutgoingRequest, status: number, reason: string, cause: string | null): void {
    const { metrics, identity } = this.#context;
    if (status !== 487) metrics.count(status === 408 ? 'requests_timed_out' : 'requests_unreachable');
    if (status === 408) this.#leaveIfDead(outgoing);
    if (!outgoing.client || outgoing.client.closed) return;
    const host = identity.hostPort('tls', identity.localTowards(''));
    const fields = cause === null ? [] : [warning(host, cause)];
    const response = plainResponse(outgoing.request, status, reason, newTag(), fields);
    this.#tell(outgoing.client, outgoing, response, serializeResponse(response), NOWHERE, 0);
  }

  /**
   * A connection of ours whose peer vanished without a word looks alive until TCP gives up, after a quarter of an
   * hour. The next request goes over a new one.
   */
  #leaveIfDead({ flow, unheard }: OutgoingRequest): void {
    if (!flow?.outbound || flow.closed || !unheard) return;
    this.#context.metrics.count('flows_given_up');
    const { remoteAddress, remotePort } = flow;
    this.#context.log('warn', 'connection given up: its peer has gone silent', { remoteAddress, remotePort });
    flow.close('the peer has gone silent');
  }

  /** Tells the application of a response, after its dialog has taken it in. */
  #tell(
    client: AppClient,
    outgoing: OutgoingRequest,
    response: SipResponse,
    bytes: Buffer,
    peer: Peer,
    onWire: number,
  ): void {
    const { status } = response;
    const { applications } = this.#context;
    const dialogId = this.#dialogs.take(outgoing, response);
    const time = wireTime(this.clock.now());
    client.send(sipLine('network', onWire, peer, time, outgoing.id, dialogId, null), bytes);
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
    if ((tagOf(response.headers.get('to') ?? '') ?? '') !== session.dialog.remoteTag) {
      this.#ackAndBye(outgoing, response);
    } else if (owed?.ack && flow) {
      this.wire.send(flow, owed.ack, outgoing.request.headers);
    }
  }

  ended(outgoing: OutgoingRequest): void {
    outgoing.watch?.cancel();
    this.#context.transactions.removeClient(outgoing.transaction);
    this.#outgoing.delete(outgoing.id);
    if (outgoing.session?.outgoingInvite === outgoing) outgoing.session.outgoingInvite = null;
    if (!outgoing.flow) return;
    const sharing = this.#byFlow.get(outgoing.flow);
    sharing?.delete(outgoing);
    if (sharing?.size === 0) this.#byFlow.delete(outgoing.flow);
  }

  /** Calls that ring for an application that has gone are cancelled. */
  clientGone(client: AppClient): void {
    for (const outgoing of [...this.#outgoing.values()]) {
      if (outgoing.client !== client) continue;
      if (!outgoing.flow) outgoing.withdraw();
      else outgoing.invite?.cancel();
    }
  }
}
