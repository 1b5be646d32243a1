/**
 * Callers that authenticate by user name and password (RFC 3261 section 22.2):
 *
 *     INVITE -> 401 with a nonce -> INVITE with Authorization -> call, 401 with stale=true, or a rejection
 *
 * Requests in a dialog, ACK and CANCEL are never challenged: they belong to an INVITE that was checked (sections 22.1
 * and 22.3).
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import type { InboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { AuthenticatedSources, type Guesses } from './authenticated-sources.ts';
import { type Credentials, challenge, isMadeWith, readCredentials } from './credentials.ts';
import { Nonces } from './nonces.ts';

export type DigestVerdict =
  | { readonly kind: 'passed'; readonly trunk: InboundTrunk }
  /** `stale`: the credentials are correct, but the nonce is used up. */
  | { readonly kind: 'challenge'; readonly stale: boolean; readonly header: string }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'wrong' };

export interface DigestAttempt {
  readonly method: string;
  /** Value of Authorization. */
  readonly authorization: string | undefined;
  readonly userAgent: string | undefined;
  readonly source: string;
  /** The records of the dialled number; none when it is unknown. */
  readonly trunks: readonly InboundTrunk[];
  /** Signs nonces. */
  readonly key: string;
}

export class DigestGate {
  readonly #nonces: Nonces;
  readonly sources: AuthenticatedSources;
  /** In the place of the password that an unknown user has not, so that its rejection takes the same time. */
  readonly #nobody = randomBytes(24).toString('base64');

  constructor(clock: Clock, guesses: Guesses) {
    this.#nonces = new Nonces(clock);
    this.sources = new AuthenticatedSources(clock, guesses);
  }

  /** Judges an INVITE. It uses up the nonce count of correct credentials: call it once for each request. */
  judge({ method, authorization, userAgent, source, trunks, key }: DigestAttempt): DigestVerdict {
    const challenged = (stale: boolean): DigestVerdict => {
      return { kind: 'challenge', stale, header: challenge(this.#nonces.issue(key), stale, userAgent) };
    };
    const credentials = readCredentials(authorization);
    if (credentials === 'none') return challenged(false);
    if (credentials === 'malformed') return { kind: 'malformed' };
    const trunk = trunks.find(({ digest }) => digest?.username === credentials.username);
    if (!this.#isCorrect(credentials, method, source, trunk) || !trunk) return { kind: 'wrong' };
    // Also a nonce that is not ours, such as one of before a change of the key: the password is right.
    if (!this.#nonces.use(key, credentials.nonce, Number.parseInt(credentials.nc, 16)))
      return challenged(true);
    this.sources.passed(source);
    return { kind: 'passed', trunk };
  }

  #isCorrect(
    credentials: Credentials,
    method: string,
    source: string,
    trunk: InboundTrunk | undefined,
  ): boolean {
    const correct = isMadeWith(credentials, method, trunk?.digest?.password ?? this.#nobody);
    if (!trunk || !this.sources.mayTry(source, trunk.id)) return false;
    if (!correct) this.sources.failed(source, trunk.id);
    return correct;
  }
}
