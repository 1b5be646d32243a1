import { HeaderList, headerKey } from '../message/headers.ts';

/** A SIP request or response as the application writes it: without Via, and usually with most headers missing. */
export interface AppMessage {
  readonly start: AppStart;
  readonly headers: HeaderList;
  /** Everything after the head. The application's Content-Length counts characters, so it is ignored. */
  readonly body: Buffer;
}

type AppStart =
  | { readonly kind: 'request'; readonly method: string; readonly uri: string }
  | { readonly kind: 'response'; readonly status: number; readonly reason: string };

/**
 * C0 except tab, and DEL, which no header value may contain (RFC 3261 section 25.1, TEXT-UTF8char). Octets from
 * 0x80 on are parts of UTF-8 characters here.
 */
const CONTROL = /[^\P{Cc}\t\x80-\x9f]+/gu;
/** The same within a head, whose lines end in CRLF. */
const HAS_CONTROL = /[^\P{Cc}\t\r\n\x80-\x9f]/u;

const HEAD_END = Buffer.from('\r\n\r\n');

/** Null when the start line or a header line is malformed. Names keep the application's spelling. */
export function parseAppMessage(sip: Buffer): AppMessage | null {
  const end = sip.indexOf(HEAD_END);
  const head = sip.toString('latin1', 0, end === -1 ? sip.length : end);
  const body = end === -1 ? sip.subarray(sip.length) : sip.subarray(end + HEAD_END.length);
  const lineEnd = head.indexOf('\r\n');
  const start = parseStart(lineEnd === -1 ? head : head.slice(0, lineEnd));
  if (!start) return null;
  const hasControl = HAS_CONTROL.test(head);
  const names: string[] = [];
  const keys: string[] = [];
  const values: string[] = [];
  for (let at = lineEnd; at !== -1; ) {
    const from = at + 2;
    at = head.indexOf('\r\n', from);
    const line = at === -1 ? head.slice(from) : head.slice(from, at);
    if (line === '') continue;
    const colon = line.indexOf(':');
    if (colon < 1 || line.includes('\n') || line.includes('\r')) return null;
    const name = line.slice(0, colon).trim();
    names.push(name);
    keys.push(headerKey(name));
    const value = line.slice(colon + 1);
    values.push((hasControl ? value.replace(CONTROL, ' ') : value).trim());
  }
  return { start, headers: HeaderList.from(names, keys, values), body };
}

function parseStart(line: string): AppStart | null {
  if (line.startsWith('SIP/2.0 ')) {
    const status = Number(line.slice(8, 11));
    if (!Number.isInteger(status) || status < 100 || status > 699) return null;
    return { kind: 'response', status, reason: line.slice(12) };
  }
  const methodEnd = line.indexOf(' ');
  const uriEnd = line.lastIndexOf(' ');
  if (methodEnd < 1 || uriEnd <= methodEnd) return null;
  return { kind: 'request', method: line.slice(0, methodEnd), uri: line.slice(methodEnd + 1, uriEnd) };
}
