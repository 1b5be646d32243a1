/**
 * The signaling side of an inbound call: the INVITE, its answer, and the dialog until its BYE.
 *
 *     offered --answer--> answering --echo--> answered --ACK--> up --bye()--> leaving --response--> over
 *        |                    |                   |             |
 *        +---- reject, CANCEL, BYE of the peer, engine lost: over (from everywhere)
 */

import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import type { ReferEvents, ReferOrder } from '../../call/ports/refer.ts';
import type { CallLeg, DialogIdentity, LegEvents, LegFacts, Refusal } from '../../call/ports/signaling.ts';
import { Refers, tooLate } from '../refer/refers.ts';
import { dialogProbe } from '../session/dialog-probe.ts';
import { type DialogRequest, NoDialog, sendInDialog } from '../session/dialog-request.ts';
import { DialogSession } from '../session/dialog-session.ts';
import type { DialogOwner, Dialogs } from '../session/dialogs.ts';
import { sessionBody } from '../session/session-body.ts';
import { engineError } from '../srf/engine-errors.ts';
import { capabilities, type Environment, respond } from '../srf/environment.ts';
import {
  allow,
  contactOf,
  headerOf,
  reasonOf,
  supported,
  tagOf,
  tokensOf,
  warningOf,
} from '../srf/headers.ts';
import { uriOf } from '../srf/numbers.ts';
import { type SessionAnswer, sessionHeaders } from '../srf/session-timer.ts';
import type { SrfRequest, SrfResponse } from '../srf/srf.ts';
import { answerInDialog, causeOfEngineBye, endOfEngine, statusOfReason, unknownDialog } from './in-dialog.ts';

type State = 'offered' | 'answering' | 'answered' | 'up' | 'leaving' | 'over';

export interface InboundLegOptions {
  readonly environment: Environment;
  readonly dialogs: Dialogs;
  readonly request: SrfRequest;
  readonly response: SrfResponse;
  readonly facts: LegFacts;
  /** The session timer headers for the 200. */
  readonly session: SessionAnswer;
  /** Headers of a rejection, in addition to the usual ones. */
  readonly refusalHeaders?: Record<string, string>;
}

export class InboundLeg implements CallLeg, DialogOwner {
  readonly facts: LegFacts;
  readonly canRing: boolean;
  readonly #options: InboundLegOptions;
  /** Our Contact: as configured, else as the engine wrote it in the 200. */
  #contact: string | null;
  readonly #reliable: boolean;
  #events: LegEvents | null = null;
  #session: DialogSession | null = null;
  #dialogId: string | null = null;
  #localTag = '';
  #refers: Refers | null = null;
  #state: State = 'offered';

  constructor(options: InboundLegOptions) {
    const { request, facts, environment } = options;
    this.#options = options;
    this.facts = facts;
    const { publicAddress } = environment;
    this.#contact = publicAddress === null ? null : contactOf(publicAddress, request.uri, request.headers);
    this.#reliable = tokensOf(headerOf(request.headers, 'require')).includes('100rel');
    // RFC 3262 section 5: a reliable 180 to an INVITE without offer would have to carry ours.
    this.canRing = !(this.#reliable && facts.offer === null);
    request.on('cancel', (cancel) => this.#canceled(cancel.get('reason'), cancel.get(privateHeaders.end)));
    request.on('update', (update, response) => this.receive(update, response));
  }

  listen(events: LegEvents) {
    this.#events = events;
    this.#session = new DialogSession({
      environment: this.#options.environment,
      events,
      contact: () => this.#contact,
      ownsCallId: false,
      send: (request) => this.#send(request),
    });
    const { request, environment } = this.#options;
    this.#session.peer.learn(request.headers);
    this.#refers = new Refers({
      environment,
      referred: (refer) => events.referred(refer),
      refused: (...refer) => events.referRefused?.(...refer),
      contact: () => this.#contact,
      self: () => uriOf(headerOf(request.headers, 'to') ?? ''),
      send: (message) => this.#send(message),
    });
  }

  get number(): string {
    return this.facts.to;
  }

  get leaving(): boolean {
    return this.#state === 'leaving';
  }

  replacedBy(leg: CallLeg) {
    this.#events?.replacedBy(leg);
  }

  get takesRefer(): boolean {
    return this.#session?.peer.takes('refer') ?? true;
  }

  get dialog(): DialogIdentity | null {
    if (this.#localTag === '' || !this.#session) return null;
    return {
      callId: this.facts.sipCallId,
      localTag: this.#localTag,
      remoteTag: tagOf(headerOf(this.#options.request.headers, 'from') ?? ''),
      remoteTarget: this.#session.peer.target,
    };
  }

  ring() {
    if (this.#state !== 'offered') return;
    const { environment, response } = this.#options;
    const headers = {
      Allow: allow,
      Supported: supported,
      ...(this.#reliable ? { Require: '100rel', ...this.#contactHeader() } : {}),
    };
    respond(environment, response, 180, { headers }, (error) => {
      if (error) environment.log.debug({ error: String(error) }, '180 was not sent');
      else this.#learnDialog();
    });
  }

  answer(sdp: string) {
    if (this.#state !== 'offered') return;
    this.#state = 'answering';
    const { environment, response, session, request, facts } = this.#options;
    const headers = {
      ...this.#contactHeader(),
      ...capabilities(),
      ...sessionHeaders(session),
      'Content-Type': 'application/sdp',
    };
    respond(environment, response, 200, { headers, body: sdp }, (error, echo) => {
      if (this.#state !== 'answering') return;
      if (error) return this.#notAnswered(error);
      this.#state = 'answered';
      this.#contact ??= echo?.headers.contact ?? null;
      this.#localTag = tagOf(echo?.headers.to ?? '');
      this.#learnDialog();
      this.#session?.answered(request.headers, facts.offer === null, session);
      this.#events?.answered();
    });
  }

  reject(refusal: Refusal) {
    if (this.#state !== 'offered') return;
    this.#over();
    const { environment, response, refusalHeaders } = this.#options;
    const headers: Record<string, string> = { ...refusalHeaders };
    if (refusal.warning !== undefined) headers.Warning = warningOf(environment.warnAgent, refusal.warning);
    if (refusal.retryAfterS !== undefined) headers['Retry-After'] = String(refusal.retryAfterS);
    const reason = refusal.reason === undefined ? {} : { reason: refusal.reason };
    respond(environment, response, refusal.status, { headers, ...reason });
  }

  refer(order: ReferOrder, events: ReferEvents) {
    if (this.#refers && this.#isUp) this.#refers.refer(order, events);
    else tooLate(events);
  }

  ask(answered: (gone: string | null) => void) {
    if (!this.#isUp) {
      answered(null);
      return;
    }
    const { environment } = this.#options;
    const headers = { ...this.#contactHeader(), 'User-Agent': environment.software, ...capabilities() };
    this.#send(dialogProbe(headers, (gone) => answered(this.#isUp ? gone : null)));
  }

  bye(reason: string) {
    if (!this.#isUp) return;
    this.#refers?.flush();
    this.#state = 'leaving';
    this.#session?.stop();
    const headers = { 'User-Agent': this.#options.environment.software, Reason: reasonOf(200, reason) };
    const over = () => this.#over();
    this.#send({ method: 'BYE', headers, body: undefined, answered: over, failed: over });
  }

  receive(request: SrfRequest, response: SrfResponse) {
    const { environment } = this.#options;
    switch (request.method) {
      case 'ACK':
        return this.#acknowledged(request);
      case 'BYE':
        return request.source === 'application' ? this.#endedByEngine(request) : this.#bye(response);
      case 'PRACK':
        return respond(environment, response, 200);
    }
    if (this.#state === 'leaving' && request.method === 'NOTIFY') {
      return this.#refers?.notified(request, response);
    }
    if (this.#state === 'leaving' || this.#state === 'over') return respond(environment, response, 481);
    answerInDialog(environment, this.#session, this.#isUp ? this.#refers : null, request, response);
  }

  abandon(): void {
    this.#over();
  }

  unknown(): void {
    const before = this.#isUp;
    this.#over();
    if (before) this.#events?.lost('dialog_lost', unknownDialog);
  }

  get settled(): boolean {
    return this.#isUp;
  }

  get #isUp(): boolean {
    return this.#state === 'answered' || this.#state === 'up';
  }

  #acknowledged(request: SrfRequest) {
    if (this.#state === 'up') return this.#session?.acknowledged(request);
    if (this.#state !== 'answered') return;
    this.#state = 'up';
    this.#session?.acknowledgedFirst();
    const body = sessionBody(request);
    this.#events?.acknowledged(body.kind === 'sdp' ? body.sdp : null);
  }

  /** The call's record is stored before the 200 is sent. */
  #bye(response: SrfResponse) {
    const { environment } = this.#options;
    const before = this.#state;
    if (before === 'leaving' || before === 'over') return respond(environment, response, 200);
    this.#over();
    try {
      // RFC 3261 section 15: a caller may end its early dialog with BYE; the INVITE still needs its final answer.
      if (before === 'offered') this.#events?.canceled();
      else this.#events?.bye();
    } finally {
      respond(environment, response, 200);
      if (before === 'offered') respond(environment, this.#options.response, 487);
    }
  }

  /** The caller's CANCEL, or one that the engine made instead. @param cause the engine's */
  #canceled(reason: string | undefined, cause: string | undefined): void {
    if (this.#state !== 'offered') return;
    this.#over();
    const lost = endOfEngine(cause, reason);
    // The record has the status that the caller got: the engine's, which may differ from the code's default.
    if (lost) this.#events?.lost(...lost, statusOfReason(reason));
    else this.#events?.canceled();
  }

  /** The engine rejected our 200: a CANCEL came first, or the engine has a problem. */
  #notAnswered(error: unknown): void {
    this.#over();
    const { kind, text } = engineError(error);
    if (kind === 'unknownTransaction') this.#events?.canceled();
    else if (kind === 'connectionClosed')
      this.#events?.lost('connection_lost', 'The connection closed before the answer.');
    else this.#events?.lost('engine_lost', `The answer could not be sent: ${text}`);
  }

  /** A BYE that the engine itself sent to the peer; its Reason names the cause. */
  #endedByEngine(request: SrfRequest) {
    if (this.#state === 'leaving' || this.#state === 'over') return this.#over();
    this.#over();
    this.#events?.lost(...causeOfEngineBye(request));
  }

  #contactHeader(): Record<string, string> {
    return this.#contact === null ? {} : { Contact: this.#contact };
  }

  #learnDialog(): void {
    const id = this.#options.response.stackDialogId;
    if (!id || this.#state === 'over') return;
    this.#dialogId = id;
    this.#options.dialogs.add(id, this);
  }

  #over(): void {
    this.#state = 'over';
    this.#session?.stop();
    this.#refers?.stop('The call has ended');
    if (this.#dialogId !== null) this.#options.dialogs.remove(this.#dialogId, this);
  }

  #send(request: DialogRequest) {
    if (this.#dialogId === null) return request.failed(new NoDialog());
    const dialog = {
      id: this.#dialogId,
      invite: this.#options.request,
      receive: (update: SrfRequest, response: SrfResponse) => this.receive(update, response),
      authenticator: null,
      unknown: () => this.unknown(),
    };
    sendInDialog(dialog, request);
  }
}
