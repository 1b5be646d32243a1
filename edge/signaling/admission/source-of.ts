/**
 * Where a request outside dialogs comes from: the peer of its connection, or the address that a trusted proxy names.
 *
 *     carrier ══TLS══> proxy ══TLS══> edge        X-Trunkline-Source: 203.0.113.7
 *
 * The operator lists the proxies (docs/fleet.md). From everybody else the header means nothing: a stranger cannot take
 * the address of a carrier. A proxy removes what its peer sent under that name and adds its own, so a request with more
 * than one is not trusted either.
 */
import { isIP } from 'node:net';
import { sourceHeader } from '#shared/engine-protocol/headers.ts';
import { plainAddress } from '#shared/networks.ts';
import type { SrfRequest } from '../srf/srf.ts';

interface Source {
  /** As `plainAddress` gives it. */
  readonly source: string;
  /** Whether a trusted proxy named it: the connection then belongs to the proxy, and must not be blocked. */
  readonly proxied: boolean;
}

/** @param routing null: no configuration says yet which proxies are trusted */
export function sourceOf(
  { source_address, headers }: Pick<SrfRequest, 'source_address' | 'headers'>,
  routing: { readonly sources: { isProxy(address: string): boolean } } | null,
): Source {
  const peer = plainAddress(source_address);
  if (!routing?.sources.isProxy(peer)) return { source: peer, proxied: false };
  const named = Object.entries(headers).filter(([name]) => name.toLowerCase() === sourceHeader.toLowerCase());
  // drachtio-srf joins repeated lines by commas, but keeps apart those that differ in case.
  const [header, ...others] = named;
  const source = plainAddress(header?.[1].trim() ?? '');
  // Without a usable address the request is the proxy's own, such as its OPTIONS; the proxy may call no number.
  return { source: others.length === 0 && isIP(source) !== 0 ? source : peer, proxied: true };
}
