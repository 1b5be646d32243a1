/** The OPTIONS request of a probe (RFC 3261 section 11.1). */
import { randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { SipTransport } from '#shared/sip-destination.ts';

export interface OptionsRequest {
  /** Identifies the request and its responses (RFC 3261 section 8.1.1.7). */
  readonly branch: string;
  readonly text: string;
}

export interface OptionsRoute {
  readonly transport: SipTransport;
  /** The host as entered: the request addresses that domain. */
  readonly host: string;
  readonly port: number;
  readonly localAddress: string;
  readonly localPort: number;
}

export function optionsRequest({
  transport,
  host,
  port,
  localAddress,
  localPort,
}: OptionsRoute): OptionsRequest {
  const token = randomBytes(12).toString('hex');
  const branch = `z9hG4bK${token}`;
  const uri = `sip:${bracketed(host)}:${port};transport=${transport}`;
  const local = `${bracketed(localAddress)}:${localPort}`;
  const lines = [
    `OPTIONS ${uri} SIP/2.0`,
    `Via: SIP/2.0/${transport.toUpperCase()} ${local};branch=${branch};rport`,
    'Max-Forwards: 70',
    `From: <sip:discovery@${bracketed(localAddress)}>;tag=${token.slice(0, 10)}`,
    `To: <sip:${bracketed(host)}:${port}>`,
    `Call-ID: ${token}@${bracketed(localAddress)}`,
    'CSeq: 1 OPTIONS',
    `Contact: <sip:discovery@${local};transport=${transport}>`,
    'Accept: application/sdp',
    'User-Agent: Trunkline',
    'Content-Length: 0',
  ];
  return { branch, text: `${lines.join('\r\n')}\r\n\r\n` };
}

function bracketed(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}
