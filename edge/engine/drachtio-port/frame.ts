/**
 * Frames of the drachtio application protocol: `<decimal length>#<payload>`, with the length in octets. A payload
 * is a line of tokens separated by `|`, optionally followed by CRLF and a SIP message.
 */
const HASH = 35;
const PIPE = 124;
const CR = 13;
/** Longer digit strings are not a length. */
const MAX_DIGITS = 10;
/** Octets kept of a frame over the limit: enough for its id, to which the error is addressed. */
const KEPT_OF_OVERSIZE = 128;

export interface Frame {
  /** Tokens of the first line: id, type, and arguments of the type. Text in latin1, as in SIP messages. */
  readonly tokens: readonly string[];
  /** What follows the first line and its CRLF; empty when nothing does. A view that stays valid. */
  readonly sip: Buffer;
}

export interface FrameEvents {
  frame(frame: Frame): void;
  /** A frame over the limit was skipped. `id`: its first token, as far as it was readable. */
  oversize(id: string, bytes: number): void;
}

/** The octets are not valid frames: the connection cannot be resynchronized and must be closed. */
export class FramingError extends Error {
  override readonly name = 'FramingError';
}

/** Splits a byte stream into frames, however TCP segments it. */
export class FrameReader {
  readonly #maxBytes: number;
  readonly #events: FrameEvents;
  /** Octets of an incomplete frame, in the chunks in which they arrived. */
  #pieces: Buffer[] = [];
  #held = 0;
  /** Octets needed before the incomplete frame is parsed again. */
  #wanted = 0;
  /** Octets of an oversize frame still to skip. */
  #skip = 0;

  constructor(maxBytes: number, events: FrameEvents) {
    this.#maxBytes = maxBytes;
    this.#events = events;
  }

  /** @throws FramingError */
  push(chunk: Buffer): void {
    let data = chunk;
    if (this.#skip > 0) {
      const skipped = Math.min(this.#skip, data.length);
      this.#skip -= skipped;
      data = data.subarray(skipped);
    }
    if (data.length === 0) return;
    if (this.#held > 0) {
      this.#pieces.push(data);
      this.#held += data.length;
      if (this.#held < this.#wanted) return;
      data = Buffer.concat(this.#pieces, this.#held);
      this.#pieces = [];
      this.#held = 0;
    }
    this.#cut(data);
  }

  #cut(data: Buffer): void {
    let at = 0;
    while (at < data.length) {
      const hash = data.indexOf(HASH, at);
      if (hash === -1) {
        if (data.length - at > MAX_DIGITS) throw new FramingError('missing frame length');
        this.#hold(data.subarray(at), 0);
        return;
      }
      const length = parseLength(data, at, hash);
      const start = hash + 1;
      if (length > this.#maxBytes) {
        const available = data.length - start;
        if (available < Math.min(KEPT_OF_OVERSIZE, length)) {
          this.#hold(data.subarray(at), start - at + KEPT_OF_OVERSIZE);
          return;
        }
        this.#events.oversize(idOf(data, start), length);
        this.#skip = Math.max(0, length - available);
        at = Math.min(data.length, start + length);
        continue;
      }
      if (start + length > data.length) {
        this.#hold(data.subarray(at), start - at + length);
        return;
      }
      this.#events.frame(parsePayload(data, start, start + length));
      at = start + length;
    }
  }

  #hold(rest: Buffer, wanted: number): void {
    // A copy: the remainder is short-lived, and the chunk it points into may be large.
    this.#pieces = [Buffer.from(rest)];
    this.#held = rest.length;
    this.#wanted = wanted;
  }
}

function parseLength(data: Buffer, from: number, hash: number): number {
  let length = 0;
  for (let i = from; i < hash; i++) {
    const digit = (data[i] ?? 0) - 48;
    if (digit < 0 || digit > 9) throw new FramingError('a frame length contains non-digits');
    length = length * 10 + digit;
  }
  if (hash === from || hash - from > MAX_DIGITS) throw new FramingError('invalid frame length');
  return length;
}

function idOf(data: Buffer, start: number): string {
  const pipe = data.indexOf(PIPE, start);
  return pipe === -1 || pipe - start > KEPT_OF_OVERSIZE ? '' : data.toString('latin1', start, pipe);
}

function parsePayload(data: Buffer, start: number, end: number): Frame {
  const lineEnd = data.indexOf(CR, start);
  if (lineEnd === -1 || lineEnd >= end) {
    return { tokens: data.toString('latin1', start, end).split('|'), sip: data.subarray(end, end) };
  }
  return {
    tokens: data.toString('latin1', start, lineEnd).split('|'),
    sip: data.subarray(Math.min(end, lineEnd + 2), end),
  };
}

/** Encodes a frame. `line`: the tokens, joined, in latin1. `sip`: the message that follows, if any. */
export function encodeFrame(line: string, sip: Buffer | null): Buffer {
  const length = line.length + (sip === null ? 0 : 2 + sip.length);
  const head = sip === null ? `${length}#${line}` : `${length}#${line}\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + (sip?.length ?? 0));
  bytes.write(head, 'latin1');
  if (sip) bytes.set(sip, head.length);
  return bytes;
}
