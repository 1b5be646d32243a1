/**
 * Secrets at their regular places in messages: SRTP keys, also of rejected offers, and digest responses. A peer may
 * repeat one elsewhere in the call, in a header or a reason, and it must not reach the trace from there.
 */

/** Maximum values per dialog and direction: a call has two or three, a few more with re-INVITEs. */
export const mostSecrets = 16;
/** Keys in a message. Shorter text is part of a word, not a key (RFC 4568 section 6.2: 40 digits). */
const keys = /inline[ \t]*:[ \t]*([A-Za-z0-9+/_-]{20,128}={0,2})/gi;
/** RFC 7616 section 3.4.1: hexadecimal digits of the hash. */
const responses = /\bresponse[ \t]*=[ \t]*"?([0-9a-f]{32,128})\b/gi;

export function secretsIn(message: string): string[] {
  const found = new Set<string>();
  for (const form of [keys, responses]) {
    for (const [, secret] of message.matchAll(form)) {
      if (found.size >= mostSecrets) break;
      if (secret !== undefined) found.add(secret);
    }
  }
  return [...found];
}
