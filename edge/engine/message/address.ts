/**
 * Header values made of addresses and parameters (RFC 3261 section 20.10 and 25.1): From, To, Contact, Route,
 * Refer-To, P-Asserted-Identity. The functions that read one parameter scan the text without parsing the whole
 * value.
 */
import {
  afterQuoted,
  COMMA,
  EQUALS,
  GREATER,
  LESS,
  lowerCase,
  QUOTE,
  quote,
  SEMICOLON,
  skipSpace,
  TOKEN,
  trimmed,
  unquote,
} from './chars.ts';
import { schemeOf } from './uri.ts';

export interface Address {
  /** Without quotes and escapes; undefined when there is none. */
  readonly displayName: string | undefined;
  /** The URI as received, without angle brackets. */
  readonly uri: string;
  /** Header parameters: names in lower case, values as received, null for a parameter without value. */
  readonly params: ReadonlyMap<string, string | null>;
}

/**
 * One name-addr or addr-spec with its parameters, for example `"Bob" <sip:bob@example.com>;tag=1`.
 * Null when malformed: unbalanced quotes or brackets, white space inside the brackets, no scheme, an unquoted
 * display name with reserved octets, a bare URI with `?` or `,` (RFC 3261 section 20: those need brackets),
 * an empty or doubled parameter.
 */
export function parseAddress(text: string): Address | null {
  const start = skipSpace(text, 0);
  let displayName: string | undefined;
  let open = start;
  if (text.charCodeAt(start) === QUOTE) {
    const end = afterQuoted(text, start);
    if (end === -1) return null;
    displayName = unquote(text.slice(start, end));
    open = skipSpace(text, end);
    if (text.charCodeAt(open) !== LESS) return null;
  } else {
    open = text.indexOf('<', start);
    if (open === -1) return parseBareAddress(text, start);
    const semicolon = text.indexOf(';', start);
    if (semicolon !== -1 && semicolon < open) return parseBareAddress(text, start);
    const written = trimmed(text, start, open);
    if (!isUnquotedDisplayName(written)) return null;
    if (written !== '') displayName = written;
  }
  const close = text.indexOf('>', open);
  if (close === -1) return null;
  const uri = text.slice(open + 1, close);
  if (schemeOf(uri) === null || hasSpaceOrBracket(uri)) return null;
  const params = parseParameters(text, close + 1);
  return params && { displayName, uri, params };
}

/** Without brackets, parameters after the first semicolon belong to the header, not to the URI (section 20). */
function parseBareAddress(text: string, start: number): Address | null {
  const semicolon = text.indexOf(';', start);
  const end = semicolon === -1 ? text.length : semicolon;
  const uri = trimmed(text, start, end);
  if (schemeOf(uri) === null || hasSpaceOrBracket(uri) || uri.includes('?') || uri.includes(',')) return null;
  const params = parseParameters(text, end);
  return params && { displayName: undefined, uri, params };
}

function hasSpaceOrBracket(uri: string): boolean {
  for (let i = 0; i < uri.length; i++) {
    const code = uri.charCodeAt(i);
    if (code <= 32 || code === LESS || code === GREATER || code === QUOTE) return true;
  }
  return false;
}

/** Tokens and white space; octets above 127 are allowed, because UTF-8 names often come unquoted. */
function isUnquotedDisplayName(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (TOKEN[code] !== 1 && code !== 32 && code !== 9 && code < 128) return false;
  }
  return true;
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/** Parameters from the position of their first semicolon to the end of the text; null when malformed. */
export function parseParameters(text: string, from: number): ReadonlyMap<string, string | null> | null {
  let at = skipSpace(text, from);
  if (at === text.length) return NONE;
  const params = new Map<string, string | null>();
  while (at < text.length) {
    if (text.charCodeAt(at) !== SEMICOLON) return null;
    const nameStart = skipSpace(text, at + 1);
    let nameEnd = nameStart;
    while (TOKEN[text.charCodeAt(nameEnd)] === 1) nameEnd++;
    if (nameEnd === nameStart) return null;
    const name = lowerCase(text.slice(nameStart, nameEnd));
    if (params.has(name)) return null;
    at = skipSpace(text, nameEnd);
    if (text.charCodeAt(at) !== EQUALS) {
      params.set(name, null);
      continue;
    }
    const valueStart = skipSpace(text, at + 1);
    const valueEnd = afterValue(text, valueStart);
    if (valueEnd <= valueStart) return null;
    params.set(name, text.slice(valueStart, valueEnd));
    at = skipSpace(text, valueEnd);
  }
  return params;
}

/** The end of a parameter value: of a quoted string, or else the next white space, semicolon or comma. */
function afterValue(text: string, from: number): number {
  if (text.charCodeAt(from) === QUOTE) return afterQuoted(text, from);
  let i = from;
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === SEMICOLON || code === COMMA || code <= 32 || code === QUOTE) break;
  }
  return i;
}

/** `<uri>` with display name and parameters, as a header value. */
export function formatAddress(address: {
  readonly displayName?: string | undefined;
  readonly uri: string;
  readonly params?: ReadonlyMap<string, string | null>;
}): string {
  const name = address.displayName;
  let text = name === undefined ? '' : `${quote(name)} `;
  text += `<${address.uri}>`;
  for (const [key, value] of address.params ?? []) text += value === null ? `;${key}` : `;${key}=${value}`;
  return text;
}

/**
 * Elements of a comma-separated value, trimmed. Commas in quotes and in angle brackets do not separate. Empty
 * elements are dropped (RFC 3261 section 7.3.1 does not allow them, but `a,,b` is harmless).
 */
export function splitList(value: string): string[] {
  if (!value.includes(',')) {
    const only = trimmed(value, 0, value.length);
    return only === '' ? [] : [only];
  }
  const elements: string[] = [];
  let start = 0;
  let bracketed = false;
  let i = 0;
  const take = (end: number) => {
    const element = trimmed(value, start, end);
    if (element !== '') elements.push(element);
  };
  while (i < value.length) {
    const code = value.charCodeAt(i);
    if (code === QUOTE && !bracketed) {
      const end = afterQuoted(value, i);
      i = end === -1 ? value.length : end;
      continue;
    }
    if (code === LESS) bracketed = true;
    else if (code === GREATER) bracketed = false;
    else if (code === COMMA && !bracketed) {
      take(i);
      start = i + 1;
    }
    i++;
  }
  take(value.length);
  return elements;
}

interface Span {
  /** Position of the parameter's semicolon. */
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/**
 * Position of parameter `name` (lower case) in the first list element, outside quotes and brackets. Of what
 * `parseParameters` reads, both find the same: brackets in the value of another parameter are no brackets.
 */
function findParameter(value: string, name: string): Span | null {
  let i = 0;
  while (i < value.length) {
    const code = value.charCodeAt(i);
    if (code === QUOTE) {
      i = afterQuoted(value, i);
      if (i === -1) return null;
      continue;
    }
    if (code === LESS) {
      i = value.indexOf('>', i);
      if (i === -1) return null;
    } else if (code === COMMA) return null;
    else if (code === SEMICOLON) {
      const nameStart = skipSpace(value, i + 1);
      let nameEnd = nameStart;
      while (TOKEN[value.charCodeAt(nameEnd)] === 1) nameEnd++;
      const isWanted =
        nameEnd - nameStart === name.length && lowerCase(value.slice(nameStart, nameEnd)) === name;
      const equals = skipSpace(value, nameEnd);
      const hasValue = value.charCodeAt(equals) === EQUALS;
      const valueStart = hasValue ? skipSpace(value, equals + 1) : nameEnd;
      const valueEnd = hasValue ? afterValue(value, valueStart) : nameEnd;
      if (isWanted) return valueEnd === -1 ? null : { start: i, valueStart, end: valueEnd };
      if (valueEnd === -1) return null;
      i = valueEnd;
      continue;
    }
    i++;
  }
  return null;
}

/**
 * The value of a header parameter of the first element, as received; an empty string for a parameter without
 * value, undefined when it is missing. `name`: lower case.
 */
export function parameter(value: string, name: string): string | undefined {
  const span = findParameter(value, name);
  return span === null ? undefined : value.slice(span.valueStart, span.end);
}

/**
 * `value` with the parameter replaced in place or appended. `text`: null writes the bare name, undefined removes
 * the parameter. `value` must be one element, not a list.
 */
export function setParameter(value: string, name: string, text: string | null | undefined): string {
  const written = text === undefined ? '' : text === null ? `;${name}` : `;${name}=${text}`;
  const span = findParameter(value, name);
  return span === null ? value + written : value.slice(0, span.start) + written + value.slice(span.end);
}

/** The tag of a From or To value. */
export function tagOf(value: string): string | undefined {
  const tag = parameter(value, 'tag');
  return tag === '' ? undefined : tag;
}
