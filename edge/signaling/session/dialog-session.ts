/**
 * The session in a dialog after its first offer and answer: re-INVITE and UPDATE from either side, their
 * collisions, and the session timer. The same for inbound and outbound dialogs.
 */

import type { Timer } from '#shared/clock.ts';
import { endsDialog } from '#shared/sip-status.ts';
import type { LegEvents, OfferNeed } from '../../call/ports/signaling.ts';
import { CallRefused } from '../../call/refused.ts';
import { capabilities, type Environment, respond } from '../srf/environment.ts';
import { accept, type HeaderFields, headerOf, unsupportedTags, warningOf } from '../srf/headers.ts';
import type { SrfAnswer, SrfRequest, SrfResponse } from '../srf/srf.ts';
import type { DialogRequest } from './dialog-request.ts';
import { collision, type Exchanges, glarePauseMs, retryAfterOverlap } from './glare.ts';
import { Peer } from './peer.ts';
import { type SessionBody, sessionBody } from './session-body.ts';
import {
  answerSession,
  maxIntervalTries,
  readSession,
  runOfAnswer,
  type SessionAnswer,
  type SessionRun,
  SessionTimer,
  sessionHeaders,
} from './session-timer.ts';

/** What the session needs from its dialog. */
export interface SessionDialog {
  readonly environment: Environment;
  readonly events: Pick<LegEvents, 'lost' | 'reanswer' | 'reoffer' | 'reaccept' | 'withdrawn'>;
  /** Our Contact; null: the engine adds its own. */
  readonly contact: () => string | null;
  /** Whether our side chose the Call-ID. */
  readonly ownsCallId: boolean;
  /** Sends a request in the dialog. */
  send(request: DialogRequest): void;
}

type Exchange = 'INVITE' | 'UPDATE';

/** Share of the interval after which we refresh: a drachtio-server does at half of it, or up to 5 s before. */
const beforeServer = 0.4;
/** Pause before a refresh is retried after a collision other than 491, and the minimum pause, ms. */
const retryPauseMs = 1_000;
/** Pause after a 500 or 503 without Retry-After, and the maximum pause in a session that does not expire, ms. */
const unavailablePauseMs = 10_000;
const longestPauseMs = 60_000;

export class DialogSession {
  readonly #dialog: SessionDialog;
  readonly #timer: SessionTimer;
  readonly #now: { -readonly [Key in keyof Exchanges]: Exchanges[Key] };
  /** What is known about the peer from its messages. */
  readonly peer = new Peer();
  #updateRefused = false;
  #minS = 0;
  /** Consecutive 422s. */
  #intervalTries = 0;
  /** Whether the next refresh carries an offer, whatever the peer supports. */
  #offerDue: OfferNeed | null = null;
  /** The same of the offer that is on its way. */
  #offerSent: OfferNeed | null = null;
  #retry: Timer | null = null;
  #stopped = false;

  constructor(dialog: SessionDialog) {
    this.#dialog = dialog;
    this.#now = {
      // Who sends the first INVITE chooses the Call-ID.
      ourInvite: dialog.ownsCallId,
      negotiated: false,
      acknowledged: false,
      ourOffer: false,
      ourLateOffer: false,
      theirRequest: false,
    };
    this.#timer = new SessionTimer(
      dialog.environment.clock,
      () => this.#refresh(),
      () => dialog.events.lost('session_expired', 'The session was not refreshed in time.'),
      () => (dialog.environment.engineIsEmbedded() ? 0.5 : beforeServer),
    );
  }

  /** Our 200 to the first INVITE has been sent. @param theirs headers of that INVITE */
  answered(theirs: HeaderFields, lateOffer: boolean, session: SessionAnswer) {
    this.#now.negotiated = true;
    this.#now.ourLateOffer = lateOffer;
    this.peer.learn(theirs);
    this.#timer.restart(runOf(session));
  }

  /** A reliable provisional response answered our first offer: both sides may offer again (RFC 3311 section 5.1). */
  negotiatedEarly() {
    this.#now.negotiated = true;
  }

  /** The 200 to our first INVITE has arrived, and its ACK has been sent. @param theirs headers of that 200 */
  established(theirs: HeaderFields) {
    this.#now.negotiated = true;
    this.#now.acknowledged = true;
    this.peer.learn(theirs);
    this.#timer.restart(runOfAnswer(readSession(theirs), null));
  }

  /** Sends a new offer as soon as no other exchange is pending. */
  renegotiate(need: OfferNeed) {
    if (this.#offerDue !== 'required') this.#offerDue = need;
    this.#refresh();
  }

  /** The ACK to the first 200; the call processes its body. */
  acknowledgedFirst() {
    this.#now.acknowledged = true;
    this.#now.ourLateOffer = false;
  }

  /** The ACK to the 200 of a re-INVITE. */
  acknowledged(request: SrfRequest) {
    const expectsAnswer = this.#now.ourLateOffer;
    this.acknowledgedFirst();
    if (!expectsAnswer) return;
    this.#acceptAnswer(sessionBody(request), null);
  }

  /** A re-INVITE or UPDATE from the peer. */
  receive(method: Exchange, request: SrfRequest, response: SrfResponse) {
    const { environment, events } = this.#dialog;
    const unsupported = unsupportedTags(headerOf(request.headers, 'require'));
    if (unsupported.length > 0) {
      return respond(environment, response, 420, { headers: { Unsupported: unsupported.join(', ') } });
    }
    const body = sessionBody(request);
    if (body.kind === 'other') return respond(environment, response, 415, { headers: { Accept: accept } });
    const clash = collision(method, body.kind === 'sdp', this.#now);
    if (clash !== null) {
      const headers = { 'Retry-After': String(retryAfterOverlap(environment.random())) };
      return respond(environment, response, clash, clash === 500 ? { headers } : {});
    }
    const session = answerSession(readSession(request.headers), environment.session, this.#unnamedRefresher);
    if (session.kind === 'too_small') {
      return respond(environment, response, 422, { headers: { 'Min-SE': String(session.minS) } });
    }
    const agree = (sdp: string | undefined) => {
      // A rejected request changes nothing (RFC 3261 section 12.2.2).
      this.peer.learn(request.headers);
      this.#agree(method, response, session, sdp);
    };
    if (method === 'UPDATE' && body.kind === 'none') return agree(undefined);
    this.#now.theirRequest = true;
    const work = body.kind === 'sdp' ? events.reanswer(body.sdp) : events.reoffer();
    work.then(
      (sdp) => {
        this.#now.theirRequest = false;
        if (this.#stopped) return respond(environment, response, 487);
        this.#now.ourLateOffer = body.kind === 'none';
        agree(sdp);
      },
      (error: unknown) => {
        this.#now.theirRequest = false;
        this.#refuse(response, error);
      },
    );
  }

  /** Stops sending. */
  stop() {
    this.#stopped = true;
    this.#timer.stop();
    this.#retry?.cancel();
    this.#retry = null;
  }

  #agree(method: Exchange, response: SrfResponse, session: SessionAnswer, sdp: string | undefined) {
    const { environment, contact } = this.#dialog;
    if (method === 'INVITE') this.#now.acknowledged = false;
    const headers = {
      ...contactHeader(contact()),
      ...capabilities(),
      ...sessionHeaders(session),
      ...(sdp === undefined ? {} : { 'Content-Type': 'application/sdp' }),
    };
    respond(environment, response, 200, { headers, ...(sdp === undefined ? {} : { body: sdp }) }, (error) => {
      if (this.#stopped) return;
      if (!error) return this.#refreshedByPeer(session);
      // A CANCEL crossed the 200: no ACK will arrive.
      this.acknowledgedFirst();
      environment.log.warn({ error: String(error) }, 'the answer to a re-INVITE was not sent');
    });
  }

  /** A refresh of ours that waits for its next try is no longer needed, unless it carries a new offer. */
  #refreshedByPeer(session: SessionAnswer) {
    this.#timer.restart(runOf(session));
    if (!this.#offerDue) this.#retry?.cancel();
  }

  /** The session stays unchanged (RFC 3261 section 14.2). */
  #refuse(response: SrfResponse, error: unknown) {
    const { environment } = this.#dialog;
    if (this.#stopped) return respond(environment, response, 487);
    if (!(error instanceof CallRefused)) {
      environment.log.error({ err: error }, 'a session change failed');
      return respond(environment, response, 500);
    }
    const warning = error.warning ?? error.message;
    const headers = { Warning: warningOf(environment.warnAgent, warning) };
    respond(environment, response, error.sipStatus, { headers });
  }

  /** A drachtio-server sends a re-INVITE itself unless ours comes before it: an UPDATE of ours does not count. */
  get #refreshesByUpdate(): boolean {
    return (
      this.#dialog.environment.engineIsEmbedded() &&
      !this.#updateRefused &&
      this.peer.takes('update') === true
    );
  }

  /** Who refreshes when the peer's refresh does not say; a drachtio-server takes it for the other side. */
  get #unnamedRefresher(): 'uac' | 'uas' {
    const isOurs = this.#dialog.environment.engineIsEmbedded() || this.#timer.run?.weRefresh === true;
    return isOurs ? 'uac' : 'uas';
  }

  // ---------------------------------------------------------------- our refreshes

  #later(ms: number) {
    this.#retry?.cancel();
    this.#retry = this.#dialog.environment.clock.after(ms, () => this.#refresh());
  }

  #refresh() {
    if (this.#stopped) return;
    this.#retry = null;
    const { theirRequest, acknowledged, ourOffer, ourLateOffer } = this.#now;
    if (theirRequest || !acknowledged || ourOffer || ourLateOffer) return this.#later(retryPauseMs);
    if (this.#refreshesByUpdate && !this.#offerDue) return this.#send('UPDATE', undefined);
    this.#now.ourOffer = true;
    // A change that is ordered from here on needs an offer of its own.
    this.#offerSent = this.#offerDue;
    this.#offerDue = null;
    this.#dialog.events.reoffer().then(
      (sdp) => {
        if (!this.#stopped) this.#send('INVITE', sdp);
      },
      (error: unknown) => {
        this.#now.ourOffer = false;
        this.#offerAgain(this.#offerSent);
        if (this.#stopped) return;
        if (error instanceof CallRefused) return this.#later(retryPauseMs);
        this.#dialog.environment.log.error({ err: error }, 'no offer for a session refresh');
      },
    );
  }

  #send(method: Exchange, sdp: string | undefined) {
    const { environment, contact } = this.#dialog;
    const expiresS = Math.max(this.#timer.run?.expiresS ?? environment.session.expiresS, this.#minS);
    const headers: Record<string, string> = {
      ...contactHeader(contact()),
      'User-Agent': environment.software,
      ...capabilities(),
      'Session-Expires': `${expiresS};refresher=uac`,
      ...(this.#minS > 0 ? { 'Min-SE': String(this.#minS) } : {}),
      ...(sdp === undefined ? {} : { 'Content-Type': 'application/sdp' }),
    };
    this.#dialog.send({
      method,
      headers,
      body: sdp,
      answered: (answer, ack) => this.#refreshed(method, expiresS, answer, ack),
      failed: (error) => {
        this.#now.ourOffer = false;
        this.#offerAgain(this.#offerSent);
        this.#withdraw(method);
        environment.log.warn({ error: error.message }, 'a session refresh was not sent');
      },
    });
  }

  #refreshed(method: Exchange, expiresS: number, answer: SrfAnswer, ack: () => void) {
    this.#now.ourOffer = false;
    const { environment, events, ownsCallId } = this.#dialog;
    const offered = this.#offerSent;
    if (answer.status < 300) {
      if (method === 'INVITE') {
        ack();
        this.#offerSent = null;
      }
      if (this.#stopped) return;
      this.peer.learn(answer.headers);
      this.#intervalTries = 0;
      this.#timer.restart(runOfAnswer(readSession(answer.headers), expiresS));
      if (method === 'INVITE') this.#acceptAnswer(sessionBody(answer), offered);
      return;
    }
    if (this.#stopped) return;
    environment.log.info({ method, sip_status: answer.status }, 'session refresh rejected');
    this.#offerSent = null;
    this.#withdraw(method);
    // RFC 4028 section 10: the peer no longer has the dialog, or is gone.
    if (endsDialog(answer.status))
      return events.lost('session_expired', `The peer answered a session refresh with ${answer.status}.`);
    const again = (ms: number) => {
      this.#offerAgain(offered);
      this.#later(ms);
    };
    switch (answer.status) {
      case 491:
        return again(glarePauseMs(ownsCallId, environment.random()));
      case 422: {
        const minS = readSession(answer.headers).minS ?? 0;
        if (minS <= expiresS || ++this.#intervalTries > maxIntervalTries) break;
        this.#minS = minS;
        return again(0);
      }
      case 405:
      case 501:
        if (method === 'INVITE') break;
        this.#updateRefused = true;
        return this.#later(0);
      case 500:
      case 503:
        return again(this.#pauseOf(answer));
    }
    // Otherwise the session continues unchanged until it expires.
    if (offered === 'required')
      events.lost('bad_answer', `The peer answered our new offer with ${answer.status}.`);
  }

  /** What was offered is not answered; the next try makes an offer of its own. */
  #withdraw(method: Exchange) {
    if (method === 'INVITE' && !this.#stopped) this.#dialog.events.withdrawn?.();
  }

  #offerAgain(offered: OfferNeed | null) {
    if (offered !== null && this.#offerDue !== 'required') this.#offerDue = offered;
  }

  /** The pause that a rejection requests, limited to the remaining session time, ms. */
  #pauseOf({ headers }: SrfAnswer): number {
    const askedS = Number.parseInt(headerOf(headers, 'retry-after') ?? '', 10);
    const pauseMs = Number.isFinite(askedS) ? askedS * 1000 : unavailablePauseMs;
    return Math.max(retryPauseMs, Math.min(pauseMs, this.#timer.leftMs ?? longestPauseMs));
  }

  /**
   * Without an answer, which RFC 3261 section 13.2.1 requires, an offer changes nothing, as after a rejection.
   * @param body of the 2xx or ACK that contains the answer to our offer
   * @param need of that offer; null: the peer asked for it, or it refreshes the session
   */
  #acceptAnswer(body: SessionBody, need: OfferNeed | null): void {
    const { environment, events } = this.#dialog;
    if (body.kind !== 'sdp') {
      this.#withdraw('INVITE');
      if (need === 'required') events.lost('bad_answer', 'The peer gave no answer to our new offer.');
      else environment.log.info({ body: body.kind }, 'the peer gave no answer to our new offer');
      return;
    }
    events.reaccept(body.sdp).catch((error: unknown) => {
      const detail = error instanceof Error ? error.message : String(error);
      events.lost('bad_answer', detail);
    });
  }
}

function contactHeader(contact: string | null): Record<string, string> {
  return contact === null ? {} : { Contact: contact };
}

/** The session from here on, from the view of the UAS of the transaction that set it. */
function runOf(session: SessionAnswer): SessionRun | null {
  if (session.kind !== 'timer') return null;
  return { expiresS: session.expiresS, weRefresh: session.refresher === 'uas' };
}
