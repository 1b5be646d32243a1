/** The signaling side of an inbound call: performs the actions of inbound-leg-state.ts. */
import type { HeaderMapping } from '#shared/edge-protocol/numbers.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import { allow } from '#shared/sip-methods.ts';
import { Stateful } from '#shared/state-machine.ts';
import type { Soon } from '../../call/ports/media.ts';
import type { ReferEvents, ReferOrder } from '../../call/ports/refer.ts';
import type {
  ByeExtras,
  CallLeg,
  DialogIdentity,
  LegEvents,
  LegFacts,
  OfferNeed,
  Refusal,
} from '../../call/ports/signaling.ts';
import { tooLate } from '../refer/refers.ts';
import type { DialogAccount, DialogOwner, Dialogs } from '../session/dialogs.ts';
import { sessionBody } from '../session/session-body.ts';
import { type SessionAnswer, sessionHeaders } from '../session/session-timer.ts';
import { engineError } from '../srf/engine-errors.ts';
import { capabilities, type Environment, respond } from '../srf/environment.ts';
import { contactOf, headerOf, supported, tagOf, tokensOf, warningOf } from '../srf/headers.ts';
import { uriOf } from '../srf/numbers.ts';
import type { SrfRequest, SrfResponse } from '../srf/srf.ts';
import { inboundVariables } from './header-mapping.ts';
import {
  answerInDialog,
  causeOfEngineBye,
  endOfEngine,
  statusOfReason,
  unknownDialog,
  whenStored,
} from './in-dialog.ts';
import { inboundLeg } from './inbound-leg-state.ts';
import { LegDialog } from './leg-dialog.ts';

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
  /** Called when the call is rejected. */
  readonly rejected?: (refusal: Refusal) => void;
  /** The attached number; that of the facts is another one when a browser calls out. */
  readonly number: string;
  /** The configuration that admitted the caller; null: none did. */
  readonly trunkId: string | null;
  /** Of the configuration that the call uses, for headers of the peer's BYE. */
  readonly mappings: readonly HeaderMapping[];
}

export class InboundLeg implements CallLeg, DialogOwner {
  readonly facts: LegFacts;
  readonly canRing: boolean;
  readonly #options: InboundLegOptions;
  readonly #reliable: boolean;
  readonly #machine = new Stateful(inboundLeg, 'offered');
  /** Of the call; null until it listens. */
  #events: LegEvents | null = null;
  #dialog: LegDialog | null = null;
  #localTag = '';

  constructor(options: InboundLegOptions) {
    const { request, facts } = options;
    this.#options = options;
    this.facts = facts;
    this.#reliable = tokensOf(headerOf(request.headers, 'require')).includes('100rel');
    // RFC 3262 section 5: a reliable 180 to an INVITE without offer would have to carry ours.
    this.canRing = !(this.#reliable && facts.offer === null);
    request.on('cancel', (cancel) =>
      this.#machine.take('CANCEL', {
        release: this.#release,
        'report CANCEL': () =>
          this.#reportCancel(
            cancel.get('reason'),
            // A drachtio-server passes on what a peer writes there.
            options.environment.engineIsEmbedded() ? cancel.get(privateHeaders.end) : undefined,
          ),
      }),
    );
    request.on('update', (update, response) => this.receive(update, response));
  }

  listen(events: LegEvents) {
    const { environment, dialogs, request } = this.#options;
    // To a browser the engine writes the Contact: the address is that of WSS.
    const publicAddress = this.facts.browser ? null : environment.publicAddress;
    this.#events = events;
    this.#dialog = new LegDialog({
      environment,
      dialogs,
      owner: this,
      events,
      contact: publicAddress === null ? null : contactOf(publicAddress, request.uri, request.headers),
      ownsCallId: false,
      self: () => uriOf(headerOf(request.headers, 'to') ?? ''),
      invite: () => request,
      authenticator: null,
    });
    this.#dialog.session.peer.learn(request.headers);
  }

  get account(): DialogAccount {
    const { number, trunkId } = this.#options;
    const { browser, sourceIp } = this.facts;
    // A phone session admits its own call alone, whatever else calls from the same address.
    return { number, peerAddress: browser ? null : sourceIp, trunkId };
  }

  get leaving(): boolean {
    return this.#machine.is('leaving');
  }

  replacedBy(leg: CallLeg) {
    this.#events?.replacedBy(leg);
  }

  get takesRefer(): boolean {
    return this.#dialog?.session.peer.takes('refer') ?? true;
  }

  get takesInfo(): boolean {
    return this.#dialog?.session.peer.takes('info') ?? false;
  }

  get dialog(): DialogIdentity | null {
    if (this.#localTag === '' || !this.#dialog) return null;
    return {
      callId: this.facts.sipCallId,
      localTag: this.#localTag,
      remoteTag: tagOf(headerOf(this.#options.request.headers, 'from') ?? ''),
      remoteTarget: this.#dialog.session.peer.target,
    };
  }

  ring() {
    this.#machine.take('ring', { 'send 180': () => this.#send180() });
  }

  answer(sdp: string) {
    this.#machine.take('answer', { 'send 200': () => this.#send200(sdp) });
  }

  reject(refusal: Refusal) {
    this.#machine.take('reject', {
      release: this.#release,
      'send rejection': () => this.#sendRejection(refusal),
    });
  }

  refer(order: ReferOrder, events: ReferEvents) {
    this.#machine.take('refer', {
      'send REFER': () => this.#dialog?.refers.refer(order, events),
      'fail REFER': () => tooLate(events),
    });
  }

  ask(answered: (gone: string | null) => void) {
    this.#machine.take('ask', {
      'send OPTIONS': () => this.#dialog?.sendOptions(answered),
      'skip OPTIONS': () => answered(null),
    });
  }

  renegotiate(need: OfferNeed) {
    this.#machine.take('renegotiate', { renegotiate: () => this.#dialog?.session.renegotiate(need) });
  }

  bye(reason: string, extras: ByeExtras = {}) {
    const answered = () => this.#machine.take('BYE answered', { release: this.#release });
    this.#machine.take('bye', { 'send BYE': () => this.#dialog?.sendBye(200, reason, extras, answered) });
  }

  receive(request: SrfRequest, response: SrfResponse) {
    const { environment } = this.#options;
    const session = this.#dialog?.session ?? null;
    const refers = this.#dialog?.refers ?? null;
    switch (request.method) {
      case 'ACK':
        return this.#machine.take('ACK', {
          'report ACK': () => this.#reportAck(request),
          'pass ACK': () => session?.acknowledged(request),
        });
      case 'BYE':
        return request.source === 'application' ? this.#endedByEngine(request) : this.#bye(request, response);
      case 'PRACK':
        return respond(environment, response, 200);
    }
    this.#machine.take(request.method === 'NOTIFY' ? 'NOTIFY' : 'request', {
      'pass early request': () => answerInDialog(environment, session, null, this.#events, request, response),
      'pass request': () => answerInDialog(environment, session, refers, this.#events, request, response),
      'pass NOTIFY': () => refers?.notified(request, response),
      'answer 481': () => respond(environment, response, 481),
    });
  }

  abandon(): void {
    this.#machine.take('abandoned', { release: this.#release });
  }

  unknown(): void {
    this.#machine.take('forgotten', {
      release: this.#release,
      'report forgotten': () => this.#events?.lost('dialog_lost', unknownDialog),
    });
  }

  get settled(): boolean {
    return this.#machine.is('answered', 'up');
  }

  // ---------------------------------------------------------------- from the peer

  /** The call's record is stored before the 200 is sent. */
  #bye(request: SrfRequest, response: SrfResponse) {
    const { environment, mappings } = this.#options;
    let stored: Soon<undefined>;
    this.#machine.take('BYE', {
      release: this.#release,
      'report canceled': () => this.#events?.canceled(),
      'report BYE': () => {
        stored = this.#events?.bye(inboundVariables(request.headers, mappings));
      },
      'answer 200': () => whenStored(stored, () => respond(environment, response, 200)),
      'send 487': () => respond(environment, this.#options.response, 487),
    });
  }

  /** A BYE that the engine itself sent to the peer; its Reason names the cause. */
  #endedByEngine(request: SrfRequest) {
    this.#machine.take('engine BYE', {
      release: this.#release,
      'report engine BYE': () => this.#events?.lost(...causeOfEngineBye(request)),
    });
  }

  #reportAck(request: SrfRequest) {
    this.#dialog?.session.acknowledgedFirst();
    const body = sessionBody(request);
    this.#events?.acknowledged(body.kind === 'sdp' ? body.sdp : null);
  }

  /** The caller's CANCEL, or one that the engine made instead. @param cause the engine's */
  #reportCancel(reason: string | undefined, cause: string | undefined): void {
    const lost = endOfEngine(cause, reason);
    // The record has the status that the caller got: the engine's, which may differ from the code's default.
    if (lost) this.#events?.lost(...lost, statusOfReason(reason));
    else this.#events?.canceled();
  }

  // ---------------------------------------------------------------- to the peer

  #send180(): void {
    const { environment, response } = this.#options;
    const headers = {
      Allow: allow,
      Supported: supported,
      ...(this.#reliable ? { Require: '100rel', ...this.#dialog?.contactHeader() } : {}),
    };
    respond(environment, response, 180, { headers }, (error) => {
      if (error) environment.log.debug({ error: String(error) }, '180 was not sent');
      else this.#machine.take('180 sent', { 'learn dialog': () => this.#learnDialog() });
    });
  }

  #send200(sdp: string): void {
    const { environment, response, session } = this.#options;
    const headers = {
      ...this.#dialog?.contactHeader(),
      ...capabilities(),
      ...sessionHeaders(session),
      'Content-Type': 'application/sdp',
    };
    respond(environment, response, 200, { headers, body: sdp }, (error, echo) => {
      if (error) {
        return this.#machine.take('200 not sent', {
          release: this.#release,
          'report failed answer': () => this.#reportFailedAnswer(error),
        });
      }
      this.#machine.take('200 sent', {
        'begin session': () => this.#begin(echo?.headers ?? {}),
        'report answered': () => this.#events?.answered(),
      });
    });
  }

  /** @param sent headers of the 200 on the wire */
  #begin(sent: Record<string, string>): void {
    const { request, facts, session } = this.#options;
    this.#dialog?.learnContact(sent.contact);
    this.#localTag = tagOf(sent.to ?? '');
    this.#learnDialog();
    this.#dialog?.session.answered(request.headers, facts.offer === null, session);
  }

  /** The engine rejected our 200: a CANCEL came first, or the engine has a problem. */
  #reportFailedAnswer(error: unknown): void {
    const { kind, text } = engineError(error);
    if (kind === 'unknownTransaction') this.#events?.canceled();
    else if (kind === 'connectionClosed')
      this.#events?.lost('connection_lost', 'The connection closed before the answer.');
    else this.#events?.lost('engine_lost', `The answer could not be sent: ${text}`);
  }

  #sendRejection(refusal: Refusal): void {
    const { environment, response, refusalHeaders, rejected } = this.#options;
    const { status, reason, warning, retryAfterS } = refusal;
    rejected?.(refusal);
    const headers: Record<string, string> = { ...refusalHeaders };
    if (warning !== undefined) headers.Warning = warningOf(environment.warnAgent, warning);
    if (retryAfterS !== undefined) headers['Retry-After'] = String(retryAfterS);
    respond(environment, response, status, { headers, ...(reason === undefined ? {} : { reason }) });
  }

  #learnDialog(): void {
    const id = this.#options.response.stackDialogId;
    if (id) this.#dialog?.learnId(id);
  }

  readonly #release = (): void => this.#dialog?.release();
}
