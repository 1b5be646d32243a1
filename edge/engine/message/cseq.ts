import { consistsOf, isSpace, skipSpace, TOKEN } from './chars.ts';
import { MAX_CSEQ, parseDecimal } from './numbers.ts';

export interface CSeq {
  readonly number: number;
  readonly method: string;
}

/** Parses a CSeq value (RFC 3261 section 20.16); null when malformed or the number is 2^31 or more. */
export function parseCSeq(value: string): CSeq | null {
  let end = 0;
  while (end < value.length && !isSpace(value.charCodeAt(end))) end++;
  const number = parseDecimal(value.slice(0, end), MAX_CSEQ);
  const method = value.slice(skipSpace(value, end));
  return number === null || !consistsOf(TOKEN, method) ? null : { number, method };
}

export function formatCSeq(cseq: CSeq): string {
  return `${cseq.number} ${cseq.method}`;
}
