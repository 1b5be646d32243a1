/**
 * Cuts a byte stream into SIP messages by Content-Length (RFC 3261 section 18.3) and finds the keepalives of
 * RFC 5626 section 4.4.1 between them. No socket and no clock inside: octets in, events out. How the stream is
 * split into chunks makes no difference to the events.
 *
 * A response of another protocol, such as a middlebox puts in, is cut as a message too while its length is known:
 * the parser drops it, and the calls on the connection live on.
 */
import { COLON, CR, isDigit, isSpace, LF, SPACE, TAB, TOKEN } from './chars.ts';
import { DEFAULT_MESSAGE_LIMITS } from './limits.ts';

export interface FramingLimits {
  /** Octets of a whole message, head and body. */
  readonly maxBytes: number;
}

export type FrameEvent =
  /** One whole message. `bytes` belongs to the receiver. */
  | { readonly kind: 'message'; readonly bytes: Buffer }
  /** A second CRLF after a first one: both together are a ping, to be answered with one CRLF. */
  | { readonly kind: 'ping' }
  /** A first CRLF between messages: the answer to a ping of ours, the first half of a ping, or nothing. */
  | { readonly kind: 'pong' }
  /** The stream cannot be cut any further: close the connection. Nothing follows this event. */
  | FrameError;

export interface FrameError {
  readonly kind: 'error';
  /** The answer if `partial` is a request: 400 or 513. */
  readonly status: 400 | 513;
  readonly reason: string;
  /** The head as far as it is known, fit for `parseMessage`; null when this is no SIP. */
  readonly partial: Buffer | null;
}

const PING: FrameEvent = { kind: 'ping' };
const PONG: FrameEvent = { kind: 'pong' };
const EMPTY = Buffer.alloc(0);
const CONTENT_LENGTH = Buffer.from('content-length', 'latin1');

/** What the lines of a head said so far about the length of the body. */
const NOT_SEEN = -1;

export class StreamFramer {
  readonly #maxBytes: number;
  /** Octets of an unfinished message, from 0 to `#stored`. */
  #store: Buffer = EMPTY;
  #stored = 0;
  /** Start of the first head line not looked at yet, relative to the message. */
  #line = 0;
  /** Where the value of the Content-Length line begins whose end is not known yet (it may be folded), or -1. */
  #valueStart = -1;
  #bodyLength = NOT_SEEN;
  /** What is wrong with the Content-Length lines, told once the head is whole: the answer needs all of it. */
  #lengthFault: string | null = null;
  /** Octets of the message in which the next line feed has been searched for. */
  #scanned = 0;
  /** Length of the whole message, 0 while its head is incomplete. */
  #total = 0;
  /** An odd number of CRLFs came since the last message. */
  #halfPing = false;
  #failed = false;

  constructor(limits: FramingLimits = DEFAULT_MESSAGE_LIMITS) {
    this.#maxBytes = limits.maxBytes;
  }

  /** Octets of a message that has begun and is not complete: what a slow sender is measured by. */
  get pendingBytes(): number {
    return this.#stored;
  }

  /** Octets of memory that an unfinished message takes. */
  get heldBytes(): number {
    return this.#store.length;
  }

  /** Forgets a single CRLF, once it is known to have been the answer to a ping of ours. */
  forgetHalfPing(): void {
    this.#halfPing = false;
  }

  /** Takes the next octets of the stream. `chunk` must not be written to afterwards: messages are views of it. */
  push(chunk: Buffer): FrameEvent[] {
    const events: FrameEvent[] = [];
    if (this.#failed) return events;
    let data = chunk;
    if (this.#stored > 0) {
      this.#append(chunk);
      // What is known to be short needs no look before it is whole.
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

  /** CRLFs before a start line are ignored but for keepalive (RFC 3261 section 7.5); a bare LF counts for nothing. */
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

  /** Emits the message at `from` when it is whole, and returns its end; -1 when not, or after a failure. */
  #cutMessage(data: Buffer, from: number, events: FrameEvent[]): number {
    if (this.#total === 0 && !this.#readHead(data, from, events)) return -1;
    const end = from + this.#total;
    if (end > data.length) return -1;
    events.push({ kind: 'message', bytes: data.subarray(from, end) });
    this.#line = 0;
    this.#scanned = 0;
    this.#bodyLength = NOT_SEEN;
    this.#total = 0;
    this.#halfPing = false;
    return end;
  }

  /** Goes on line by line; true once the head is complete and the length of the message known. */
  #readHead(data: Buffer, from: number, events: FrameEvent[]): boolean {
    let line = from + this.#line;
    for (;;) {
      let lf = Math.max(line, from + this.#scanned);
      while (lf < data.length && data[lf] !== LF) lf++;
      if (lf === data.length) return this.#headIncomplete(data, from, line, events);
      const first = data[line];
      if (line === from && !isFirstLine(data, from, lf)) {
        this.#fail(events, 400, 'not SIP: the first line is no SIP start line', null);
        return false;
      }
      // A line that begins with white space goes on with the line before (section 7.3.1).
      const folded = first === SPACE || first === TAB;
      if (this.#valueStart !== -1 && !folded) this.#takeLength(data, from, line);
      if (first === LF || (first === CR && lf === line + 1))
        return this.#headComplete(data, from, lf + 1, events);
      if (first === CR) {
        // Where a head ends that has such a line is anybody's guess: a peer that means its end waits for the answer.
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
      this.#fail(events, 400, 'not SIP: the first line is no SIP start line', null);
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
      // Section 18.3: on a stream the header is a must, for nothing else tells where the message ends.
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

  /** Reads the Content-Length value that ends before `end`. Two that differ leave the length open. */
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
      // Doubling keeps a message that comes octet by octet from being copied as often as it has octets.
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#total, 2 * this.#store.length));
      this.#store.copy(grown, 0, 0, this.#stored);
      this.#store = grown;
    }
    chunk.copy(this.#store, this.#stored);
    this.#stored = needed;
  }

  /** Keeps the rest from `from` in a store of its own: messages cut before it are views of the old one. */
  #keep(data: Buffer, from: number): void {
    this.#release();
    if (from < data.length) this.#append(data.subarray(from));
  }

  #release(): void {
    this.#store = EMPTY;
    this.#stored = 0;
  }
}

/** Whether a message of SIP or of a protocol like it can begin so. What is wrong in detail, the parser says. */
function isFirstLine(data: Buffer, from: number, lf: number): boolean {
  if (TOKEN[data[from] ?? 0] !== 1) return false;
  return isStatusLine(data, from, lf) || (!hasControl(data, from, lf) && endsInVersion(data, from, lf));
}

/** Whether the line has a SIP version at its start or behind white space, as a request line has. */
function endsInVersion(data: Buffer, from: number, lf: number): boolean {
  for (let i = lf - 4; i >= from; i--) {
    if (data[i + 3] === 47 && isSip(data, i) && (i === from || isSpace(data[i - 1] ?? 0))) return true;
  }
  return false;
}

/** Whether the line is a status line of any protocol: `HTTP/1.1 200 OK`, `SIP/2.0 999 What`. */
function isStatusLine(data: Buffer, from: number, lf: number): boolean {
  return /^[A-Z]{2,16}\/\d\.\d \d{3}(?:[ \r]|$)/.test(data.toString('latin1', from, Math.min(lf, from + 40)));
}

/** Whether a head is a status line and nothing else: there is no header, so there can be no body. */
function isBareStatusLine(head: Buffer): boolean {
  const lf = head.indexOf(LF);
  return head.length - lf <= 3 && isStatusLine(head, 0, lf);
}

function isSip(data: Buffer, at: number): boolean {
  return (
    ((data[at] ?? 0) | 32) === 115 && ((data[at + 1] ?? 0) | 32) === 105 && ((data[at + 2] ?? 0) | 32) === 112
  );
}

/** Whether an unfinished first line may still become a start line: binary garbage is cut without waiting. */
function mayBeStartLine(data: Buffer, from: number, unseen: number): boolean {
  if (TOKEN[data[from] ?? 0] !== 1) return false;
  // A CR that was the last octet may have turned out to be a bare one.
  return !hasControl(data, Math.max(from, unseen - 1), data.length) || isStatusLine(data, from, data.length);
}

/** The same for a line that is whole and one that is not yet: a stream ends alike, however TCP cuts it. A final CR is none. */
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

/** Digits with white space and line breaks around them; null for anything else and for absurd lengths. */
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
