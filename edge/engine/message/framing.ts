/**
 * Splits a byte stream into SIP messages by Content-Length (RFC 3261 section 18.3) and finds the keepalives of
 * RFC 5626 section 4.4.1 between them. No socket and no clock: octets in, events out. The events do not depend on
 * how the stream is split into chunks.
 *
 * A response of another protocol, such as a middlebox inserts, is also framed as a message while its length is
 * known: the parser drops it, and calls on the connection continue.
 */
import { COLON, CR, isDigit, isSpace, LF, SLASH, SPACE, TAB, TOKEN } from './chars.ts';
import { DEFAULT_MESSAGE_LIMITS } from './limits.ts';

export interface FramingLimits {
  /** Octets in a whole message, head and body. */
  readonly maxBytes: number;
}

export type FrameEvent =
  /** One whole message. `bytes` belongs to the receiver. */
  | { readonly kind: 'message'; readonly bytes: Buffer }
  /** The second of two CRLFs: together they are a ping, to be answered with one CRLF. */
  | { readonly kind: 'ping' }
  /** The first CRLF between messages: the answer to our ping, the first half of a ping, or noise. */
  | { readonly kind: 'pong' }
  /** The stream cannot be split any further: close the connection. No event follows. */
  | FrameError;

export interface FrameError {
  readonly kind: 'error';
  /** The status to answer if `partial` is a request: 400 or 513. */
  readonly status: 400 | 513;
  readonly reason: string;
  /** The head as far as known, fit for `parseMessage`; null when this is not SIP. */
  readonly partial: Buffer | null;
}

const PING: FrameEvent = { kind: 'ping' };
const PONG: FrameEvent = { kind: 'pong' };
const EMPTY = Buffer.alloc(0);
const CONTENT_LENGTH = Buffer.from('content-length', 'latin1');

const UPPER_A = 65;
const UPPER_Z = 90;

/** Values for the Content-Length that the head has given so far. */
const NOT_SEEN = -1;

export class StreamFramer {
  readonly #maxBytes: number;
  /** Octets of an incomplete message, from 0 to `#stored`. */
  #store: Buffer = EMPTY;
  #stored = 0;
  /** Start of the first head line not parsed yet, relative to the message. */
  #line = 0;
  /** Start of a Content-Length value whose end is not known yet (it may be folded), or -1. */
  #valueStart = -1;
  #bodyLength = NOT_SEEN;
  /** Fault in the Content-Length lines, reported once the head is complete: the answer needs all of it. */
  #lengthFault: string | null = null;
  /** Octets of the message already searched for the next line feed. */
  #scanned = 0;
  /** Length of the whole message, 0 while its head is incomplete. */
  #total = 0;
  /** Whether an odd number of CRLFs arrived since the last message. */
  #halfPing = false;
  #failed = false;

  constructor(limits: FramingLimits = DEFAULT_MESSAGE_LIMITS) {
    this.#maxBytes = limits.maxBytes;
  }

  /** Octets of an incomplete message: used to time slow senders. */
  get pendingBytes(): number {
    return this.#stored;
  }

  /** Octets of memory that an incomplete message takes. */
  get heldBytes(): number {
    return this.#store.length;
  }

  /** Forgets a single CRLF that turned out to answer our ping. */
  forgetHalfPing(): void {
    this.#halfPing = false;
  }

  /** Processes the next octets of the stream. `chunk` must not be modified afterwards: messages are views of it. */
  push(chunk: Buffer): FrameEvent[] {
    const events: FrameEvent[] = [];
    if (this.#failed) return events;
    let data = chunk;
    if (this.#stored > 0) {
      this.#append(chunk);
      // A message known to be incomplete is not parsed again.
      if (this.#stored < this.#total) return events;
      data = this.#store.subarray(0, this.#stored);
    }
    let at = 0;
    while (at < data.length) {
      const next = this.#line === 0 && this.#total === 0 ? this.#skipLineBreaks(data, at, events) : at;
      if (next === -1 || next === data.length) {
        at = next;
        break;
      }
      at = next;
      if (data[at] === CR) break;
      const end = this.#cutMessage(data, at, events);
      if (end === -1) break;
      at = end;
    }
    if (this.#failed || at === -1) this.#release();
    else if (at > 0 || data === chunk) this.#keep(data, at);
    return events;
  }

  /** Ignores CRLFs before a start line except for keepalive (RFC 3261 section 7.5); a bare LF has no effect. */
  #skipLineBreaks(data: Buffer, from: number, events: FrameEvent[]): number {
    let at = from;
    while (at < data.length) {
      if (data[at] === LF) {
        at++;
        continue;
      }
      if (data[at] !== CR || at + 1 === data.length) break;
      if (data[at + 1] !== LF) return this.#fail(events, 400, 'not SIP: a bare CR between messages', null);
      events.push(this.#halfPing ? PING : PONG);
      this.#halfPing = !this.#halfPing;
      at += 2;
    }
    return at;
  }

  /** Emits the message at `from` when it is complete, and returns its end; -1 when it is not, or after a failure. */
  #cutMessage(data: Buffer, from: number, events: FrameEvent[]): number {
    if (this.#total === 0 && !this.#readHead(data, from, events)) return -1;
    const end = from + this.#total;
    if (end > data.length) return -1;
    const isAll = from === 0 && end === data.length;
    events.push({ kind: 'message', bytes: isAll ? data : data.subarray(from, end) });
    this.#line = 0;
    this.#scanned = 0;
    this.#bodyLength = NOT_SEEN;
    this.#total = 0;
    this.#halfPing = false;
    return end;
  }

  /** Continues line by line; true once the head is complete and the length of the message known. */
  #readHead(data: Buffer, from: number, events: FrameEvent[]): boolean {
    let line = from + this.#line;
    for (;;) {
      let lf = Math.max(line, from + this.#scanned);
      while (lf < data.length && data[lf] !== LF) lf++;
      if (lf === data.length) return this.#headIncomplete(data, from, line, events);
      const first = data[line];
      if (line === from && !isFirstLine(data, from, lf)) {
        this.#fail(events, 400, 'not SIP: the first line is not a SIP start line', null);
        return false;
      }
      // A line that begins with white space continues the previous line (section 7.3.1).
      const folded = first === SPACE || first === TAB;
      if (this.#valueStart !== -1 && !folded) this.#takeLength(data, from, line);
      if (first === LF || (first === CR && lf === line + 1))
        return this.#headComplete(data, from, lf + 1, events);
      if (first === CR) {
        // With such a line the end of the head is ambiguous: a peer that takes this for its end waits for the
        // answer.
        this.#fail(events, 400, 'Malformed Header Field', data.subarray(from, lf + 1));
        return false;
      }
      const value = folded ? -1 : contentLengthValue(data, line, lf);
      if (value !== -1) this.#valueStart = value - from;
      line = lf + 1;
      this.#line = line - from;
    }
  }

  #headIncomplete(data: Buffer, from: number, line: number, events: FrameEvent[]): false {
    if (data.length - from > this.#maxBytes) {
      this.#fail(events, 513, `head of more than ${this.#maxBytes} octets`, data.subarray(from, line));
    } else if (line === from && !mayBeStartLine(data, from, from + this.#scanned)) {
      this.#fail(events, 400, 'not SIP: the first line is not a SIP start line', null);
    }
    this.#scanned = data.length - from;
    return false;
  }

  #headComplete(data: Buffer, from: number, bodyStart: number, events: FrameEvent[]): boolean {
    const head = data.subarray(from, bodyStart);
    if (this.#lengthFault !== null) {
      this.#fail(events, 400, this.#lengthFault, head);
      return false;
    }
    if (this.#bodyLength === NOT_SEEN && isBareStatusLine(head)) this.#bodyLength = 0;
    if (this.#bodyLength === NOT_SEEN) {
      // Section 18.3: on a stream the header is mandatory, as nothing else marks the end of the message.
      this.#fail(events, 400, 'Missing Content-Length', head);
      return false;
    }
    const total = bodyStart - from + this.#bodyLength;
    if (total > this.#maxBytes) {
      this.#fail(events, 513, `message of ${total} octets, ${this.#maxBytes} allowed`, head);
      return false;
    }
    this.#total = total;
    return true;
  }

  /** Reads the Content-Length value that ends before `end`. Two different values are a fault. */
  #takeLength(data: Buffer, from: number, end: number): void {
    const length = readLength(data, from + this.#valueStart, end);
    this.#valueStart = -1;
    if (length === null) this.#lengthFault = 'Bad Content-Length';
    else if (this.#bodyLength === NOT_SEEN) this.#bodyLength = length;
    else if (this.#bodyLength !== length) this.#lengthFault = 'Contradicting Content-Length';
  }

  #fail(events: FrameEvent[], status: 400 | 513, reason: string, partial: Buffer | null): -1 {
    this.#failed = true;
    events.push({ kind: 'error', status, reason, partial });
    return -1;
  }

  #append(chunk: Buffer): void {
    const needed = this.#stored + chunk.length;
    if (needed > this.#store.length) {
      // Doubling keeps the copying linear when a message arrives octet by octet.
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#total, 2 * this.#store.length));
      this.#store.copy(grown, 0, 0, this.#stored);
      this.#store = grown;
    }
    chunk.copy(this.#store, this.#stored);
    this.#stored = needed;
  }

  /** Moves the remainder from `from` to a new store: messages already delivered are views of the old one. */
  #keep(data: Buffer, from: number): void {
    this.#release();
    if (from < data.length) this.#append(data.subarray(from));
  }

  #release(): void {
    this.#store = EMPTY;
    this.#stored = 0;
  }
}

/** Whether this can be the first line of a SIP message or a similar protocol. The parser reports the details. */
function isFirstLine(data: Buffer, from: number, lf: number): boolean {
  if (TOKEN[data[from] ?? 0] !== 1) return false;
  return isStatusLine(data, from, lf) || (!hasControl(data, from, lf) && endsInVersion(data, from, lf));
}

/** Whether the line has a SIP version at its start or after white space, as a request line has. */
function endsInVersion(data: Buffer, from: number, lf: number): boolean {
  for (let i = lf - 4; i >= from; i--) {
    if (data[i + 3] === 47 && isSip(data, i) && (i === from || isSpace(data[i - 1] ?? 0))) return true;
  }
  return false;
}

/** Whether the line is a status line of any protocol: `HTTP/1.1 200 OK`, `SIP/2.0 999 What`. */
function isStatusLine(data: Buffer, from: number, lf: number): boolean {
  // Before text is made of it: a request has a space where the protocol of a response has its slash.
  let slash = from;
  while (slash < lf && (data[slash] ?? 0) >= UPPER_A && (data[slash] ?? 0) <= UPPER_Z) slash++;
  if (data[slash] !== SLASH) return false;
  return /^[A-Z]{2,16}\/\d\.\d \d{3}(?:[ \r]|$)/.test(data.toString('latin1', from, Math.min(lf, from + 40)));
}

/** Whether a head is only a status line: without headers there can be no body. */
function isBareStatusLine(head: Buffer): boolean {
  const lf = head.indexOf(LF);
  return head.length - lf <= 3 && isStatusLine(head, 0, lf);
}

function isSip(data: Buffer, at: number): boolean {
  return (
    ((data[at] ?? 0) | 32) === 115 && ((data[at + 1] ?? 0) | 32) === 105 && ((data[at + 2] ?? 0) | 32) === 112
  );
}

/** Whether an incomplete first line may still become a start line: binary garbage is rejected without waiting. */
function mayBeStartLine(data: Buffer, from: number, unseen: number): boolean {
  if (TOKEN[data[from] ?? 0] !== 1) return false;
  // A CR that was the last octet may now turn out to be a bare one.
  return !hasControl(data, Math.max(from, unseen - 1), data.length) || isStatusLine(data, from, data.length);
}

/**
 * The same check for complete and incomplete lines, so that the result does not depend on TCP segments. A final
 * CR is allowed.
 */
function hasControl(data: Buffer, from: number, end: number): boolean {
  for (let i = from; i < end; i++) {
    const code = data[i] ?? 0;
    if (code < 32 && code !== TAB && (code !== CR || i + 1 < end)) return true;
  }
  return false;
}

/** The position after the colon when the line is Content-Length or its compact form, else -1. */
function contentLengthValue(data: Buffer, line: number, lf: number): number {
  const first = (data[line] ?? 0) | 32;
  let nameEnd: number;
  if (first === 108) nameEnd = line + 1;
  else if (first === 99 && lf - line > CONTENT_LENGTH.length && isContentLength(data, line)) {
    nameEnd = line + CONTENT_LENGTH.length;
  } else return -1;
  while (isSpace(data[nameEnd] ?? 0)) nameEnd++;
  return data[nameEnd] === COLON ? nameEnd + 1 : -1;
}

function isContentLength(data: Buffer, line: number): boolean {
  for (let i = 1; i < CONTENT_LENGTH.length; i++) {
    const code = data[line + i] ?? 0;
    if (code !== CONTENT_LENGTH[i] && (code | 32) !== CONTENT_LENGTH[i]) return false;
  }
  return true;
}

/** Digits with surrounding white space and line breaks; null for anything else and for absurd lengths. */
function readLength(data: Buffer, from: number, end: number): number | null {
  let i = from;
  let length = 0;
  let digits = 0;
  const skip = () => {
    while (i < end && (isSpace(data[i] ?? 0) || data[i] === CR || data[i] === LF)) i++;
  };
  skip();
  for (; i < end && isDigit(data[i] ?? 0); i++, digits++) length = length * 10 + ((data[i] ?? 0) - 48);
  skip();
  return digits === 0 || i < end || !Number.isSafeInteger(length) ? null : length;
}
