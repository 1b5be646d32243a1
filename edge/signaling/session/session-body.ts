/** The session description in a message's body. Pure. */
import { type HeaderFields, headerOf } from '../srf/headers.ts';
import { type BodyPart, isOptional, partsOf } from './multipart.ts';

interface BodyCarrier {
  readonly headers: HeaderFields;
  readonly body: string | undefined;
}

export type SessionBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'sdp'; readonly sdp: string }
  /** A body of an unsupported type: 415 with Accept (RFC 3261 section 8.2.3). */
  | { readonly kind: 'other'; readonly type: string };

/** Other descriptions are of an early session (RFC 3959), or for somebody else. */
const isSession = ({ type, disposition = 'session' }: BodyPart): boolean =>
  /^\s*application\/sdp\s*(;|$)/i.test(type) && /^\s*session\s*(;|$)/i.test(disposition);

export function sessionBody(message: BodyCarrier): SessionBody {
  const { body } = message;
  if (body === undefined || body === '') return { kind: 'none' };
  const type = headerOf(message.headers, 'content-type') ?? '';
  const whole = { type, disposition: headerOf(message.headers, 'content-disposition'), content: body };
  if (isSession(whole)) return { kind: 'sdp', sdp: body };
  const parts = /^\s*multipart\//i.test(type) ? partsOf(type, body) : [];
  const part = parts.find(isSession);
  if (part) return { kind: 'sdp', sdp: withLineEnd(part.content) };
  const needless = parts.length > 0 && parts.every(({ disposition }) => isOptional(disposition));
  if (needless || isOptional(whole.disposition)) return { kind: 'none' };
  return { kind: 'other', type: type.trim() };
}

/**
 * The line end before a multipart boundary belongs to the boundary (RFC 2046 section 5.1.1); SDP needs one of its
 * own.
 */
function withLineEnd(content: string): string {
  return content.replace(/(\r?\n)?$/, '\r\n');
}
