/** Reads the Authorization header of a caller, and checks it against a password (RFC 7616, RFC 8760). Pure. */
import { timingSafeEqual } from 'node:crypto';
import { digestRealm } from '#shared/edge-protocol/numbers.ts';
import { digestResponse, hashOf, parseDigests } from '../../srf/digest.ts';

/**
 * The algorithms that a challenge offers. RFC 8760 section 2.4 wants the best one first, but PBXs that know MD5 alone
 * (Asterisk 18, FreeSWITCH 1.10.6, PJSIP 2.10) give up when the first line is of another. One that knows both may choose
 * SHA-256. MD5 is weak where others see the digest, and all of our connections are TLS.
 */
const offered = ['MD5', 'SHA-256'] as const;

export interface Credentials {
  readonly username: string;
  readonly nonce: string;
  readonly uri: string;
  readonly hash: (typeof offered)[number];
  readonly cnonce: string;
  /** Eight hexadecimal digits. */
  readonly nc: string;
  /** In lower case. */
  readonly response: string;
}

/**
 * The credentials for our realm. Those for other realms are meant for others on the request's way (RFC 3261 section
 * 22.3).
 * @param header value of Authorization, repeated lines joined by commas
 */
export function readCredentials(header: string | undefined): Credentials | 'none' | 'malformed' {
  const found = parseDigests(header ?? '').find((one) => one.get('realm') === digestRealm);
  if (!found) return 'none';
  const name = found.get('algorithm') ?? null;
  const algorithm = hashOf({ algorithm: name });
  const hash = offered.find((one) => one === algorithm);
  const [username, nonce, uri, cnonce] = ['username', 'nonce', 'uri', 'cnonce'].map((key) => found.get(key));
  const nc = found.get('nc')?.toLowerCase() ?? '';
  const response = found.get('response')?.toLowerCase() ?? '';
  // We offer `auth` alone, and no -sess algorithm. Without qop nothing could tell a repeated request.
  const answersUs = found.get('qop')?.toLowerCase() === 'auth' && !/-sess$/i.test(name ?? '');
  const isComplete = username !== undefined && nonce !== undefined && uri !== undefined && !!cnonce;
  if (!hash || !answersUs || !isComplete) return 'malformed';
  if (!/^[0-9a-f]{8}$/.test(nc) || !/^[0-9a-f]+$/.test(response)) return 'malformed';
  return { username, nonce, uri, hash, cnonce, nc, response };
}

/**
 * Whether the credentials were made with this password, in constant time. The digest's URI is not compared with the
 * Request-URI: a proxy may have changed that (RFC 3261 section 22.4), and the number alone decides who may call it.
 */
export function isMadeWith(credentials: Credentials, method: string, password: string): boolean {
  const expected = digestResponse({
    ...credentials,
    method,
    password,
    realm: digestRealm,
    protection: 'auth',
    session: false,
    body: '',
  });
  const [one, other] = [Buffer.from(credentials.response, 'latin1'), Buffer.from(expected, 'latin1')];
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * User agents that give up when any line has an algorithm that they do not know: they get MD5 alone. It is offered to
 * everybody, so nobody gains by claiming to be one.
 */
const knowsMd5Alone = /^baresip v[01]\./i;

/**
 * Value of WWW-Authenticate: one line for each algorithm, because a comma would join two challenges that many phones
 * cannot separate. drachtio-srf writes a value as it is.
 * @param userAgent value of User-Agent
 */
export function challenge(nonce: string, stale: boolean, userAgent = ''): string {
  return knowsMd5Alone.test(userAgent) ? md5Challenge(nonce, stale) : challengeOf(offered, nonce, stale);
}

/** The same with MD5 alone. */
export function md5Challenge(nonce: string, stale: boolean): string {
  return challengeOf(['MD5'], nonce, stale);
}

function challengeOf(algorithms: readonly (typeof offered)[number][], nonce: string, stale: boolean): string {
  return algorithms
    .map((algorithm) => {
      const parameters = [
        `realm="${digestRealm}"`,
        `nonce="${nonce}"`,
        `algorithm=${algorithm}`,
        'qop="auth"',
        ...(stale ? ['stale=true'] : []),
      ];
      return `Digest ${parameters.join(', ')}`;
    })
    .join('\r\nWWW-Authenticate: ');
}
