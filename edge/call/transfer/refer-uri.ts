/** What stands in the Refer-To of a REFER of ours. Pure. */
import type { DialogIdentity } from '../ports/signaling.ts';

/**
 * A URI with headers that the INVITE to it shall have (RFC 3261 section 19.1.1).
 * @param headers name to value, unescaped
 */
export function withHeaders(uri: string, headers: Readonly<Record<string, string>>): string {
  const parts = Object.entries(headers).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`,
  );
  return parts.length === 0 ? uri : `${uri}${uri.includes('?') ? '&' : '?'}${parts.join('&')}`;
}

/**
 * The URI of an attended transfer (RFC 5589 section 7.3): whoever calls it takes our dialog with the target over.
 * The tags are named as the target sees them (RFC 3891 section 3).
 */
export function replacingUri({ callId, localTag, remoteTag, remoteTarget }: DialogIdentity): string {
  return withHeaders(remoteTarget, { Replaces: `${callId};to-tag=${remoteTag};from-tag=${localTag}` });
}
