/** What a TLS handshake shows about the far end. */
import type { DetailedPeerCertificate, PeerCertificate, TLSSocket } from 'node:tls';
import { certificateFailure, connectionProblem } from '#shared/connection-faults.ts';
import type { TlsFacts } from './attempt.ts';

/**
 * @param socket after its handshake, created with `rejectUnauthorized: false`; Node has still checked the certificate
 *   against the authorities and the host name
 */
export function tlsFacts(socket: TLSSocket): TlsFacts {
  const certificate: PeerCertificate | DetailedPeerCertificate = socket.getPeerCertificate();
  return {
    version: socket.getProtocol() ?? 'unknown',
    cipher: socket.getCipher().standardName ?? socket.getCipher().name,
    subject: distinguishedName(certificate.subject),
    issuer: distinguishedName(certificate.issuer),
    valid_to: validTo(certificate.valid_to),
    trusted: socket.authorized,
  };
}

/** Whether the peer sent a certificate. Node returns an empty object or null without one. */
export function hasCertificate(socket: TLSSocket): boolean {
  const certificate: PeerCertificate | null = socket.getPeerCertificate();
  return certificate !== null && Object.keys(certificate).length > 0;
}

/**
 * Why a call on this connection would be rejected; null when it would not.
 * @param peer `host:port` as dialed
 */
export function tlsProblem(socket: TLSSocket, peer: string): string | null {
  if (socket.authorized) return null;
  // Node returns the code as a string, contrary to its type declarations.
  const error: unknown = socket.authorizationError;
  const code = error instanceof Error ? error.message : String(error);
  const names = code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? `: altnames: ${namesOf(socket)}` : '';
  return connectionProblem(peer, certificateFailure(code, `${code}${names}`));
}

function namesOf(socket: TLSSocket): string {
  const certificate: PeerCertificate = socket.getPeerCertificate();
  return certificate.subjectaltname ?? distinguishedName(certificate.subject);
}

function distinguishedName(name: PeerCertificate['subject'] | undefined): string {
  return Object.entries(name ?? {})
    .flatMap(([key, value]) => [value ?? []].flat().map((one) => `${key}=${one}`))
    .join(', ');
}

/** ISO text; the epoch when the certificate has no expiry date. */
function validTo(text: string | undefined): string {
  const time = Date.parse(text ?? '');
  return new Date(Number.isNaN(time) ? 0 : time).toISOString();
}
