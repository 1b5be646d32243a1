import { COLON, CR, consistsOf, isSpace, skipSpace, TOKEN, trimmed } from './chars.ts';
import { HeaderList, headerKey, knownName } from './headers.ts';
import { DEFAULT_MESSAGE_LIMITS, type MessageLimits } from './limits.ts';
import type { Headers, SipMessage, SipRequest } from './message.ts';
import { parseDecimal } from './numbers.ts';

export type ParseResult =
  | { readonly ok: true; readonly message: SipMessage }
  | {
      readonly ok: false;
      /** The status to answer a request with: 400, 505 (version) or 513 (too large). */
      readonly status: 400 | 505 | 513;
      /** What is wrong, as a reason phrase. */
      readonly reason: string;
      /**
       * The request with everything that an answer copies (RFC 3261 section 8.2.6.2); null: drop without an
       * answer.
       */
      readonly partial: SipRequest | null;
    };

interface Fault {
  readonly status: 400 | 505 | 513;
  readonly reason: string;
}

const EMPTY = Buffer.alloc(0);
const ANSWER_HEADERS = ['via', 'from', 'to', 'call-id', 'cseq'];

/**
 * Parses one whole message from a StreamFramer, a WebSocket frame or an application frame. Checks only the syntax
 * of the lines; `validate.ts` checks what the headers say.
 *
 * The body is a view of `bytes`, not a copy. Without Content-Length it is everything after the head (RFC 3261
 * section 18.3, RFC 7118 section 4.2); with one, octets beyond it are ignored.
 */
export function parseMessage(bytes: Buffer, limits: MessageLimits = DEFAULT_MESSAGE_LIMITS): ParseResult {
  const tooLarge: Fault | null =
    bytes.length > limits.maxBytes ? { status: 513, reason: 'Message Too Large' } : null;
  const strictEnd = bytes.indexOf('\r\n\r\n', 0, 'latin1');
  // A bare LF is treated as the end of a line, so that the error response can copy the fields of such a head.
  const headEnd = Math.min(strictEnd === -1 ? bytes.length : strictEnd + 4, limits.maxBytes);
  const head = bytes.toString('latin1', 0, headEnd);

  const lineEnd = endOfLine(head, 0);
  const line = head.slice(0, contentEnd(head, 0, lineEnd));
  const fields = parseFields(head, lineEnd + 1, limits.maxHeaders);
  const bodyStart = fields.bodyStart;
  const missingEnd: Fault | null = bodyStart === -1 ? malformed('Missing Empty Line After Headers') : null;
  const bareLf = hasBareLf(head, fields.bodyStart === -1 ? head.length : fields.bodyStart);
  const fault = tooLarge ?? (bareLf ? malformed('Line Ends Without CR') : null) ?? fields.fault ?? missingEnd;

  if (line.charCodeAt(3) === 47 && line.slice(0, 4).toUpperCase() === 'SIP/') {
    return parseResponse(line, fields.headers, bytes, bodyStart, fault);
  }
  return parseRequest(line, fields.headers, bytes, bodyStart, fault);
}

/**
 * The request to answer when a stream broke inside it: `head` comes from a FrameError. Null when it is a
 * response, or lacks headers that an answer copies: the connection is then closed without one.
 */
export function answerableRequest(head: Buffer | null): SipRequest | null {
  if (head === null) return null;
  const result = parseMessage(head);
  if (!result.ok) return result.partial;
  const message = result.message;
  return message.kind === 'request' && isAnswerable(message.headers) ? message : null;
}

function isAnswerable(headers: Headers): boolean {
  return ANSWER_HEADERS.every((name) => headers.has(name));
}

function malformed(reason: string): Fault {
  return { status: 400, reason };
}

function parseRequest(
  line: string,
  headers: HeaderList,
  bytes: Buffer,
  bodyStart: number,
  headFault: Fault | null,
): ParseResult {
  const methodEnd = line.indexOf(' ');
  const uriEnd = line.indexOf(' ', methodEnd + 1);
  const method = methodEnd === -1 ? line : line.slice(0, methodEnd);
  if (!consistsOf(TOKEN, method)) {
    return { ok: false, status: 400, reason: 'Malformed Request Line', partial: null };
  }
  const uri = line.slice(methodEnd + 1, uriEnd === -1 ? undefined : uriEnd);
  const version = uriEnd === -1 ? '' : line.slice(uriEnd + 1);
  const body = bodyOf(headers, bytes, bodyStart);
  const fault =
    headFault ??
    (uri.length === 0 || line.includes('\t') || line.includes('\r')
      ? malformed('Malformed Request Line')
      : versionFault(version)) ??
    (body === null ? malformed('Bad Content-Length') : null);
  if (fault) {
    const partial: SipRequest | null = isAnswerable(headers)
      ? { kind: 'request', method, uri, headers, body: EMPTY }
      : null;
    return { ok: false, status: fault.status, reason: fault.reason, partial };
  }
  return { ok: true, message: { kind: 'request', method, uri, headers, body: body ?? EMPTY } };
}

/** RFC 3261 section 7.1: the version is case-insensitive and must be 2.0; else 505. */
function versionFault(version: string): Fault | null {
  if (version === 'SIP/2.0') return null;
  const upper = version.toUpperCase();
  if (upper === 'SIP/2.0') return null;
  const dot = upper.indexOf('.', 4);
  const wellFormed =
    upper.startsWith('SIP/') &&
    dot !== -1 &&
    parseDecimal(upper.slice(4, dot), Number.MAX_VALUE) !== null &&
    parseDecimal(upper.slice(dot + 1), Number.MAX_VALUE) !== null;
  return wellFormed ? { status: 505, reason: 'Version Not Supported' } : malformed('Malformed Request Line');
}

/** A response is never answered, so on a fault there is nothing to send. */
function parseResponse(
  line: string,
  headers: HeaderList,
  bytes: Buffer,
  bodyStart: number,
  headFault: Fault | null,
): ParseResult {
  const drop = (reason: string): ParseResult => ({ ok: false, status: 400, reason, partial: null });
  if (headFault) return drop(headFault.reason);
  const versionEnd = line.indexOf(' ');
  if (versionEnd === -1 || line.includes('\r') || versionFault(line.slice(0, versionEnd)))
    return drop('Malformed Status Line');
  // The reason phrase may be empty, and its space is often omitted with it.
  const statusEnd = line.indexOf(' ', versionEnd + 1);
  const digits = line.slice(versionEnd + 1, statusEnd === -1 ? undefined : statusEnd);
  const status = digits.length === 3 ? parseDecimal(digits, 699) : null;
  if (status === null || status < 100) return drop('Bad Status Code');
  const body = bodyOf(headers, bytes, bodyStart);
  if (body === null) return drop('Bad Content-Length');
  const reason = statusEnd === -1 ? '' : line.slice(statusEnd + 1);
  return { ok: true, message: { kind: 'response', status, reason, headers, body } };
}

/** The body, or null when Content-Length is not a number or exceeds the octets present. */
function bodyOf(headers: HeaderList, bytes: Buffer, bodyStart: number): Buffer | null {
  if (bodyStart === -1) return EMPTY;
  const available = bytes.length - bodyStart;
  const value = headers.get('content-length');
  const length = value === undefined ? available : parseDecimal(value, available);
  if (length === null) return null;
  return length === 0 ? EMPTY : bytes.subarray(bodyStart, bodyStart + length);
}

interface Fields {
  readonly headers: HeaderList;
  /** The position after the empty line, -1 when there is none. */
  readonly bodyStart: number;
  readonly fault: Fault | null;
}

/** Parses header lines up to the empty one. After a fault it continues, to collect the fields of the answer. */
function parseFields(head: string, from: number, maxHeaders: number): Fields {
  const names: string[] = [];
  const keys: string[] = [];
  const values: string[] = [];
  let fault: Fault | null = null;
  let bodyStart = -1;
  let text: string | null = null;
  let usual = true;
  let at = from;
  while (at < head.length) {
    const lineEnd = endOfLine(head, at);
    const end = contentEnd(head, at, lineEnd);
    if (end === at) {
      if (usual && fault === null) text = head.slice(from, at);
      if (lineEnd < head.length) bodyStart = lineEnd + 1;
      break;
    }
    let next = lineEnd + 1;
    let nameEnd = at;
    while (nameEnd < end && TOKEN[head.charCodeAt(nameEnd)] === 1) nameEnd++;
    const colon = skipSpace(head, nameEnd, end);
    const firstCr = head.indexOf('\r', at);
    const bareCr = firstCr !== -1 && firstCr < end;
    let value = bareCr || colon === end ? '' : trimmed(head, colon + 1, end);
    if (next < head.length && isSpace(head.charCodeAt(next))) {
      usual = false;
      const folded = unfold(head, next, value);
      value = folded.value;
      next = folded.next;
    }
    if (nameEnd === at || head.charCodeAt(colon) !== COLON || bareCr || value.includes('\r')) {
      fault ??= malformed('Malformed Header Field');
    } else if (names.length === maxHeaders) {
      fault ??= { status: 513, reason: 'Too Many Header Fields' };
      break;
    } else {
      const known = knownName(head, at, nameEnd);
      const name = known?.name ?? head.slice(at, nameEnd);
      const key = known?.key ?? headerKey(name);
      // A second length is not written.
      usual &&= key !== 'content-length' || !keys.includes(key);
      names.push(name);
      keys.push(key);
      values.push(value);
      // `Name: value` and CRLF
      usual &&= lineEnd === end + 1 && at + name.length + 2 + value.length === end && head[colon + 1] === ' ';
    }
    at = next;
  }
  return { headers: HeaderList.from(names, keys, values, text), bodyStart, fault };
}

/** Joins continuation lines: a line break and the white space around it become one space (RFC 3261 section 7.3.1). */
function unfold(head: string, from: number, first: string): { value: string; next: number } {
  const parts = first === '' ? [] : [first];
  let next = from;
  while (next < head.length && isSpace(head.charCodeAt(next))) {
    const lineEnd = endOfLine(head, next);
    const part = trimmed(head, next, contentEnd(head, next, lineEnd));
    if (part !== '') parts.push(part);
    next = lineEnd + 1;
  }
  return { value: parts.join(' '), next };
}

/** The position of the line feed that ends the line at `from`, or the length of the text. */
function endOfLine(head: string, from: number): number {
  const lf = head.indexOf('\n', from);
  return lf === -1 ? head.length : lf;
}

/**
 * RFC 3261 section 7: start line and header lines end in CRLF. Another element may take for one line what we take
 * for two, and then each sees a different message.
 */
function hasBareLf(head: string, end: number): boolean {
  for (let lf = head.indexOf('\n'); lf !== -1 && lf < end; lf = head.indexOf('\n', lf + 1)) {
    if (lf === 0 || head.charCodeAt(lf - 1) !== CR) return true;
  }
  return false;
}

/** Where a line's content ends: before CRLF, or before a bare LF. */
function contentEnd(head: string, from: number, lineEnd: number): number {
  return lineEnd > from && head.charCodeAt(lineEnd - 1) === CR ? lineEnd - 1 : lineEnd;
}
