/**
 * The signaling side of an outgoing call: the INVITE with its attempts, its answer, and the dialog until its BYE.
 *
 *     dialling --2xx--> up --bye()--> leaving --response--> over
 *        |  |                            ^
 *        |  +-cancel(), no response--> withdrawn --2xx: ACK, BYE
 *        |                               | any other final response
 *        +-- refusal, unreachable -------+--> over (BYE of the peer and the loss of the engine: from everywhere)
 *
 * A CANCEL is passed on at once; the engine holds it until there is a provisional response (RFC 3261 section 9.1).
 */

import { randomBytes } from 'node:crypto';
import type { Timer } from '#shared/clock.ts';
import { connectionFailure } from '#shared/connection-faults.ts';
import type { DialEvents, DialTarget, OutboundLeg as Leg, OutboundInvite } from '../../call/ports/dialing.ts';
import type { ReferEvents, ReferOrder } from '../../call/ports/refer.ts';
import type { CallLeg, DialogIdentity } from '../../call/ports/signaling.ts';
import { Refers, tooLate } from '../refer/refers.ts';
import { dialogProbe } from '../session/dialog-probe.ts';
import { type DialogRequest, NoDialog, sendInDialog } from '../session/dialog-request.ts';
import { DialogSession } from '../session/dialog-session.ts';
import type { DialogOwner, Dialogs } from '../session/dialogs.ts';
import { retryAfterOverlap } from '../session/glare.ts';
import { sessionBody } from '../session/session-body.ts';
import { engineError } from '../srf/engine-errors.ts';
import { capabilities, type Environment, respond } from '../srf/environment.ts';
import { headerOf, reasonOf, tagOf } from '../srf/headers.ts';
import { uriOf } from '../srf/numbers.ts';
import { failureOf } from '../srf/refusal.ts';
import type { Acknowledge, NewRequest, RequestSent, SrfAnswer, SrfRequest, SrfResponse } from '../srf/srf.ts';
import { answerInDialog, causeOfEngineBye, unknownDialog } from './in-dialog.ts';
import { InviteTries } from './invite-tries.ts';
import { ReliableResponses } from './reliable-responses.ts';

type State = 'dialling' | 'withdrawn' | 'up' | 'leaving' | 'over';

export interface OutboundLegOptions {
  readonly environment: Environment;
  readonly dialogs: Dialogs;
  readonly target: DialTarget;
  readonly invite: OutboundInvite;
  readonly events: DialEvents;
  /** Sends a request outside a dialog. */
  readonly request: (request: NewRequest, sent: RequestSent) => void;
  /** ms after the INVITE without any response after which it is given up (contract 3.5). */
  readonly noResponseMs: number;
}

export class OutboundLeg implements Leg, DialogOwner {
  readonly #options: OutboundLegOptions;
  readonly #tries: InviteTries;
  readonly #session: DialogSession;
  readonly #refers: Refers;
  readonly #reliable = new ReliableResponses();
  readonly #fromTag = randomBytes(8).toString('hex');
  readonly #dialogId: string;
  #silence: Timer | null = null;
  #state: State = 'dialling';
  /** The INVITE of the last attempt, once the engine has accepted it. */
  #request: SrfRequest | null = null;
  #cancelReason: string | null = null;
  #contact: string | null;
  #remoteTag = '';
  /** To tag of the early dialog in which a reliable provisional response answered our offer; null: none did. */
  #earlyTag: string | null = null;
  /** Whether the peer has sent an offer in that dialog: the INVITE's answer is then outdated. */
  #offeredEarly = false;

  /** The INVITE is sent in a later turn, so that the caller knows the leg before the first event. */
  constructor(options: OutboundLegOptions) {
    const { invite, events, dialogs, target } = options;
    const facts = { sip_call_id: invite.sipCallId, host: target.host, port: target.port };
    const environment = { ...options.environment, log: options.environment.log.child(facts) };
    const { publicAddress } = environment;
    this.#options = { ...options, environment };
    this.#contact = publicAddress === null ? null : `<sip:${publicAddress};transport=tls>`;
    this.#tries = new InviteTries({
      environment,
      target,
      invite,
      fromTag: this.#fromTag,
      headersLeftOut: (headers) => events.headersLeftOut?.(headers),
    });
    this.#session = new DialogSession({
      environment,
      events: {
        ...events,
        lost: (...cause) => this.#lose(...cause),
        reanswer: (offer) => {
          if (this.#state === 'dialling') this.#offeredEarly = true;
          return events.reanswer(offer);
        },
      },
      contact: () => this.#contact,
      ownsCallId: true,
      send: (request) => this.#send(request),
    });
    this.#refers = new Refers({
      environment,
      referred: (refer) => events.referred(refer),
      refused: (...refer) => events.referRefused?.(...refer),
      contact: () => this.#contact,
      self: () => uriOf(this.#request?.headers.from ?? ''),
      send: (request) => this.#send(request),
    });
    this.#dialogId = `${invite.sipCallId};from-tag=${this.#fromTag}`;
    dialogs.add(this.#dialogId, this);
    setImmediate(() => this.#try());
  }

  cancel(reason: string): void {
    if (this.#state === 'dialling') this.#withdraw(reason);
  }

  ask(answered: (gone: string | null) => void): void {
    if (this.#state !== 'up') {
      answered(null);
      return;
    }
    const contact: Record<string, string> = this.#contact === null ? {} : { Contact: this.#contact };
    const headers = { ...contact, 'User-Agent': this.#options.environment.software, ...capabilities() };
    this.#send(dialogProbe(headers, (gone) => answered(this.#state === 'up' ? gone : null)));
  }

  bye(reason: string): void {
    if (this.#state === 'up') this.#leave({ Reason: reasonOf(200, reason) });
  }

  get number(): string {
    return this.#options.invite.from;
  }

  get leaving(): boolean {
    return this.#state === 'leaving';
  }

  replacedBy(leg: CallLeg): void {
    this.#options.events.replacedBy(leg);
  }

  get takesRefer(): boolean {
    return this.#session.peer.takes('refer') ?? true;
  }

  get dialog(): DialogIdentity | null {
    if (this.#remoteTag === '') return null;
    return {
      callId: this.#options.invite.sipCallId,
      localTag: this.#fromTag,
      remoteTag: this.#remoteTag,
      remoteTarget: this.#session.peer.target,
    };
  }

  refer(order: ReferOrder, events: ReferEvents): void {
    if (this.#state === 'up') this.#refers.refer(order, events);
    else tooLate(events);
  }

  renegotiate(): void {
    if (this.#state === 'up') this.#session.renegotiate();
  }

  receive(request: SrfRequest, response: SrfResponse) {
    const { environment } = this.#options;
    // Only ACKs to the peer's re-INVITEs arrive here, and the session handles those.
    if (request.method === 'ACK') return this.#session.acknowledged(request);
    if (request.method === 'BYE') {
      return request.source === 'application' ? this.#endedByEngine(request) : this.#bye(response);
    }
    if (this.#state === 'leaving' && request.method === 'NOTIFY') {
      return this.#refers.notified(request, response);
    }
    if (this.#state === 'dialling' && request.method === 'UPDATE') return this.#early(request, response);
    if (this.#state !== 'up') return respond(environment, response, 481);
    answerInDialog(environment, this.#session, this.#refers, request, response);
  }

  /** An UPDATE before the answer. Only the dialog whose answer media uses may offer. */
  #early(request: SrfRequest, response: SrfResponse) {
    const { environment } = this.#options;
    const fork = tagOf(headerOf(request.headers, 'from') ?? '');
    if (this.#earlyTag !== null && fork !== this.#earlyTag && sessionBody(request).kind === 'sdp') {
      const headers = { 'Retry-After': String(retryAfterOverlap(environment.random())) };
      return respond(environment, response, 500, { headers });
    }
    this.#session.receive('UPDATE', request, response);
  }

  abandon(): void {
    this.#over();
  }

  unknown(): void {
    const before = this.#state;
    this.#over();
    if (before === 'up') this.#options.events.lost('dialog_lost', unknownDialog);
  }

  get settled(): boolean {
    return this.#state === 'up';
  }

  // ---------------------------------------------------------------- the INVITE

  #try() {
    if (this.#state !== 'dialling') return this.#over();
    const { environment, request, noResponseMs } = this.#options;
    this.#silence = environment.clock.after(noResponseMs, () => this.#unheard());
    request(this.#tries.next(), (error, sent) => {
      if (error || !sent) return this.#notSent(error);
      this.#request = sent;
      this.#contact ??= sent.headers.contact ?? null;
      sent.on('update', (update, response) => this.#update(update, response));
      sent.on('response', (answer, ack) => this.#response(answer, ack));
      if (this.#state === 'withdrawn') this.#sendCancel(sent);
    });
  }

  #notSent(error: unknown) {
    const { kind, text } = engineError(error);
    const before = this.#state;
    this.#over();
    if (before !== 'dialling') return;
    // Without an engine no target can be reached, and no target is to blame.
    if (kind === 'no_engine') this.#options.events.lost('engine_lost', `${text}.`);
    else this.#options.events.unreachable(connectionFailure('unknown', text));
  }

  #response(answer: SrfAnswer, ack: Acknowledge) {
    if (this.#state === 'over') return;
    this.#silence?.cancel();
    if (answer.status < 200) this.#provisional(answer, ack);
    // RFC 3261 section 13.2.2.4: every 2xx is an answer, and is acknowledged.
    else if (answer.status < 300) this.#answered(answer, ack);
    else this.#refused(answer);
  }

  #provisional(answer: SrfAnswer, prack: Acknowledge): void {
    if (!this.#reliable.take(answer.headers)) return;
    const reliable = headerOf(answer.headers, 'rseq') !== undefined;
    if (reliable) this.#acknowledge(prack);
    if (this.#state !== 'dialling') return;
    const body = sessionBody(answer);
    if (reliable && body.kind === 'sdp' && this.#earlyTag === null) {
      this.#earlyTag = tagOf(headerOf(answer.headers, 'to') ?? '');
      this.#session.negotiatedEarly();
    }
    this.#options.events.progress(answer.status, body.kind === 'sdp' ? body.sdp : null);
  }

  #answered(answer: SrfAnswer, ack: Acknowledge) {
    const { status } = answer;
    this.#acknowledge(() => {
      if (status === 200) return ack();
      // A drachtio-server creates a dialog only for 200: otherwise there is no dialog to continue the call in.
      ack({}, (error) => {
        if (error) this.#lose('bad_answer', `The SIP engine takes no ${status} for an answer.`);
      });
    });
    if (this.#state !== 'dialling') {
      // RFC 3261 section 9.1: the answer crossed our CANCEL.
      this.#state = 'up';
      return this.#leave({ Reason: reasonOf(487, this.#cancelReason ?? 'The call was given up') });
    }
    this.#state = 'up';
    this.#remoteTag = tagOf(headerOf(answer.headers, 'to') ?? '');
    this.#session.established(answer.headers);
    const body = sessionBody(answer);
    // RFC 3261 section 13.2.1: the answer was in the 18x. Applying a repeated answer would undo the later offer.
    const known = this.#offeredEarly && this.#remoteTag === this.#earlyTag;
    this.#options.events.answered(body.kind === 'sdp' && !known ? body.sdp : null);
  }

  #refused(answer: SrfAnswer) {
    if (this.#state !== 'dialling') return this.#over();
    if (this.#tries.another(answer, this.#request?.uri ?? '')) return this.#try();
    this.#over();
    const { events } = this.#options;
    const refusal = this.#tries.refusal(answer);
    if (answer.source_address !== '') return events.refused(refusal);
    // The engine made it: the peer did not answer.
    if (answer.status === 408) events.timeout();
    else events.unreachable(failureOf(answer));
  }

  // ---------------------------------------------------------------- giving up

  #unheard(): void {
    if (this.#state !== 'dialling') return;
    this.#withdraw('No response in time');
    this.#options.events.timeout();
  }

  #withdraw(reason: string): void {
    this.#silence?.cancel();
    this.#state = 'withdrawn';
    this.#cancelReason = reason;
    if (this.#request) this.#sendCancel(this.#request);
  }

  #sendCancel(invite: SrfRequest): void {
    const headers = { Reason: reasonOf(487, this.#cancelReason ?? '') };
    try {
      invite.cancel({ headers }, (error) => {
        // A final response has crossed it and decides the outcome.
        if (error) this.#options.environment.log.debug({ error: String(error) }, 'CANCEL was not sent');
      });
    } catch (error) {
      this.#options.environment.log.debug({ error: String(error) }, 'CANCEL was not sent');
      this.#over();
    }
  }

  // ---------------------------------------------------------------- the dialog

  #leave(headers: Record<string, string>): void {
    this.#refers.flush();
    this.#state = 'leaving';
    this.#session.stop();
    const over = () => this.#over();
    const software = { 'User-Agent': this.#options.environment.software };
    this.#send({
      method: 'BYE',
      headers: { ...software, ...headers },
      body: undefined,
      answered: over,
      failed: over,
    });
  }

  /** The call's record is stored before the 200 is sent. */
  #bye(response: SrfResponse) {
    const { environment, events } = this.#options;
    if (this.#state === 'leaving' || this.#state === 'over') return respond(environment, response, 200);
    // RFC 3261 section 15: a callee does not end an early dialog by BYE.
    if (this.#state !== 'up') return respond(environment, response, 481);
    this.#over();
    try {
      events.bye();
    } finally {
      respond(environment, response, 200);
    }
  }

  #endedByEngine(bye: SrfRequest): void {
    const before = this.#state;
    this.#over();
    if (before === 'up') this.#options.events.lost(...causeOfEngineBye(bye));
  }

  /** The session is lost; the dialog remains for the BYE that the call will request. */
  #lose(...cause: Parameters<DialEvents['lost']>): void {
    if (this.#state === 'up') this.#options.events.lost(...cause);
  }

  /** drachtio-srf passes an UPDATE to any pending outgoing INVITE with the same Call-ID. */
  #update(request: SrfRequest, response: SrfResponse): void {
    const owner = this.#options.dialogs.find(request.stackDialogId) ?? this;
    owner.receive(request, response);
  }

  #acknowledge(ack: () => void): void {
    try {
      ack();
    } catch (error) {
      // The engine's connection is gone; the link reports its loss.
      this.#options.environment.log.warn({ error: String(error) }, 'an acknowledgement was not sent');
    }
  }

  #send(request: DialogRequest) {
    if (!this.#request) return request.failed(new NoDialog());
    const dialog = {
      id: this.#dialogId,
      invite: this.#request,
      receive: (update: SrfRequest, response: SrfResponse) => this.#update(update, response),
      authenticator: this.#tries.authenticator,
      unknown: () => this.unknown(),
    };
    sendInDialog(dialog, request);
  }

  #over(): void {
    this.#state = 'over';
    this.#silence?.cancel();
    this.#session.stop();
    this.#refers.stop('The call has ended');
    this.#options.dialogs.remove(this.#dialogId, this);
  }
}
