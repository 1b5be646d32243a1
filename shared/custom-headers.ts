/**
 * SIP headers that customers choose: those of mapped variables (contract 2.8), and those of a BYE (contract 9.3, 9.5).
 * One place for what may be sent. Pure.
 */

/** Headers reserved for the stack (contract 2.8), and those whose meaning it must know. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...['via', 'from', 'to', 'contact', 'call-id', 'cseq', 'max-forwards', 'route', 'record-route'],
  ...['content-type', 'content-length', 'authorization', 'proxy-authorization'],
  ...[
    'allow',
    'supported',
    'require',
    'proxy-require',
    'session-expires',
    'min-se',
    'rseq',
    'rack',
    'replaces',
  ],
  // Compact forms of the same (RFC 3261 section 7.3.3, RFC 4028).
  ...['v', 'f', 't', 'm', 'i', 'c', 'l', 'k', 'x'],
]);

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;

/** Contract 2.8: entries per list. */
export const maxCustomHeaders = 15;
/** Characters in all values together: one frame to a drachtio-server holds 12,228 octets. */
export const maxCustomLength = 4_000;

/** Why a header with a value is not sent; null when it is sent. @param room characters left for values */
export function obstacleTo(name: string, value: string, room: number): string | null {
  if (!token.test(name)) return 'not a valid header name';
  if (ownHeaders.has(name.toLowerCase())) return 'the edge writes this header itself';
  if (value.length > room) return `custom headers exceed ${maxCustomLength} characters in total`;
  return null;
}

/** Headers that a BYE of ours has anyway. */
const ofBye: ReadonlySet<string> = new Set(['reason', 'user-agent', 'server']);

export type ByeHeaders =
  | { readonly headers: Readonly<Record<string, string>> }
  /** What is wrong with which member, as the end of a sentence that starts with the field's name. */
  | { readonly member: string | null; readonly problem: string };

/** Checks the headers that somebody wants in a BYE: text by name. */
export function readByeHeaders(value: unknown): ByeHeaders {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { member: null, problem: 'must be an object of header names with their values' };
  }
  const entries: [string, unknown][] = Object.entries(value);
  if (entries.length > maxCustomHeaders) {
    return { member: null, problem: `must have at most ${maxCustomHeaders} headers` };
  }
  const headers: Record<string, string> = {};
  const seen = new Set<string>();
  let room = maxCustomLength;
  for (const [name, text] of entries) {
    if (typeof text !== 'string') return { member: name, problem: 'must be text' };
    if (/\p{Cc}/u.test(text)) return { member: name, problem: 'must have no control characters' };
    const lower = name.toLowerCase();
    const obstacle = ofBye.has(lower) ? 'the edge writes this header itself' : obstacleTo(name, text, room);
    if (obstacle !== null) return { member: name.slice(0, 64), problem: `cannot be sent: ${obstacle}` };
    if (seen.has(lower)) return { member: name, problem: 'is named twice' };
    seen.add(lower);
    room -= text.length;
    headers[name] = text;
  }
  return { headers };
}
