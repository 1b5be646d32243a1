/** How the edge reaches itself: its own SIP listener, under a name in its certificate. */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { DialTarget } from './call/ports/dialing.ts';

const wildcards: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1', '[::]': '::1' };

/**
 * @param listener the address that the edge listens on, which may be a wildcard
 * @param publicHost name under which peers reach it; null: not configured
 * @param pem the server's certificate
 */
export function ownTarget(
  listener: { readonly host: string; readonly port: number },
  publicHost: string | null,
  pem: string,
): DialTarget {
  const { port } = listener;
  const address = wildcards[listener.host] ?? listener.host;
  const certificate = new X509Certificate(pem);
  const named =
    publicHost !== null && isIP(publicHost) === 0 && certificate.checkHost(publicHost) ? publicHost : null;
  const serverName = named ?? (certificate.checkIP(address) ? address : firstName(certificate));
  if (serverName !== null) return { host: address, address, port, serverName };
  // A certificate for a public address only: that address leads back to us, or the handshake reports the error.
  const host = publicHost ?? address;
  return { host, port, serverName: host };
}

/** The first DNS name in the certificate; for a wildcard, a name that matches it. */
function firstName({ subjectAltName = '' }: X509Certificate): string | null {
  const name = /(?:^|, )DNS:([^,]+)/.exec(subjectAltName)?.[1];
  return name?.replace(/^\*\./, 'edge.') ?? null;
}
