/**
 * Answers the challenges of one trunk within one call: which challenge, how often, with which nonce count.
 *
 *     401/407 -> strongest digest offered -> once per request, and once more when its nonce was stale
 *
 * What was answered with SHA-256 is not answered with MD5 later (RFC 8760 section 4: no downgrade).
 */
import { randomBytes } from 'node:crypto';
import type { Log } from '../call/log.ts';
import type { TrunkCredentials } from '../call/ports/dialing.ts';
import { authorization, hashOf, parseChallenges, strength, strongest } from './digest.ts';
import { type HeaderFields, headerOf } from './headers.ts';

/** Where a challenge stands and where its answer goes (RFC 3261 sections 22.2 and 22.3). */
const places = {
  401: { challenge: 'www-authenticate', answer: 'Authorization' },
  407: { challenge: 'proxy-authenticate', answer: 'Proxy-Authorization' },
} as const;

export function isChallenge(status: number): status is 401 | 407 {
  return status === 401 || status === 407;
}

/** One request with all its tries. */
export interface AuthenticatedRequest {
  /** Authorization headers for the next try; those of challenges answered before are among them. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Takes a challenge.
   * @param uri Request-URI of the request that was challenged
   * @returns whether the request is worth another try, now with `headers`
   */
  take(status: 401 | 407, headers: HeaderFields, method: string, uri: string): boolean;
}

export class Authenticator {
  readonly #credentials: TrunkCredentials | null;
  readonly #log: Log;
  readonly #cnonce: () => string;
  #nonce = '';
  #nonceCount = 0;
  #floor = 0;
  #used = false;

  constructor(
    credentials: TrunkCredentials | null,
    log: Log,
    cnonce = () => randomBytes(16).toString('hex'),
  ) {
    this.#credentials = credentials;
    this.#log = log;
    this.#cnonce = cnonce;
  }

  /** Whether credentials were ever sent. */
  get used(): boolean {
    return this.#used;
  }

  request(): AuthenticatedRequest {
    const headers: Record<string, string> = {};
    const stale = new Set<string>();
    return {
      headers,
      take: (status, received, method, uri) => {
        const { challenge, answer } = places[status];
        const repeated = answer in headers;
        const value = this.#answer(
          headerOf(received, challenge) ?? '',
          method,
          uri,
          repeated,
          stale.has(answer),
        );
        if (value === null) return false;
        if (repeated) stale.add(answer);
        headers[answer] = value;
        return true;
      },
    };
  }

  #answer(value: string, method: string, uri: string, repeated: boolean, wasStale: boolean): string | null {
    if (!this.#credentials) return null;
    const { username, password, realm } = this.#credentials;
    const challenge = strongest(parseChallenges(value), realm);
    const hash = challenge && hashOf(challenge);
    if (!challenge || !hash) {
      this.#log.warn({ realm }, 'the challenge of the trunk is none that can be answered');
      return null;
    }
    // A second challenge without `stale` says that the credentials are wrong (RFC 7616 section 3.3).
    if (repeated && (!challenge.stale || wasStale)) return null;
    if (strength[hash] < this.#floor) {
      this.#log.warn(
        { realm: challenge.realm, algorithm: hash },
        'the trunk asks for a weaker digest than before',
      );
      return null;
    }
    if (hash === 'MD5' && !this.#used) {
      this.#log.info({ realm: challenge.realm }, 'the trunk offers no digest better than MD5');
    }
    this.#floor = strength[hash];
    this.#used = true;
    this.#nonceCount = challenge.nonce === this.#nonce ? this.#nonceCount + 1 : 1;
    this.#nonce = challenge.nonce;
    return authorization(challenge, {
      username,
      password,
      method,
      uri,
      nonceCount: this.#nonceCount,
      cnonce: this.#cnonce(),
    });
  }
}
