/** The authorities whose certificates a TLS connection trusts. */
import { getCACertificates } from 'node:tls';

/**
 * Those that Node trusts by itself, with the operator's of `NODE_EXTRA_CA_CERTS`, and `own`: the option `ca` of a
 * connection takes the place of Node's, so it must have them too.
 */
export function withTrustedAuthorities(own: readonly string[]): string[] {
  return [...getCACertificates('default'), ...own];
}
