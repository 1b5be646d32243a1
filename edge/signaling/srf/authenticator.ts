/**
 * Answers the challenges of one trunk within one call: which challenges, how often, with which nonce count.
 *
 *     401/407 -> strongest digest of each realm -> once per request, and once more when its nonce was stale
 *
 * A proxy and the server behind it may challenge one after the other or, when a proxy has forked, in one
 * response (RFC 3261 sections 16.7 and 22.3): each realm gets its own credentials. A realm answered with SHA-256
 * is not answered with MD5 later (RFC 8760 section 4: no downgrade).
 */
import { randomBytes } from 'node:crypto';
import type { Log } from '../../call/log.ts';
import type { TrunkCredentials } from '../../call/ports/dialing.ts';
import {
  authorization,
  type Challenge,
  type DigestRequest,
  hashOf,
  parseChallenges,
  strength,
  strongestOfEach,
} from './digest.ts';
import { type HeaderFields, headerOf } from './headers.ts';

/** The headers of a challenge and of its answer (RFC 3261 sections 22.2 and 22.3). */
const authHeaders = [
  { challenge: 'www-authenticate', answer: 'Authorization' },
  { challenge: 'proxy-authenticate', answer: 'Proxy-Authorization' },
] as const;

/** Maximum number of realms answered per trunk, in case a peer never stops challenging. */
const maxRealms = 8;

export function isChallenge(status: number): status is 401 | 407 {
  return status === 401 || status === 407;
}

/** The request that was challenged. */
export type ChallengedRequest = Pick<DigestRequest, 'method' | 'uri' | 'body'>;

/** One request with all its attempts. */
export interface AuthenticatedRequest {
  /** Authorization headers for the next attempt, including those for earlier challenges. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Processes the challenges of a 401 or 407.
   * @returns whether to retry the request, now with `headers`
   */
  take(headers: HeaderFields, request: ChallengedRequest): boolean;
}

/** State of a realm behind one of the two headers. */
interface Space {
  readonly nonce: string;
  readonly nonceCount: number;
  /** Strength of the last digest that was used. */
  readonly floor: number;
}

interface Answer {
  readonly name: (typeof authHeaders)[number]['answer'];
  readonly value: string;
  /** Whether it answers a stale nonce. */
  readonly renewed: boolean;
}

export class Authenticator {
  readonly #credentials: TrunkCredentials | null;
  readonly #log: Log;
  readonly #cnonce: () => string;
  readonly #spaces = new Map<string, Space>();
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
    const answers = new Map<string, Answer>();
    return {
      headers,
      take: (received, request) => {
        const taken = this.#take(answers, received, request);
        if (taken) Object.assign(headers, headersOf([...answers.values()]));
        return taken;
      },
    };
  }

  #take(answers: Map<string, Answer>, received: HeaderFields, request: ChallengedRequest): boolean {
    const realm = this.#credentials?.realm ?? null;
    let any = false;
    let worth = false;
    for (const { challenge: header, answer: name } of authHeaders) {
      for (const challenge of strongestOfEach(parseChallenges(headerOf(received, header) ?? ''), realm)) {
        any = true;
        const key = `${name} ${challenge.realm}`;
        const before = answers.get(key);
        // A second challenge without `stale` means that the credentials are wrong (RFC 7616 section 3.3).
        if (before && (!challenge.stale || before.renewed)) return false;
        const value = this.#answer(key, challenge, request);
        if (value === null) continue;
        answers.set(key, { name, value, renewed: before !== undefined });
        worth = true;
      }
    }
    if (!any && this.#credentials) {
      this.#log.warn({ realm }, 'unsupported challenge from the trunk');
    }
    return worth;
  }

  #answer(key: string, challenge: Challenge, request: ChallengedRequest): string | null {
    const hash = hashOf(challenge);
    const known = this.#spaces.get(key);
    if (!this.#credentials || !hash || (!known && this.#spaces.size >= maxRealms)) return null;
    const { realm, nonce } = challenge;
    if (strength[hash] < (known?.floor ?? 0)) {
      this.#log.warn({ realm, algorithm: hash }, 'the trunk requires a weaker digest than before');
      return null;
    }
    if (hash === 'MD5' && !known) this.#log.info({ realm }, 'the trunk offers no digest better than MD5');
    const nonceCount = known?.nonce === nonce ? known.nonceCount + 1 : 1;
    this.#spaces.set(key, { nonce, nonceCount, floor: strength[hash] });
    this.#used = true;
    const { username, password } = this.#credentials;
    return authorization(challenge, { ...request, username, password, nonceCount, cnonce: this.#cnonce() });
  }
}

/**
 * Several credentials with the same header name need separate lines, never a comma list (RFC 3261 section 7.3.1).
 * drachtio-srf accepts one value per name and writes it unchanged.
 */
function headersOf(answers: readonly Answer[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { name, value } of answers) {
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}\r\n${name}: ${value}`;
  }
  return headers;
}
