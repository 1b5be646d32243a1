/** The parts of a multipart body (RFC 2046 section 5.1). Pure. */

export interface BodyPart {
  /** Value of its Content-Type; that of a part without one is text/plain (section 5.1). */
  readonly type: string;
  /** Value of its Content-Disposition; undefined: it has none. */
  readonly disposition?: string | undefined;
  readonly content: string;
}

/** Whether a body may be ignored by those who do not understand it (RFC 3261 section 20.11). */
export function isOptional(disposition: string | undefined): boolean {
  return /;\s*handling\s*=\s*optional\b/i.test(disposition ?? '');
}

/**
 * Splits a multipart body. Text before the first and after the last delimiter belongs to no part. drachtio-srf's
 * own parser misses parts whose header names are in lower case, and all parts when the boundary is not the last
 * parameter.
 * @param type value of the message's Content-Type
 * @returns no parts when the type names no boundary
 */
export function partsOf(type: string, body: string): BodyPart[] {
  const boundary = boundaryOf(type);
  if (boundary === '') return [];
  // The line end before a delimiter belongs to the delimiter; blanks may follow it (section 5.1.1).
  const delimiter = new RegExp(`(?:^|\\r?\\n)--${escaped(boundary)}(--)?[ \\t]*(?=\\r?\\n|$)`, 'g');
  const found = [...body.matchAll(delimiter)];
  return found.flatMap((one, index) => {
    if (one[1] !== undefined) return [];
    const next = found[index + 1]?.index ?? body.length;
    return [partOf(body.slice(one.index + one[0].length, next))];
  });
}

function boundaryOf(type: string): string {
  const [, quoted, bare] = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))/i.exec(type) ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? bare ?? '';
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|\-/]/g, '\\$&');
}

/** @param text from the end of the delimiter on, including its line end */
function partOf(text: string): BodyPart {
  // Without headers, two line ends follow each other.
  const blank = /\r?\n\r?\n/.exec(text);
  const head = text.slice(0, blank?.index ?? text.length).replace(/\r?\n[ \t]+/g, ' ');
  const type = /^content-type[ \t]*:(.*)$/im.exec(head)?.[1]?.trim() ?? 'text/plain';
  const disposition = /^content-disposition[ \t]*:(.*)$/im.exec(head)?.[1]?.trim();
  return { type, disposition, content: blank ? text.slice(blank.index + blank[0].length) : '' };
}
