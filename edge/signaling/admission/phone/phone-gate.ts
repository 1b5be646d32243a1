/**
 * Browsers that authenticate with the credentials of a phone session (shared/phone-session.ts), over WSS:
 *
 *     INVITE -> 401 with a nonce -> INVITE with Authorization -> call, 401 with stale=true, or a rejection
 *
 * The edge knows the organization's keys, and asks nobody.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import type { OrgPhones } from '#shared/edge-protocol/config.ts';
import { type PhoneClaims, phonePassword, readPhoneUsername } from '#shared/phone-session.ts';
import type { RefusalReason } from '#shared/refusals.ts';
import { type Credentials, isMadeWith, md5Challenge, readCredentials } from '../digest/credentials.ts';
import { Nonces } from '../digest/nonces.ts';
import type { PhoneAgent } from './phone-agents.ts';
import { PhoneUses } from './phone-uses.ts';

export type PhoneRefusal = Extract<RefusalReason, `phone_session_${string}`>;

export type PhoneVerdict =
  | { readonly kind: 'passed'; readonly claims: PhoneClaims }
  /** `stale`: the credentials are correct, but the nonce is used up. */
  | { readonly kind: 'challenge'; readonly stale: boolean; readonly header: string }
  | { readonly kind: 'malformed' }
  /** `claims`: null before the password was right. */
  | { readonly kind: 'refused'; readonly reason: PhoneRefusal; readonly claims: PhoneClaims | null };

export interface PhoneAttempt {
  readonly method: string;
  /** Value of Authorization. */
  readonly authorization: string | undefined;
  /** The number that is called, E.164 with plus, or what else was dialled. */
  readonly number: string;
}

/** What the gate knows of the edge and its organizations. */
export interface PhoneSetUp {
  readonly edgeId: string;
  /** undefined: the organization is unknown or disabled, or has no phones. */
  phonesOf(orgId: string): OrgPhones | undefined;
  /** The agent that a session is for; undefined: control has told none, or it was before the edge's last start. */
  agentOf(sessionId: string): PhoneAgent | undefined;
}

export class PhoneGate {
  readonly #clock: Clock;
  readonly #setUp: PhoneSetUp;
  readonly #nonces: Nonces;
  /** No other edge accepts the nonces: the connection is to this one. */
  readonly #nonceKey = randomBytes(32).toString('base64');
  readonly uses: PhoneUses;

  constructor(clock: Clock, setUp: PhoneSetUp) {
    this.#clock = clock;
    this.#setUp = setUp;
    this.#nonces = new Nonces(clock);
    this.uses = new PhoneUses(clock);
  }

  /** The agent of a session that is for an agent. */
  agentOf({ id, agent }: PhoneClaims): PhoneAgent | undefined {
    return agent ? this.#setUp.agentOf(id) : undefined;
  }

  /** Judges an INVITE. It uses up the nonce count of correct credentials: call it once for each request. */
  judge({ method, authorization, number }: PhoneAttempt): PhoneVerdict {
    const credentials = readCredentials(authorization);
    if (credentials === 'none') return this.#challenge(false);
    if (credentials === 'malformed') return { kind: 'malformed' };
    const claims = readPhoneUsername(credentials.username);
    if (!claims || !this.#isCorrect(credentials, method, claims))
      return { kind: 'refused', reason: 'phone_session_wrong', claims: null };
    if (!this.#nonces.use(this.#nonceKey, credentials.nonce, Number.parseInt(credentials.nc, 16)))
      return this.#challenge(true);
    const reason = this.#obstacle(claims, number);
    return reason === null ? { kind: 'passed', claims } : { kind: 'refused', reason, claims };
  }

  /**
   * One line with MD5: sip.js and JsSIP know nothing else, and sip.js 0.21 gives up at a second line. The password has 256
   * random bits, so nobody finds it by trying, whatever the algorithm.
   */
  #challenge(stale: boolean): PhoneVerdict {
    return { kind: 'challenge', stale, header: md5Challenge(this.#nonces.issue(this.#nonceKey), stale) };
  }

  #isCorrect(credentials: Credentials, method: string, claims: PhoneClaims): boolean {
    const key = this.#setUp
      .phonesOf(claims.org_id)
      ?.keys.find(({ generation }) => generation === claims.generation);
    if (!key || (key.until !== undefined && claims.expires_at > key.until)) return false;
    return isMadeWith(credentials, method, phonePassword(key.key, credentials.username));
  }

  #obstacle(claims: PhoneClaims, number: string): PhoneRefusal | null {
    if (claims.expires_at <= this.#clock.now()) return 'phone_session_expired';
    if (this.#setUp.phonesOf(claims.org_id)?.revoked.includes(claims.id)) return 'phone_session_revoked';
    if (claims.edge_id !== this.#setUp.edgeId) return 'phone_session_elsewhere';
    const state = this.uses.state(claims);
    if (state === 'unknown') return 'phone_session_elsewhere';
    if (state === 'used_up') return 'phone_session_used_up';
    if (claims.agent && !this.agentOf(claims)) return 'phone_session_elsewhere';
    return claims.number === number ? null : 'phone_session_other_number';
  }
}
