/** Text of the first Warning header (RFC 3261 section 20.43), null when there is none. Pure. */
import { type HeaderFields, headerOf } from './headers.ts';

export function warningText(headers: HeaderFields): string | null {
  const text = /^\s*\d{3}\s+\S+\s+"((?:[^"\\]|\\.)*)"/.exec(headerOf(headers, 'warning') ?? '')?.[1];
  return text === undefined ? null : text.replace(/\\(.)/g, '$1');
}
