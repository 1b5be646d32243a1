/** HTTP digest authentication as SIP uses it (RFC 7616, RFC 8760, RFC 3261 section 22.4). Pure. */
import { createHash } from 'node:crypto';

const hashes = { 'SHA-512-256': 'sha512-256', 'SHA-256': 'sha256', MD5: 'md5' } as const;
export type DigestHash = keyof typeof hashes;

/** Higher is stronger. */
export const strength: Readonly<Record<DigestHash, number>> = { 'SHA-512-256': 3, 'SHA-256': 2, MD5: 1 };

export interface Challenge {
  /** As written between its quotes. */
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | null;
  /** As written; null: MD5. */
  readonly algorithm: string | null;
  /** In lower case; null: the old form without qop. */
  readonly qop: readonly string[] | null;
  readonly stale: boolean;
}

/**
 * The digest challenges of WWW-Authenticate or Proxy-Authenticate, whose repeated lines are joined by commas.
 * Challenges of other schemes, and those without realm or nonce, are ignored.
 */
export function parseChallenges(value: string): Challenge[] {
  return parseDigests(value).flatMap((found) => challengeOf(found));
}

/** The parameters of each digest challenge, or of each digest of Authorization, by name in lower case. */
export function parseDigests(value: string): ReadonlyMap<string, string>[] {
  const challenges: Map<string, string>[] = [];
  let parameters: Map<string, string> | null = null;
  const word = /[\s,]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/gy;
  for (let match = word.exec(value); match; match = word.exec(value)) {
    const [, name = '', quoted, bare] = match;
    const text = quoted ?? bare;
    if (text !== undefined) {
      parameters?.set(name.toLowerCase(), text);
    } else {
      parameters = name.toLowerCase() === 'digest' ? new Map() : null;
      if (parameters) challenges.push(parameters);
    }
  }
  return challenges;
}

function challengeOf(found: ReadonlyMap<string, string>): Challenge[] {
  const realm = found.get('realm');
  const nonce = found.get('nonce');
  if (realm === undefined || nonce === undefined) return [];
  const qop = found.get('qop');
  return [
    {
      realm,
      nonce,
      opaque: found.get('opaque') ?? null,
      algorithm: found.get('algorithm') ?? null,
      qop: qop === undefined ? null : qop.toLowerCase().split(/[\s,]+/),
      stale: found.get('stale')?.toLowerCase() === 'true',
    },
  ];
}

/** The hash that a challenge requires; null when unsupported. */
export function hashOf({ algorithm }: Pick<Challenge, 'algorithm'>): DigestHash | null {
  const name = (algorithm ?? 'MD5').toUpperCase().replace(/-SESS$/, '');
  return name === 'SHA-512-256' || name === 'SHA-256' || name === 'MD5' ? name : null;
}

/**
 * The strongest supported challenge, the first among equals; null when there is none.
 * @param realm the only one to answer; null: any
 */
export function strongest(challenges: readonly Challenge[], realm: string | null): Challenge | null {
  let best: Challenge | null = null;
  let bestStrength = 0;
  for (const challenge of challenges) {
    const hash = hashOf(challenge);
    if (hash === null || (realm !== null && challenge.realm !== realm)) continue;
    if (challenge.qop !== null && protectionOf(challenge.qop) === null) continue;
    if (strength[hash] <= bestStrength) continue;
    best = challenge;
    bestStrength = strength[hash];
  }
  return best;
}

/** The strongest supported challenge of each realm (RFC 3261 section 22.3). @param realm as above */
export function strongestOfEach(challenges: readonly Challenge[], realm: string | null): Challenge[] {
  const realms = new Set(challenges.map((challenge) => challenge.realm));
  return [...realms].flatMap((one) =>
    realm === null || realm === one ? (strongest(challenges, one) ?? []) : [],
  );
}

/** The `qop` to use: the body is protected only when nothing else is accepted. */
function protectionOf(qop: readonly string[]): 'auth' | 'auth-int' | null {
  if (qop.includes('auth')) return 'auth';
  return qop.includes('auth-int') ? 'auth-int' : null;
}

/** What the value of `response` is calculated from. */
export interface DigestInput extends Omit<DigestRequest, 'nonceCount'> {
  readonly hash: DigestHash;
  readonly realm: string;
  readonly nonce: string;
  /** Eight hexadecimal digits. */
  readonly nc: string;
  /** null: the old form without qop. */
  readonly protection: 'auth' | 'auth-int' | null;
  readonly session: boolean;
}

/** RFC 7616 section 3.4.1, in hexadecimal digits of lower case. */
export function digestResponse(input: DigestInput): string {
  const { hash, realm, nonce, nc, cnonce, protection, session, username, password, method, uri } = input;
  const digest = (text: string) => createHash(hashes[hash]).update(text, 'utf8').digest('hex');
  const secret = digest(`${username}:${realm}:${password}`);
  const ha1 = session ? digest(`${secret}:${nonce}:${cnonce}`) : secret;
  // RFC 7616 section 3.4.3.
  const ha2 = digest(`${method}:${uri}${protection === 'auth-int' ? `:${digest(input.body)}` : ''}`);
  return protection === null
    ? digest(`${ha1}:${nonce}:${ha2}`)
    : digest(`${ha1}:${nonce}:${nc}:${cnonce}:${protection}:${ha2}`);
}

export interface DigestRequest {
  readonly username: string;
  readonly password: string;
  readonly method: string;
  /** The Request-URI. */
  readonly uri: string;
  readonly body: string;
  /** How often this nonce has been used, including this time. */
  readonly nonceCount: number;
  readonly cnonce: string;
}

/** Value of Authorization or Proxy-Authorization. @throws RangeError for an algorithm unknown to `hashOf` */
export function authorization(challenge: Challenge, request: DigestRequest): string {
  const hash = hashOf(challenge);
  if (hash === null) throw new RangeError(`digest algorithm ${challenge.algorithm} is not supported`);
  const { realm, nonce, opaque, algorithm, qop } = challenge;
  const { username, uri, cnonce } = request;
  const protection = qop === null ? null : protectionOf(qop);
  const session = /-sess$/i.test(algorithm ?? '');
  const nc = request.nonceCount.toString(16).padStart(8, '0');
  const response = digestResponse({ ...request, hash, realm, nonce, nc, protection, session });
  const parts = [
    `username="${username.replace(/[\\"]/g, '\\$&')}"`,
    `realm="${realm}"`,
    `nonce="${nonce}"`,
    `uri="${uri}"`,
    `response="${response}"`,
  ];
  if (algorithm !== null) parts.push(`algorithm=${algorithm}`);
  if (opaque !== null) parts.push(`opaque="${opaque}"`);
  if (protection !== null) parts.push(`qop=${protection}`, `nc=${nc}`);
  if (protection !== null || session) parts.push(`cnonce="${cnonce}"`);
  return `Digest ${parts.join(', ')}`;
}
