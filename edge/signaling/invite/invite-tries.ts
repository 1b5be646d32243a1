/**
 * The attempts of one outgoing INVITE. Each one satisfies the previous rejection: with credentials for a
 * challenge (RFC 3261 section 22.2) or a longer session interval (RFC 4028 section 7.4).
 */
import type { DialRefusal, DialTarget, LeftOutHeader, OutboundInvite } from '../../call/ports/dialing.ts';
import { maxIntervalTries, readSession } from '../session/session-timer.ts';
import { Authenticator, isChallenge } from '../srf/authenticator.ts';
import type { Environment } from '../srf/environment.ts';
import { type HeaderFields, headerOf } from '../srf/headers.ts';
import { isChallenged, q850Cause, redirectTargets, warningCode, warningText } from '../srf/refusal.ts';
import type { NewRequest, SrfAnswer } from '../srf/srf.ts';
import { inviteOf } from './outbound-invite.ts';

export interface InviteTriesOptions {
  readonly environment: Environment;
  readonly target: DialTarget;
  readonly invite: OutboundInvite;
  readonly fromTag: string;
  /** Called once, with the first attempt. */
  readonly headersLeftOut?: ((headers: readonly LeftOutHeader[]) => void) | undefined;
}

export class InviteTries {
  /** For the whole call. */
  readonly authenticator: Authenticator;
  readonly #options: InviteTriesOptions;
  readonly #authentication: ReturnType<Authenticator['request']>;
  #cseq = 0;
  #expiresS: number;
  #minS: number;
  #intervalTries = 0;

  constructor(options: InviteTriesOptions) {
    const { session, log } = options.environment;
    this.#options = options;
    this.#expiresS = Math.max(session.expiresS, session.minS);
    this.#minS = session.minS;
    this.authenticator = new Authenticator(options.invite.credentials, log);
    this.#authentication = this.authenticator.request();
  }

  next(): NewRequest {
    const { environment, headersLeftOut, target, invite, fromTag } = this.#options;
    const { leftOut, ...message } = inviteOf(environment, target, invite, {
      fromTag,
      cseq: ++this.#cseq,
      expiresS: this.#expiresS,
      minS: this.#minS,
      authorization: this.#authentication.headers,
    });
    if (leftOut.length > 0 && this.#cseq === 1) {
      environment.log.warn({ headers: leftOut }, 'custom headers are not sent');
      headersLeftOut?.(leftOut);
    }
    return message;
  }

  /**
   * Processes a non-2xx final response.
   * @param uri Request-URI that was rejected
   * @returns whether to try again
   */
  another({ status, headers }: Pick<SrfAnswer, 'status' | 'headers'>, uri: string): boolean {
    if (isChallenge(status)) {
      const { offer: body } = this.#options.invite;
      return this.#authentication.take(headers, { method: 'INVITE', uri, body });
    }
    return status === 422 && this.#widen(headers);
  }

  /** What the call learns when there is no further attempt. */
  refusal({ status, reason, headers }: SrfAnswer): DialRefusal {
    const pause = Number.parseInt(headerOf(headers, 'retry-after') ?? '', 10);
    return {
      status,
      reason,
      warning: warningText(headers),
      warningCode: warningCode(headers),
      q850: q850Cause(headers),
      retryAfterS: Number.isFinite(pause) ? pause : null,
      contacts: status < 400 ? redirectTargets(headers) : [],
      challenged: isChallenged(status, headers),
      authenticated: this.authenticator.used,
    };
  }

  #widen(headers: HeaderFields): boolean {
    const { minS } = readSession(headers);
    if (minS === null || minS <= this.#expiresS || ++this.#intervalTries > maxIntervalTries) return false;
    this.#minS = minS;
    this.#expiresS = minS;
    return true;
  }
}
