/** Explains a failed outgoing request or connection to the person who configured the target. */

/**
 * `refused`: the target is forbidden, or the request cannot be sent; `timeout`: the deadline passed; `aborted`: by the
 * caller; `network`: everything else.
 */
export class OutgoingFailure extends Error {
  override readonly name = 'OutgoingFailure';
  readonly kind: 'refused' | 'timeout' | 'network' | 'aborted';
  constructor(kind: OutgoingFailure['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** Meanings of error codes from Node, OpenSSL and undici; each follows the name of the target. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection',
  EPIPE: 'closed the connection',
  UND_ERR_SOCKET: 'closed the connection',
  ETIMEDOUT: 'did not respond to the connection attempt',
  ENETUNREACH: 'cannot be reached: this host has no route to its address',
  EHOSTUNREACH: 'cannot be reached: no host answers at its address',
  EADDRNOTAVAIL: 'cannot be reached: this host has no address that could reach it',
  EACCES: 'cannot be reached: this host is not permitted to connect to its address',
  EPERM: 'cannot be reached: this host is not permitted to connect to its address',
  ENOTFOUND: 'has no address: the name does not exist',
  ENODATA: 'has no address',
  EAI_AGAIN: 'has no address: the name server does not answer',
  EPROTO: 'failed the TLS handshake',
  CERT_HAS_EXPIRED: 'has a TLS certificate that has expired',
  CERT_NOT_YET_VALID: 'has a TLS certificate that is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a self-signed TLS certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a TLS certificate from an untrusted authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a TLS certificate from an untrusted authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a TLS certificate from an untrusted authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a TLS certificate for another name',
  UND_ERR_HEADERS_OVERFLOW: 'sent response headers that are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'closed the connection before the end of its answer',
};

/** One sentence about `error`. Contains the target and the code, but no address or port of this host. */
export function failureWords(target: string, error: unknown): string {
  const inner = innermost(error);
  const code = codeOf(inner);
  const known = code === null ? undefined : words[code];
  if (known !== undefined) return `${target} ${known} (${code})`;
  if (code?.startsWith('HPE_')) return `${target} answered with something that is not HTTP (${code})`;
  if (code?.startsWith('ERR_SSL_')) return `${target} failed the TLS handshake (${code})`;
  const text = inner instanceof Error ? inner.message || inner.name : String(inner);
  // Node appends its own end of the socket, "connect X 192.0.2.1:443 - Local (0.0.0.0:0)", which is irrelevant here.
  return `${target}: ${text.replace(/ - Local \([^)]*\)/g, '')}`;
}

/** The first error of several connection attempts, and the cause of a library's error. */
function innermost(error: unknown): unknown {
  let at = error;
  for (let depth = 0; depth < 5; depth++) {
    if (at instanceof AggregateError && at.errors.length > 0) at = at.errors[0];
    else if (at instanceof Error && at.cause instanceof Error && words[codeOf(at) ?? ''] === undefined) {
      at = at.cause;
    } else break;
  }
  return at;
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
