/** The parts of a multipart body (RFC 2046 section 5.1). Pure. */

export interface BodyPart {
  /** Value of its Content-Type; that of a part without one is text/plain (section 5.1). */
  readonly type: string;
  readonly content: string;
}

/**
 * Takes a multipart body apart. What stands before the first and behind the last delimiter belongs to no part.
 * drachtio-srf has a parser of its own, which finds no part whose header names are in lower case, and none when the
 * boundary is not the last parameter.
 * @param type value of the message's Content-Type
 * @returns no parts when the type names no boundary
 */
export function partsOf(type: string, body: string): BodyPart[] {
  const boundary = boundaryOf(type);
  if (boundary === '') return [];
  // The line end before a delimiter belongs to the delimiter; behind it there may be blanks (section 5.1.1).
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

/** @param text from the end of the delimiter on, its line end included */
function partOf(text: string): BodyPart {
  // Without headers there are two line ends at once.
  const blank = /\r?\n\r?\n/.exec(text);
  const head = text.slice(0, blank?.index ?? text.length).replace(/\r?\n[ \t]+/g, ' ');
  const type = /^content-type[ \t]*:[ \t]*(.*?)[ \t]*$/im.exec(head)?.[1] ?? 'text/plain';
  return { type, content: blank ? text.slice(blank.index + blank[0].length) : '' };
}
