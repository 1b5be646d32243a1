/** Character classes of RFC 3261 section 25.1, as tables: one lookup per octet instead of a regular expression. */

export const TAB = 9;
export const LF = 10;
export const CR = 13;
export const SPACE = 32;
export const QUOTE = 34;
export const COMMA = 44;
export const SLASH = 47;
export const COLON = 58;
export const SEMICOLON = 59;
export const LESS = 60;
export const EQUALS = 61;
export const GREATER = 62;
const BACKSLASH = 92;

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/** Octets of `token`. */
export const TOKEN = tableOf(`${ALPHANUMERIC}-.!%*_+\`'~`);

/** Octets of a host name. The underscore is not allowed in host names, yet common in private DNS names. */
export const HOSTNAME = tableOf(`${ALPHANUMERIC}-._`);

export function isSpace(code: number): boolean {
  return code === SPACE || code === TAB;
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Whether `text` is a non-empty string of octets from `table`. */
export function consistsOf(table: Uint8Array, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (table[text.charCodeAt(i)] !== 1) return false;
  return text.length > 0;
}

/** `text.toLowerCase()` for ASCII letters; text already in lower case is returned as is. */
export function lowerCase(text: string): string {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 65 && code <= 90) return text.toLowerCase();
  }
  return text;
}

/** The first position at or after `from` that is not white space. */
export function skipSpace(text: string, from: number, end: number = text.length): number {
  let i = from;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  return i;
}

/** `text.slice(from, end)` without surrounding white space. */
export function trimmed(text: string, from: number, end: number): string {
  const start = skipSpace(text, from, end);
  let stop = end;
  while (stop > start && isSpace(text.charCodeAt(stop - 1))) stop--;
  return text.slice(start, stop);
}

/**
 * The position after the quoted string that opens at `open` (a double quote), or -1 when it never closes. A
 * backslash escapes the next octet (RFC 3261 section 25.1, quoted-pair).
 */
export function afterQuoted(text: string, open: number, end: number = text.length): number {
  for (let i = open + 1; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === QUOTE) return i + 1;
  }
  return -1;
}

/** The content of a quoted string, unescaped; other text is returned as is. */
export function unquote(text: string): string {
  if (text.charCodeAt(0) !== QUOTE) return text;
  const inner = text.slice(1, text.endsWith('"') ? -1 : undefined);
  if (!inner.includes('\\')) return inner;
  let plain = '';
  for (let i = 0; i < inner.length; i++) {
    if (inner.charCodeAt(i) === BACKSLASH) i++;
    plain += inner[i] ?? '';
  }
  return plain;
}

/** `text` as a quoted string. */
export function quote(text: string): string {
  let quoted = '"';
  for (const character of text)
    quoted += character === '"' || character === '\\' ? `\\${character}` : character;
  return `${quoted}"`;
}
