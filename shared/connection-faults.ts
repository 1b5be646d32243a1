/**
 * Why a TLS connection to a SIP host failed: one table maps the error texts of sockets and engines to a fault, with an
 * explanation and what to do. Used by calls, test calls, probes, registrations and discovery. Pure.
 */
export type ConnectionFault =
  | 'own_certificate'
  | 'certificate_expired'
  | 'certificate_not_yet_valid'
  | 'certificate_name'
  | 'certificate_untrusted'
  | 'client_certificate_missing'
  | 'client_certificate_refused'
  | 'tls_version'
  | 'tls_cipher'
  | 'not_tls'
  | 'handshake_timeout'
  | 'handshake_closed'
  | 'tls_failed'
  | 'no_address'
  | 'refused'
  | 'connect_timeout'
  | 'no_route'
  | 'closed_at_once'
  | 'lost'
  | 'unknown';

interface FaultRule {
  /** Matches the error text; the first matching rule decides. */
  readonly said: RegExp;
  /** @param text the error text without a period */
  readonly words: (place: string, text: string) => string;
}

const rules: Readonly<Record<ConnectionFault, FaultRule>> = {
  own_certificate: {
    said: /our certificates cannot be used/i,
    words: (_, text) => `The edge's own certificate cannot be used: ${text}.`,
  },
  certificate_expired: {
    said: /certificate has expired|CERT_HAS_EXPIRED/i,
    words: (place) => `The certificate of ${place} has expired; renew it.`,
  },
  certificate_not_yet_valid: {
    said: /certificate is not yet valid|CERT_NOT_YET_VALID/i,
    words: (place) => `The certificate of ${place} is not valid yet; check its dates and the clocks.`,
  },
  certificate_name: {
    said: /does not match certificate|not in the cert's|hostname mismatch|ALTNAME_INVALID/i,
    words: (place, text) =>
      `The certificate of ${place} is for another host (${after(text, /altnames: /).replace(/:$/, '')}); it must name the host that is dialled.`,
  },
  certificate_untrusted: {
    said: /certificate refused|self-signed certificate|unable to (?:verify|get)/i,
    words: (place, text) =>
      `The certificate of ${place} is not from an authority that we trust (${after(text, /certificate refused: /)}); install one with its intermediate certificates.`,
  },
  // RFC 8446 section 4.4.2.4 has an alert for this, sent after our side of the handshake. TLS 1.2 has none (RFC 5246
  // section 7.4.6): the alert is handshake_failure, after the peer's own certificate (`socketFault`).
  client_certificate_missing: {
    said: /alert certificate required|asks for a client certificate/i,
    words: (place) =>
      `${place} asks for a client certificate (mTLS) and got none; put one for that host into the folder TLS_CLIENT_CERTS of the edge.`,
  },
  client_certificate_refused: {
    said: /alert (?:bad certificate|unsupported certificate|certificate (?:revoked|expired|unknown)|unknown ca|access denied)|does not accept our client certificate/i,
    words: (place, text) =>
      `${place} does not accept our client certificate (${after(text, /^.*\balert /)}); replace the one in the folder TLS_CLIENT_CERTS of the edge, or let ${place} trust its authority.`,
  },
  tls_version: {
    said: /alert protocol version|unsupported protocol|unsupported ssl\/tls version/i,
    words: (place) => `${place} speaks no TLS version that we accept; enable TLS 1.2 or newer there.`,
  },
  tls_cipher: {
    said: /alert handshake failure|no shared cipher|alert insufficient security|no suitable/i,
    words: (place) =>
      `${place} has no cipher suite in common with us; enable one with ECDHE and AES-GCM there.`,
  },
  not_tls: {
    said: /wrong version number|packet length too long|http request|does not speak TLS|unexpected message|record layer failure/i,
    words: (place) =>
      `What answers at ${place} does not speak TLS; check that the port is the one for SIP over TLS, usually 5061.`,
  },
  handshake_timeout: {
    said: /TLS handshake .*not done within|handshake did not end/i,
    words: (place) =>
      `${place} took the TCP connection, but did not finish the TLS handshake in time; check that the port is the one for SIP over TLS, and that the server is not overloaded.`,
  },
  handshake_closed: {
    said: /during the (?:TLS )?handshake/i,
    words: (place) =>
      `${place} took the TCP connection and broke it during the TLS handshake; check that the port is the one for SIP over TLS, and that our address is allowed there.`,
  },
  tls_failed: {
    said: /TLS handshake failed|\balert\b/i,
    words: (place, text) =>
      `The TLS handshake with ${place} failed (${after(text, /TLS handshake failed: /)}); check its TLS configuration.`,
  },
  no_address: {
    said: /name resolution|has no address|no usable address/i,
    words: (place, text) => `There is no usable address for ${place}: ${text}.`,
  },
  refused: {
    said: /connection refused/i,
    words: (place) =>
      `Nothing listens at ${place}: the connection was refused; check host, port and firewall.`,
  },
  connect_timeout: {
    said: /not done within|no answer to TCP connect|^timeout$/i,
    words: (place) => `${place} took no TCP connection in time; check host, port and firewall.`,
  },
  no_route: {
    said: /unreachable \(/i,
    words: (place) => `No network route leads to ${place}; check the address.`,
  },
  closed_at_once: {
    said: /closed right after the TLS handshake|connection lost: closed by the peer/i,
    words: (place) =>
      `${place} closed the connection after the TLS handshake, without an answer; check there that our address is allowed, and whether it asks for a client certificate (mTLS).`,
  },
  lost: {
    said: /connection lost|ECONNRESET|EPIPE|socket hang up/i,
    words: (place, text) => `The connection to ${place} broke: ${after(text, /connection lost: /)}.`,
  },
  unknown: {
    said: /(?:)/,
    words: (place, text) => `${place} cannot be reached: ${text}.`,
  },
};

const connectionFaults = Object.keys(rules) as readonly ConnectionFault[];

/** @param text error text of an engine or socket for a failed connection */
export function connectionFault(text: string): ConnectionFault {
  return connectionFaults.find((fault) => rules[fault].said.test(text)) ?? 'unknown';
}

/** Advice that Node appends for the operator of the program. */
const adviceOfNode = /; if the root CA is installed locally.*$/;

/** One sentence: what is wrong at `place`, and what to do. */
export function connectionProblem(place: string, error: string): string {
  const text = bare(error.replace(adviceOfNode, ''));
  return rules[connectionFault(text)].words(place, text);
}

/** What is known of a socket's failure. */
export interface SocketFailure {
  readonly error: Error;
  /** The TCP connection was established. */
  readonly connected: boolean;
  /** The peer had sent its certificate, so version and cipher were negotiated. */
  readonly certificateSeen: boolean;
}

const unreachable = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EHOSTDOWN', 'EACCES', 'EPERM']);
/** Node's names of OpenSSL's verification errors, those known to `X509_verify_cert_error_string`. */
const certificateCodes =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(CA|PURPOSE)|PATH_LENGTH_|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME)/;

/** Meaning of a TLS socket's error before the end of its handshake, in words that `connectionFault` recognizes. */
export function socketFault({ error, connected, certificateSeen }: SocketFailure): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const reason = tlsReason(error);
  if (certificateCodes.test(code)) return `certificate refused: ${error.message}`;
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ETIMEDOUT')
    return connected ? 'TLS handshake not done within the time of TCP' : 'no answer to TCP connect';
  if (unreachable.has(code)) return `unreachable (${code})`;
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'connection broken during the TLS handshake';
  if (certificateSeen && /alert handshake failure/.test(reason)) {
    return `TLS handshake failed: the peer asks for a client certificate (${reason})`;
  }
  return `TLS handshake failed: ${reason}`;
}

/** OpenSSL's reason, without the source locations in the message. */
export function tlsReason(error: Error): string {
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}

/** Removes the period, for use within a sentence. */
export function bare(text: string): string {
  return text.trim().replace(/\.+$/, '');
}

/** The text after a mark; the whole text when it has none. */
function after(text: string, mark: RegExp): string {
  const found = mark.exec(text);
  return found ? text.slice(found.index + found[0].length) : text;
}
