/** The signaling side of an outgoing call: performs the actions of outbound-leg-state.ts. */
import { randomBytes } from 'node:crypto';
import type { Timer } from '#shared/clock.ts';
import { Stateful } from '#shared/state-machine.ts';
import type { DialEvents, DialTarget, OutboundLeg as Leg, OutboundInvite } from '../../call/ports/dialing.ts';
import type { Soon } from '../../call/ports/media.ts';
import type { ReferEvents, ReferOrder } from '../../call/ports/refer.ts';
import type { ByeExtras, CallLeg, DialogIdentity, OfferNeed } from '../../call/ports/signaling.ts';
import { tooLate } from '../refer/refers.ts';
import type { DialogAccount, DialogOwner, Dialogs } from '../session/dialogs.ts';
import { sessionBody } from '../session/session-body.ts';
import { engineError, notSentFailure } from '../srf/engine-errors.ts';
import { type Environment, respond } from '../srf/environment.ts';
import { type HeaderFields, headerOf, reasonOf, tagOf } from '../srf/headers.ts';
import { uriOf } from '../srf/numbers.ts';
import { failureOf } from '../srf/refusal.ts';
import type { Acknowledge, NewRequest, RequestSent, SrfAnswer, SrfRequest, SrfResponse } from '../srf/srf.ts';
import { inboundVariables } from './header-mapping.ts';
import { answerInDialog, causeOfEngineBye, unknownDialog, whenStored } from './in-dialog.ts';
import { InviteTries } from './invite-tries.ts';
import { LegDialog } from './leg-dialog.ts';
import { outboundLeg } from './outbound-leg-state.ts';
import { inFork, ReliableResponses } from './reliable-responses.ts';

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
  readonly #dialog: LegDialog;
  readonly #reliable = new ReliableResponses();
  readonly #fromTag = randomBytes(8).toString('hex');
  readonly #machine = new Stateful(outboundLeg, 'idle');
  /** Waits for the first response to the INVITE. */
  #silence: Timer | null = null;
  /** The INVITE of the last attempt that the engine has accepted. */
  #request: SrfRequest | null = null;
  #cancelReason = '';
  #remoteTag = '';
  /** To tag of the early dialog in which a reliable provisional response answered our offer. */
  #earlyTag = '';

  /** The INVITE is sent in a later turn, so that the caller knows the leg before the first event. */
  constructor(options: OutboundLegOptions) {
    const { invite, events, dialogs, target } = options;
    const facts = { sip_call_id: invite.sipCallId, host: target.host, port: target.port };
    const environment = { ...options.environment, log: options.environment.log.child(facts) };
    const { publicAddress } = environment;
    this.#options = { ...options, environment };
    this.#tries = new InviteTries({
      environment,
      target,
      invite,
      fromTag: this.#fromTag,
      headersLeftOut: (headers) => events.headersLeftOut?.(headers),
    });
    this.#dialog = new LegDialog({
      environment,
      dialogs,
      owner: this,
      events: {
        ...events,
        lost: (...cause) => this.#lose(...cause),
        reanswer: (offer) => {
          this.#machine.take('offered', {});
          return events.reanswer(offer);
        },
      },
      contact: publicAddress === null ? null : `<sip:${publicAddress};transport=tls>`,
      ownsCallId: true,
      self: () => uriOf(this.#request?.headers.from ?? ''),
      invite: () => this.#request,
      authenticator: this.#tries.authenticator,
    });
    this.#dialog.learnId(`${invite.sipCallId};from-tag=${this.#fromTag}`);
    setImmediate(() => this.#machine.take('start', { 'send INVITE': this.#sendInvite }));
  }

  cancel(reason: string): void {
    this.#machine.take('cancel', {
      'stop waiting': this.#stopWaiting,
      'note reason': () => {
        this.#cancelReason = reason;
      },
      'send CANCEL': () => this.#sendCancel(),
      release: this.#release,
    });
  }

  ask(answered: (gone: string | null) => void): void {
    this.#machine.take('ask', {
      'send OPTIONS': () => this.#dialog.sendOptions(answered),
      'skip OPTIONS': () => answered(null),
    });
  }

  bye(reason: string, extras?: ByeExtras): void {
    this.#machine.take('bye', { 'send BYE': () => this.#sendBye(200, reason, extras) });
  }

  get account(): DialogAccount {
    const { invite, target } = this.#options;
    return { number: invite.from, peerAddress: target.address ?? null, trunkId: null };
  }

  get leaving(): boolean {
    return this.#machine.is('leaving');
  }

  replacedBy(leg: CallLeg): void {
    this.#options.events.replacedBy(leg);
  }

  get takesRefer(): boolean {
    return this.#dialog.session.peer.takes('refer') ?? true;
  }

  get takesInfo(): boolean {
    return this.#dialog.session.peer.takes('info') ?? false;
  }

  get dialog(): DialogIdentity | null {
    if (this.#remoteTag === '') return null;
    return {
      callId: this.#options.invite.sipCallId,
      localTag: this.#fromTag,
      remoteTag: this.#remoteTag,
      remoteTarget: this.#dialog.session.peer.target,
    };
  }

  refer(order: ReferOrder, events: ReferEvents): void {
    this.#machine.take('refer', {
      'send REFER': () => this.#dialog.refers.refer(order, events),
      'fail REFER': () => tooLate(events),
    });
  }

  renegotiate(need: OfferNeed): void {
    this.#machine.take('renegotiate', { renegotiate: () => this.#dialog.session.renegotiate(need) });
  }

  receive(request: SrfRequest, response: SrfResponse) {
    const { environment, events } = this.#options;
    const passed = {
      'pass request': () =>
        answerInDialog(environment, this.#dialog.session, this.#dialog.refers, events, request, response),
      // Keys of a callee who has not answered are nobody's.
      'pass early request': () =>
        answerInDialog(environment, this.#dialog.session, null, null, request, response),
      'answer 481': () => respond(environment, response, 481),
    };
    switch (request.method) {
      case 'ACK':
        return this.#machine.take('ACK', { 'pass ACK': () => this.#dialog.session.acknowledged(request) });
      case 'BYE':
        return request.source === 'application' ? this.#endedByEngine(request) : this.#bye(request, response);
      case 'NOTIFY':
        return this.#machine.take('NOTIFY', {
          ...passed,
          'pass NOTIFY': () => this.#dialog.refers.notified(request, response),
        });
      case 'UPDATE':
        return this.#machine.take('UPDATE', {
          ...passed,
          'pass UPDATE': () => this.#dialog.session.receive('UPDATE', request, response),
          'pass UPDATE of fork': () => this.#passUpdateOfFork(request, response),
        });
      default:
        this.#machine.take('request', passed);
    }
  }

  abandon(): void {
    this.#machine.take('abandoned', { release: this.#release });
  }

  unknown(): void {
    this.#machine.take('forgotten', {
      release: this.#release,
      'report forgotten': () => this.#options.events.lost('dialog_lost', unknownDialog),
    });
  }

  get settled(): boolean {
    return this.#machine.is('up');
  }

  // ---------------------------------------------------------------- the INVITE

  readonly #sendInvite = (): void => {
    const { environment, request, noResponseMs } = this.#options;
    this.#silence = environment.clock.after(noResponseMs, () => this.#noResponse());
    request(this.#tries.next(), (error, sent) => {
      if (error || !sent) return this.#notSent(error);
      sent.on('update', (update, response) => this.#update(update, response));
      sent.on('response', (answer, ack) => this.#response(answer, ack));
      this.#machine.take('accepted', {
        'learn INVITE': () => {
          this.#request = sent;
          this.#dialog.learnContact(sent.headers.contact);
        },
        'send CANCEL': () => this.#sendCancel(),
      });
    });
  };

  #notSent(error: unknown) {
    this.#machine.take('not sent', {
      release: this.#release,
      'report not sent': () => {
        const reason = engineError(error);
        // Without an engine no target can be reached, and no target is to blame.
        if (reason.kind === 'no_engine') this.#options.events.lost('engine_lost', `${reason.text}.`);
        else this.#options.events.unreachable(notSentFailure(reason));
      },
    });
  }

  readonly #stopWaiting = (): void => this.#silence?.cancel();

  #response(answer: SrfAnswer, ack: Acknowledge) {
    if (answer.status < 200) this.#provisional(answer, ack);
    else if (answer.status < 300) this.#answered(answer, ack);
    else this.#failed(answer);
  }

  #provisional(answer: SrfAnswer, prack: Acknowledge): void {
    const body = sessionBody(answer);
    this.#machine.take(this.#provisionalInput(answer.headers, body.kind === 'sdp'), {
      'stop waiting': this.#stopWaiting,
      'send PRACK': () => this.#acknowledge(() => prack(inFork(answer.headers, this.#options.environment))),
      'learn early dialog': () => {
        this.#earlyTag = tagOf(headerOf(answer.headers, 'to') ?? '');
        this.#dialog.session.negotiatedEarly();
      },
      'report progress': () =>
        this.#options.events.progress(answer.status, body.kind === 'sdp' ? body.sdp : null),
    });
  }

  #provisionalInput(headers: HeaderFields, hasSdp: boolean) {
    if (!this.#reliable.take(headers)) return 'repeated';
    if (headerOf(headers, 'rseq') === undefined) return 'provisional';
    return hasSdp ? 'reliable answer' : 'reliable';
  }

  /** RFC 3261 section 13.2.2.4: every 2xx is an answer, and is acknowledged. */
  #answered({ status, headers, body: text }: SrfAnswer, ack: Acknowledge) {
    const body = sessionBody({ headers, body: text });
    const report = (sdp: string | null) => this.#options.events.answered(sdp);
    const sdp = body.kind === 'sdp' ? body.sdp : null;
    this.#machine.take('2xx', {
      'stop waiting': this.#stopWaiting,
      'send ACK': () =>
        this.#acknowledge(() => {
          if (status === 200) return ack();
          // A drachtio-server creates a dialog only for 200: otherwise there is no dialog to continue the call in.
          ack({}, (error) => {
            if (error) this.#lose('bad_answer', `The SIP engine does not accept ${status} as an answer.`);
          });
        }),
      'begin session': () => {
        this.#remoteTag = tagOf(headerOf(headers, 'to') ?? '');
        this.#dialog.session.established(headers);
      },
      'report answered': () => report(sdp),
      // RFC 3261 section 13.2.1: the answer was in the 18x. Applying a repeated answer would undo the later offer.
      'report answered again': () => report(this.#remoteTag === this.#earlyTag ? null : sdp),
      'send BYE': () => this.#sendBye(487, this.#cancelReason),
    });
  }

  #failed(answer: SrfAnswer) {
    this.#machine.take('failure', {
      'stop waiting': this.#stopWaiting,
      'judge failure': () => {
        const again = this.#tries.another(answer, this.#request?.uri ?? '');
        if (again) this.#machine.take('again', { 'send INVITE': this.#sendInvite });
        else
          this.#machine.take('refused', {
            release: this.#release,
            'report refusal': () => this.#reportRefusal(answer),
          });
      },
      release: this.#release,
    });
  }

  #reportRefusal(answer: SrfAnswer): void {
    const { events } = this.#options;
    const refusal = this.#tries.refusal(answer);
    if (answer.source_address !== '') events.refused(refusal);
    // The engine made it: the peer did not answer.
    else if (answer.status === 408) events.timeout();
    else events.unreachable(failureOf(answer));
  }

  // ---------------------------------------------------------------- giving up

  #noResponse(): void {
    this.#machine.take('no response', {
      'note reason': () => {
        this.#cancelReason = 'No response in time';
      },
      'send CANCEL': () => this.#sendCancel(),
      'report no response': () => this.#options.events.timeout(),
    });
  }

  #sendCancel(): void {
    const headers = { Reason: reasonOf(487, this.#cancelReason) };
    try {
      this.#request?.cancel({ headers }, (error) => {
        // A final response has crossed it and decides the outcome.
        if (error) this.#options.environment.log.debug({ error: String(error) }, 'CANCEL was not sent');
      });
    } catch (error) {
      this.#options.environment.log.debug({ error: String(error) }, 'CANCEL was not sent');
      this.abandon();
    }
  }

  // ---------------------------------------------------------------- the dialog

  #sendBye(cause: number, reason: string, extras: ByeExtras = {}): void {
    const answered = () => this.#machine.take('BYE answered', { release: this.#release });
    this.#dialog.sendBye(cause, reason, extras, answered);
  }

  /** The call's record is stored before the 200 is sent. */
  #bye(request: SrfRequest, response: SrfResponse) {
    const { environment, events } = this.#options;
    let stored: Soon<undefined>;
    this.#machine.take('BYE', {
      release: this.#release,
      'report BYE': () => {
        // The mappings of an outbound configuration are for writing headers, not for reading them.
        stored = events.bye(inboundVariables(request.headers, []));
      },
      'answer 200': () => whenStored(stored, () => respond(environment, response, 200)),
      'answer 481': () => respond(environment, response, 481),
    });
  }

  #endedByEngine(bye: SrfRequest): void {
    this.#machine.take('engine BYE', {
      release: this.#release,
      'report engine BYE': () => this.#options.events.lost(...causeOfEngineBye(bye)),
    });
  }

  /** The session is lost; the dialog remains for the BYE that the call will request. */
  #lose(...cause: Parameters<DialEvents['lost']>): void {
    this.#machine.take('session lost', { 'report loss': () => this.#options.events.lost(...cause) });
  }

  /** Only the dialog whose answer media uses may offer before the 2xx. */
  #passUpdateOfFork(request: SrfRequest, response: SrfResponse) {
    const { environment } = this.#options;
    const fork = tagOf(headerOf(request.headers, 'from') ?? '');
    // RFC 3311 section 5.2: this fork has not answered the offer of our INVITE, or is not the one whose answer counts.
    if (fork !== this.#earlyTag && sessionBody(request).kind === 'sdp')
      return respond(environment, response, 491);
    this.#dialog.session.receive('UPDATE', request, response);
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
      this.#options.environment.log.warn({ error: String(error) }, 'an ACK or PRACK was not sent');
    }
  }

  readonly #release = (): void => {
    this.#silence?.cancel();
    this.#dialog.release();
  };
}
