/**
 * What S3-compatible servers answer, as far as it is needed here. Their XML is flat: elements are found by name. Customers
 * name these servers, so the time of reading an answer is linear in its length, whatever it says. Pure.
 */

/** A part that the server has. */
export interface StoredPart {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
}

/** Of a code or message of a server that is looked at, characters. */
const mostWords = 2_000;
/** Of an error in words, characters. */
const mostErrorLength = 300;
/** Of an id of an upload, and of a tag of a part, characters. They are sent back in requests. */
const mostIdLength = 1_024;
/** Redirects, which are not followed: the signature names the host (RFC 9110 section 15.4). */
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** An answer of a server that does not do what S3 does. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
}

/** An error response as a sentence for the person who configured the storage. */
export class S3Failure extends Error {
  override readonly name = 'S3Failure';
  readonly status: number;
  /** Of the server, such as `NoSuchUpload`; empty when the answer has none. */
  readonly code: string;

  /** @param location of a redirect */
  constructor(status: number, body: string, location: string | null = null) {
    const code = harmless(textOf(body, 'Code'));
    const message = harmless(textOf(body, 'Message'));
    const words = [`the storage answered ${status}`, ...(code === '' ? [] : [code])].join(' ');
    const where = redirects.includes(status) ? ` and redirects${target(body, location)}` : '';
    const all = message === '' ? words + where : `${words}${where}: ${message}`;
    super(all.slice(0, mostErrorLength));
    this.status = status;
    this.code = code;
  }
}

/** The text of the first element with this name; empty when there is none. */
export function textOf(xml: string, name: string): string {
  const [text = ''] = inner(xml, name, 1);
  return unescaped(text);
}

/** @throws UnusableAnswer when it is missing, or too long to be sent back */
export function uploadIdOf(xml: string): string {
  const id = textOf(xml, 'UploadId');
  if (id === '') throw new UnusableAnswer('the storage began an upload without an UploadId');
  if (id.length > mostIdLength)
    throw new UnusableAnswer(`the storage's UploadId is longer than ${mostIdLength} characters`);
  return id;
}

/** Uploads that were begun and neither completed nor aborted; at most `most`. */
export function uploadsIn(xml: string, most: number): { key: string; id: string }[] {
  return inner(xml, 'Upload', most)
    .map((upload) => ({ key: textOf(upload, 'Key'), id: textOf(upload, 'UploadId') }))
    .filter(({ id }) => id !== '' && id.length <= mostIdLength);
}

/** At most `most`. */
export function partsIn(xml: string, most: number): StoredPart[] {
  return inner(xml, 'Part', most)
    .map((part) => ({
      number: Number(textOf(part, 'PartNumber')),
      size: Number(textOf(part, 'Size')),
      etag: textOf(part, 'ETag'),
    }))
    .filter(({ etag }) => etag.length <= mostIdLength);
}

/** The body that completes an upload. */
export function completion(parts: readonly StoredPart[]): string {
  const items = parts.map(
    ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${items.join('')}</CompleteMultipartUpload>`;
}

/** What is in the first `most` elements with this name. A search that finds nothing is the last: each character is read once. */
function inner(xml: string, name: string, most: number): string[] {
  const [head, tail] = [`<${name}>`, `</${name}>`];
  const found: string[] = [];
  for (let at = 0; found.length < most; ) {
    const begin = xml.indexOf(head, at);
    const end = begin < 0 ? -1 : xml.indexOf(tail, begin + head.length);
    if (end < 0) break;
    found.push(xml.slice(begin + head.length, end));
    at = end + tail.length;
  }
  return found;
}

/** Where a redirect leads; empty when the server does not say it. */
function target(body: string, location: string | null): string {
  const endpoint = harmless(textOf(body, 'Endpoint'));
  if (endpoint !== '') return ` to ${endpoint}`;
  return location !== null && URL.canParse(location) ? ` to ${new URL(location).host}` : '';
}

/**
 * Words of a server, for logs and settings: without characters that are not shown, and without what some servers repeat of
 * a signed request.
 */
function harmless(text: string): string {
  return text
    .slice(0, mostWords)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .replaceAll(/AWS4-HMAC-SHA256[^<]*|\b(?:X-Amz-)?Signature=[^\s,&]*/gi, '…')
    .trim();
}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescaped(text: string): string {
  return text.replaceAll(
    /&(?:(lt|gt|quot|apos|amp)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi,
    (whole, name, dec, hex) => {
      if (name !== undefined) return named[String(name).toLowerCase()] ?? whole;
      const point = dec === undefined ? Number.parseInt(String(hex), 16) : Number(dec);
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    },
  );
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
