/** Builds the Refer-To URI of our REFER. Pure. */
import type { DialogIdentity } from '../ports/signaling.ts';

/**
 * A URI with headers for the resulting INVITE (RFC 3261 section 19.1.1).
 * @param headers name to value, unescaped
 */
export function withHeaders(uri: string, headers: Readonly<Record<string, string>>): string {
  const parts = Object.entries(headers).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`,
  );
  return parts.length === 0 ? uri : `${uri}${uri.includes('?') ? '&' : '?'}${parts.join('&')}`;
}

/**
 * The URI of an attended transfer (RFC 5589 section 7.3): an INVITE to it replaces our dialog with the target.
 * The tags are named as the target sees them (RFC 3891 section 3).
 */
export function replacingUri({ callId, localTag, remoteTag, remoteTarget }: DialogIdentity): string {
  return withHeaders(remoteTarget, { Replaces: `${callId};to-tag=${remoteTag};from-tag=${localTag}` });
}
