/**
 * Why a TLS connection to a SIP host failed: one list of faults, with an explanation and what to do for each, and the
 * classification of what sockets report. Used by calls, test calls, probes, registrations and discovery. Pure.
 */
export const connectionFaults = [
  'own_certificate',
  'certificate_expired',
  'certificate_not_yet_valid',
  'certificate_name',
  'certificate_untrusted',
  'client_certificate_missing',
  'client_certificate_refused',
  'tls_version',
  'tls_cipher',
  'not_tls',
  'handshake_timeout',
  'handshake_closed',
  'tls_failed',
  'no_address',
  'refused',
  'connect_timeout',
  'no_route',
  /** The target is the edge itself. */
  'own_address',
  'closed_at_once',
  'lost',
  /** Only a peer has named the target, and the rules forbid to connect to it. */
  'not_allowed',
  /** Only a peer has named the target, and too many such connections are open. */
  'limit',
  /** The engine stops. */
  'closing',
  'unknown',
] as const;

export type ConnectionFault = (typeof connectionFaults)[number];

export interface ConnectionFailure {
  readonly fault: ConnectionFault;
  /** What happened, for the log and the Warning header. */
  readonly text: string;
  /** The part of it that `connectionProblem` quotes: the names of a certificate, a TLS alert. */
  readonly detail: string;
}

/** @param detail default: the whole text */
export function connectionFailure(fault: ConnectionFault, text: string, detail = text): ConnectionFailure {
  return { fault, text, detail };
}

type Sentence = (place: string, detail: string) => string;

const notReached: Sentence = (place, detail) => `${place} cannot be reached: ${detail}.`;

const sentences: Readonly<Record<ConnectionFault, Sentence>> = {
  own_certificate: (_, detail) => `The edge's own certificate cannot be used: ${detail}.`,
  certificate_expired: (place) => `The certificate of ${place} has expired; renew it.`,
  certificate_not_yet_valid: (place) =>
    `The certificate of ${place} is not valid yet; check its dates and the clocks.`,
  certificate_name: (place, detail) =>
    `The certificate of ${place} is for another host (${detail}); it must contain the dialed host.`,
  certificate_untrusted: (place, detail) =>
    `The certificate of ${place} is not from a trusted authority (${detail}); install one with its intermediate certificates.`,
  client_certificate_missing: (place) =>
    `${place} requires a client certificate (mTLS); put one for that host into tls/clients of the edge's data folder.`,
  client_certificate_refused: (place, detail) =>
    `${place} does not accept our client certificate (${detail}); replace the one in tls/clients of the edge's data folder, or let ${place} trust its authority.`,
  tls_version: (place) => `${place} supports no TLS version that we accept; enable TLS 1.2 or newer there.`,
  tls_cipher: (place) =>
    `${place} has no cipher suite in common with us; enable one with ECDHE and AES-GCM there.`,
  not_tls: (place) =>
    `The server at ${place} does not speak TLS; check that the port is the one for SIP over TLS, usually 5061.`,
  handshake_timeout: (place) =>
    `${place} accepted the TCP connection, but did not finish the TLS handshake in time; check that the port is the one for SIP over TLS, and that the server is not overloaded.`,
  handshake_closed: (place) =>
    `${place} accepted the TCP connection and closed it during the TLS handshake; check that the port is the one for SIP over TLS, and that our address is allowed there.`,
  tls_failed: (place, detail) =>
    `The TLS handshake with ${place} failed (${detail}); check its TLS configuration.`,
  no_address: (place, detail) => `There is no usable address for ${place}: ${detail}.`,
  refused: (place) =>
    `Nothing listens at ${place}: the connection was refused; check host, port and firewall.`,
  connect_timeout: (place) =>
    `${place} did not accept the TCP connection in time; check host, port and firewall.`,
  no_route: (place) => `There is no network route to ${place}; check the address.`,
  own_address: (place) =>
    `${place} is the address of this edge, which does not call itself; configure the host of the PBX or carrier.`,
  closed_at_once: (place) =>
    `${place} closed the connection after the TLS handshake, without a response; check there that our address is allowed, and whether it requires a client certificate (mTLS).`,
  lost: (place, detail) => `The connection to ${place} was lost: ${detail}.`,
  not_allowed: notReached,
  limit: notReached,
  closing: notReached,
  unknown: notReached,
};

/** One sentence: what is wrong at `place`, and what to do. */
export function connectionProblem(place: string, { fault, detail }: ConnectionFailure): string {
  return sentences[fault](place, bare(detail));
}

/** What is known of a socket's failure before the end of its handshake. */
export interface SocketFailure {
  /** null: the peer closed the connection without one. */
  readonly error: Error | null;
  /** The TCP connection was established. */
  readonly connected: boolean;
  /** The peer had sent its certificate, so version and cipher were negotiated. */
  readonly certificateSeen: boolean;
}

const unreachable = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EHOSTDOWN', 'EACCES', 'EPERM']);
/** Node's names of OpenSSL's verification errors, those known to `X509_verify_cert_error_string`. */
const certificateCodes =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(CA|PURPOSE)|PATH_LENGTH_|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME)/;

/** By OpenSSL's reason, the first that matches; RFC 8446 section 6.2 and RFC 5246 section 7.2.2 list the alerts. */
const opensslFaults: readonly (readonly [RegExp, ConnectionFault])[] = [
  // RFC 8446 section 4.4.2.4: sent after our side of the handshake. TLS 1.2 has no such alert (RFC 5246 section
  // 7.4.6): it is handshake_failure, after the peer's own certificate (`socketFailure`).
  [/alert certificate required/i, 'client_certificate_missing'],
  [
    /alert (?:bad certificate|unsupported certificate|certificate (?:revoked|expired|unknown)|unknown ca|access denied)/i,
    'client_certificate_refused',
  ],
  [/alert protocol version|unsupported protocol|unsupported ssl\/tls version/i, 'tls_version'],
  [/alert handshake failure|no shared cipher|alert insufficient security|no suitable/i, 'tls_cipher'],
  [
    /wrong version number|packet length too long|http request|unexpected message|record layer failure/i,
    'not_tls',
  ],
];

/** How a TLS socket failed before the end of its handshake. */
export function socketFailure({ error, connected, certificateSeen }: SocketFailure): ConnectionFailure {
  if (error === null) {
    return connectionFailure(
      'handshake_closed',
      'TLS handshake failed: closed by the peer during the TLS handshake',
    );
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (certificateCodes.test(code)) return certificateFailure(code, error.message);
  if (code === 'ECONNREFUSED') return connectionFailure('refused', 'connection refused');
  if (code === 'ETIMEDOUT') {
    return connected
      ? connectionFailure('handshake_timeout', 'TLS handshake timed out')
      : connectionFailure('connect_timeout', 'no answer to TCP connect');
  }
  if (unreachable.has(code)) return connectionFailure('no_route', `unreachable (${code})`);
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return connectionFailure('handshake_closed', 'connection broken during the TLS handshake');
  return handshakeFailure(tlsReason(error), certificateSeen);
}

function handshakeFailure(reason: string, certificateSeen: boolean): ConnectionFailure {
  if (certificateSeen && /alert handshake failure/i.test(reason)) {
    return connectionFailure(
      'client_certificate_missing',
      `TLS handshake failed: the peer asks for a client certificate (${reason})`,
    );
  }
  const fault = opensslFault(reason) ?? 'tls_failed';
  return connectionFailure(fault, `TLS handshake failed: ${reason}`, quotedPart(fault, reason));
}

/**
 * A peer's certificate that is rejected.
 * @param code Node's name of OpenSSL's verification error, or its own for another name
 * @param message Node's text about it
 */
export function certificateFailure(code: string, message: string): ConnectionFailure {
  const text = `certificate refused: ${message}`;
  if (code === 'CERT_HAS_EXPIRED') return connectionFailure('certificate_expired', text);
  if (code === 'CERT_NOT_YET_VALID') return connectionFailure('certificate_not_yet_valid', text);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH')
    return connectionFailure('certificate_name', text, namesIn(message));
  return connectionFailure('certificate_untrusted', text, message.replace(adviceOfNode, ''));
}

/** How an established connection was lost. @param error null: the peer closed it */
export function connectionLoss(error: Error | null): ConnectionFailure {
  if (error === null) return connectionFailure('closed_at_once', 'closed by the peer');
  const reason = tlsReason(error);
  const fault = /\balert\b/i.test(reason) ? (opensslFault(reason) ?? 'tls_failed') : 'lost';
  return connectionFailure(fault, reason, quotedPart(fault, reason));
}

function opensslFault(reason: string): ConnectionFault | null {
  return opensslFaults.find(([pattern]) => pattern.test(reason))?.[1] ?? null;
}

/** Of an alert about our certificate its name: `sslv3 alert bad certificate`. */
function quotedPart(fault: ConnectionFault, reason: string): string {
  return fault === 'client_certificate_refused' ? reason.replace(/^.*\balert /i, '') : reason;
}

/** Advice that Node appends for the operator of the program. */
const adviceOfNode = /; if the root CA is installed locally.*$/;

/** The names of a certificate in Node's text: `… does not match certificate's altnames: Host: …`. */
function namesIn(message: string): string {
  return message.replace(/^.*?altnames: /, '').replace(/:$/, '');
}

/** OpenSSL's reason, without the source locations in the message. */
export function tlsReason(error: Error): string {
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}

/** Removes the period, for use within a sentence. */
export function bare(text: string): string {
  return text.trim().replace(/\.+$/, '');
}
