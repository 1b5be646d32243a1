/** What S3-compatible servers answer, as far as it is needed here. Their XML is flat: elements are found by name. Pure. */

/** A part that the server has. */
export interface StoredPart {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
}

/** An answer that is no success, in words for whoever configured the storage. */
export class S3Failure extends Error {
  override readonly name = 'S3Failure';
  readonly status: number;
  /** Of the server, such as `NoSuchUpload`; empty when the answer has none. */
  readonly code: string;

  constructor(status: number, body: string) {
    const code = textOf(body, 'Code');
    const message = textOf(body, 'Message');
    const words = [`the storage answered ${status}`, ...(code === '' ? [] : [code])].join(' ');
    super((message === '' ? words : `${words}: ${message}`).slice(0, 300));
    this.status = status;
    this.code = code;
  }
}

/** The text of the first element with this name; empty when there is none. */
export function textOf(xml: string, name: string): string {
  return elements(xml, name)[0] ?? '';
}

/** Uploads that were begun and neither completed nor aborted. */
export function uploadsIn(xml: string): { key: string; id: string }[] {
  return inner(xml, 'Upload').map((upload) => ({
    key: textOf(upload, 'Key'),
    id: textOf(upload, 'UploadId'),
  }));
}

export function partsIn(xml: string): StoredPart[] {
  return inner(xml, 'Part').map((part) => ({
    number: Number(textOf(part, 'PartNumber')),
    size: Number(textOf(part, 'Size')),
    etag: textOf(part, 'ETag'),
  }));
}

/** The body that completes an upload. */
export function completion(parts: readonly StoredPart[]): string {
  const items = parts.map(
    ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${items.join('')}</CompleteMultipartUpload>`;
}

function inner(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, text = '']) => text);
}

function elements(xml: string, name: string): string[] {
  return inner(xml, name).map(unescaped);
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
