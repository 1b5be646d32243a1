/** Checks that a peer's certificate is for the dialed host (RFC 5922). */
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { isSameHost } from '#shared/networks.ts';
import { parseUri } from '../message/uri.ts';

/**
 * Undefined when the certificate names `host`: as a SIP URI without user part (RFC 5922 section 7.1), as a DNS
 * name or as an IP address. Otherwise the error, whose message lists what the certificate does name.
 *
 * Wildcard DNS names are accepted as in HTTPS, although RFC 5922 section 7.2 forbids them: large carriers use
 * them.
 */
export function checkSipIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  for (const name of sipDomains(certificate.subjectaltname ?? '')) {
    if (isSameHost(name, host)) return undefined;
  }
  return checkServerIdentity(host, certificate);
}

/**
 * Hosts of the sip and sips URIs in a subjectAltName as Node writes it: `DNS:a, URI:sip:b, IP Address:c`. An
 * entry with special characters is quoted by Node; no host name needs that, so such an entry is skipped.
 */
function sipDomains(names: string): string[] {
  const domains: string[] = [];
  for (const entry of withoutQuoted(names).split(', ')) {
    if (!entry.startsWith('URI:')) continue;
    const uri = parseUri(entry.slice(4));
    if (uri !== null && uri.scheme !== 'tel' && uri.user === undefined) domains.push(uri.host);
  }
  return domains;
}

/** Removes quoted entries, so that a comma inside one cannot fake a separate entry. */
function withoutQuoted(names: string): string {
  return names.replace(/"(?:[^"\\]|\\.|\\$)*(?:"|$)/gs, '""');
}
