/**
 * Parses SIP responses of unknown systems leniently: bare LF, folded and unknown headers, missing Content-Length. Keeps
 * header names as written and in order, because they help to identify the system. Messages are only inspected here,
 * never acted on.
 */

export interface SipHeader {
  /** As written. */
  readonly name: string;
  readonly value: string;
}

export interface SipResponse {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly SipHeader[];
  readonly body: string;
}

/** RFC 3261 section 7.3.3 and later extensions. */
const compactForms: Readonly<Record<string, string>> = {
  a: 'accept-contact',
  c: 'content-type',
  d: 'request-disposition',
  e: 'content-encoding',
  f: 'from',
  i: 'call-id',
  k: 'supported',
  l: 'content-length',
  m: 'contact',
  o: 'event',
  s: 'subject',
  t: 'to',
  u: 'allow-events',
  v: 'via',
  x: 'session-expires',
};

/** The values of a header in order; the long name in any case. */
export function headerValues(response: SipResponse, name: string): string[] {
  const wanted = name.toLowerCase();
  return response.headers.filter((header) => longName(header.name) === wanted).map(({ value }) => value);
}

/** The elements of a comma-separated header, over all its lines (RFC 3261 section 7.3.1); null without one. */
export function headerList(response: SipResponse, name: string): string[] | null {
  const values = headerValues(response, name);
  if (values.length === 0) return null;
  return values.flatMap((value) => value.split(',').map((item) => item.trim())).filter((item) => item !== '');
}

export function longName(name: string): string {
  const lower = name.toLowerCase();
  return compactForms[lower] ?? lower;
}

const headersOnly = /^([^\r\n]*)\r?\n([\s\S]*)$/;

/** Parses one message; null when it is not a SIP response. */
export function parseResponse(text: string): SipResponse | null {
  const end = headEnd(text);
  const head = text.slice(0, end?.at ?? text.length);
  const match = headersOnly.exec(head);
  const startLine = match?.[1] ?? head.trimEnd();
  const status = /^SIP\/2\.0 +([1-6]\d\d)(?: (.*))?$/i.exec(startLine.trim());
  if (!status) return null;
  const lines = (match?.[2] ?? '').replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const headers = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    if (colon <= 0) return [];
    return [{ name: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() }];
  });
  return {
    status: Number(status[1]),
    reason: status[2]?.trim() ?? '',
    headers,
    body: end ? text.slice(end.at + end.length) : '',
  };
}

function headEnd(text: string): { readonly at: number; readonly length: number } | null {
  const match = /\r?\n\r?\n/.exec(text);
  return match ? { at: match.index, length: match[0].length } : null;
}

export type StreamVerdict = SipResponse | 'more' | 'not_sip';

/**
 * Parses a stream and returns the first final response to the request with `branch`. Requests from the far end (some
 * send OPTIONS themselves), provisional responses and keepalives are skipped.
 */
export class ResponseReader {
  readonly #branch: string;
  readonly #maxBytes: number;
  #text = '';

  constructor(branch: string, maxBytes: number) {
    this.#branch = branch;
    this.#maxBytes = maxBytes;
  }

  /** @param bytes decoded as latin1, so that one character is one byte, as Content-Length counts */
  push(bytes: Buffer): StreamVerdict {
    this.#text += bytes.toString('latin1');
    for (;;) {
      this.#text = this.#text.replace(/^[\r\n]+/, '');
      if (this.#text.length === 0) return 'more';
      if (!beginsLikeSip(this.#text)) return 'not_sip';
      const end = headEnd(this.#text);
      if (!end) return this.#text.length > this.#maxBytes ? 'not_sip' : 'more';
      const bodyAt = end.at + end.length;
      const length = bodyAt + bodyLength(this.#text.slice(0, end.at));
      if (length > this.#maxBytes) return 'not_sip';
      if (this.#text.length < length) return 'more';
      const message = this.#text.slice(0, length);
      this.#text = this.#text.slice(length);
      const response = parseResponse(message);
      if (response && isAnswer(response, this.#branch)) return response;
    }
  }
}

/** A final response to the request with `branch` (RFC 3261 section 17.1.3). */
export function isAnswer(response: SipResponse, branch: string): boolean {
  return response.status >= 200 && (headerValues(response, 'via')[0] ?? '').includes(branch);
}

function bodyLength(head: string): number {
  const match = /^(?:content-length|l)[ \t]*:[ \t]*(\d{1,7})[ \t]*$/im.exec(head);
  return match ? Number(match[1]) : 0;
}

/** The start of a response or request, possibly incomplete. */
function beginsLikeSip(text: string): boolean {
  const line = text.slice(0, 4096).split('\n', 1)[0] ?? '';
  if (!text.includes('\n')) return line.length < 4096 && /^[\x20-\x7e\r]*$/.test(line);
  return /^SIP\/2\.0 /i.test(line) || /^[A-Z]+ \S+ SIP\/2\.0\r?$/i.test(line);
}
