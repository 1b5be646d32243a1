/**
 * Secrets that stand in a message where they belong: SRTP keys, of offers that were refused, too, and digest
 * responses. Whoever repeats one elsewhere in its call, in a header or a reason, must not bring it into the trace.
 */

/** Values of one dialog and direction at most: a call has two or three, with re-INVITEs a few more. */
export const mostSecrets = 16;
/** Of the text of one message; shorter ones are no keys (RFC 4568 section 6.2: 40 digits) and stand in words, too. */
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
