import { isDigit } from './chars.ts';

/** CSeq numbers are below 2^31 (RFC 3261 section 8.1.1.5). */
export const MAX_CSEQ = 2 ** 31 - 1;
/** delta-seconds and the like are at most 2^32 - 1 (RFC 3261 section 20.19). */
const MAX_DELTA_SECONDS = 2 ** 32 - 1;

/**
 * A string of decimal digits as a number from 0 to `max`. Null for anything else: signs, white space, an empty
 * string, and values above `max`, however long. Leading zeros are fine.
 */
export function parseDecimal(text: string, max: number): number | null {
  if (text.length === 0) return null;
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (!isDigit(code)) return null;
    value = value * 10 + (code - 48);
    if (value > max) return null;
  }
  return value;
}

/**
 * delta-seconds as in Expires or Min-SE; a value above 2^32 - 1 is clamped to that (RFC 3261 section 20.19). Null
 * when the text is not a number. Parameters after a semicolon and a comment (Retry-After) are ignored.
 */
export function parseDeltaSeconds(value: string): number | null {
  let end = 0;
  while (end < value.length && isDigit(value.charCodeAt(end))) end++;
  if (end === 0) return null;
  const next = value.charAt(end);
  if (next !== '' && next !== ';' && next !== ' ' && next !== '\t' && next !== '(') return null;
  return parseDecimal(value.slice(0, end), MAX_DELTA_SECONDS) ?? MAX_DELTA_SECONDS;
}
