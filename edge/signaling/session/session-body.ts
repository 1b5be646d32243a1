/** The session description in a message's body. Pure. */
import { type HeaderFields, headerOf } from '../srf/headers.ts';
import { partsOf } from './multipart.ts';

interface BodyCarrier {
  readonly headers: HeaderFields;
  readonly body: string | undefined;
}

export type SessionBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'sdp'; readonly sdp: string }
  /** A body of an unsupported type: 415 with Accept (RFC 3261 section 8.2.3). */
  | { readonly kind: 'other'; readonly type: string };

const isSdp = (type: string): boolean => /^\s*application\/sdp\s*(;|$)/i.test(type);

export function sessionBody(message: BodyCarrier): SessionBody {
  const { body } = message;
  if (body === undefined || body === '') return { kind: 'none' };
  const type = headerOf(message.headers, 'content-type') ?? '';
  if (isSdp(type)) return { kind: 'sdp', sdp: body };
  if (/^\s*multipart\//i.test(type)) {
    const part = partsOf(type, body).find((candidate) => isSdp(candidate.type));
    if (part) return { kind: 'sdp', sdp: withLineEnd(part.content) };
  }
  return { kind: 'other', type: type.trim() };
}

/**
 * The line end before a multipart boundary belongs to the boundary (RFC 2046 section 5.1.1); SDP needs one of its
 * own.
 */
function withLineEnd(content: string): string {
  return content.replace(/(\r?\n)?$/, '\r\n');
}
