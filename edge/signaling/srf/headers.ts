/** Writes the header values that we send, and reads those that we receive. Pure. */

/** Headers as drachtio-srf delivers them: one string per name, repeated lines joined by commas. */
export type HeaderFields = Readonly<Record<string, string>>;

/** Option tags that we support (RFC 3261 section 19.2): RFC 4028, 3262, 3891 and 4488. */
const optionTags = ['timer', '100rel', 'replaces', 'norefersub'] as const;
export const supported = optionTags.join(', ');

export const accept = 'application/sdp';

const compactForms: Readonly<Record<string, string>> = {
  'session-expires': 'x',
  'refer-to': 'r',
  'referred-by': 'b',
  event: 'o',
};

/** Value of a header by its name in lower case; compact forms are found too. */
export function headerOf(headers: HeaderFields, name: string): string | undefined {
  const direct = headers[name];
  if (typeof direct === 'string') return direct;
  const compact = compactForms[name];
  if (compact !== undefined && typeof headers[compact] === 'string') return headers[compact];
  for (const key in headers) {
    if (key.length === name.length && key.toLowerCase() === name) return headers[key];
  }
  return undefined;
}

/** The tokens of a comma list, in lower case. */
export function tokensOf(value: string | undefined): string[] {
  return value?.toLowerCase().match(/[^\s,]+/g) ?? [];
}

/** Display name and URI: both may contain a parameter of any name. */
const nameAndUri = /^\s*(?:"(?:[^"\\]|\\.)*"\s*)?[^<";]*(?:<[^>]*>)?/s;
const oneParameter = /\s*;\s*([^\s;=,"]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s;,"]*))?/gsy;

/** The tag of a From or To value as the engine reads it, empty when it has none. */
export function tagOf(nameAddr: string): string {
  oneParameter.lastIndex = nameAndUri.exec(nameAddr)?.[0].length ?? 0;
  for (let found = oneParameter.exec(nameAddr); found; found = oneParameter.exec(nameAddr))
    if (found[1]?.toLowerCase() === 'tag') return found[2] ?? '';
  return '';
}

/** Option tags of a Require header that we do not support (RFC 3261 section 8.2.2.3). */
export function unsupportedTags(require: string | undefined): string[] {
  const known: readonly string[] = optionTags;
  return tokensOf(require).filter((tag) => !known.includes(tag));
}

/** A Warning header with the code for miscellaneous reasons (RFC 3261 section 20.43). */
export function warningOf(host: string, text: string): string {
  return `399 ${host} "${printable(text).replace(/[\\"]/g, "'")}"`;
}

/** A Reason header with a SIP cause (RFC 3326). */
export function reasonOf(cause: number, text: string): string {
  return `SIP;cause=${cause};text="${printable(text).replace(/[\\"]/g, "'")}"`;
}

/**
 * Our Contact. It is a SIPS URI when the request was sent to one, or routed through one (RFC 3261 section
 * 12.1.1).
 * @param address `host:port` under which peers reach us
 */
export function contactOf(address: string, requestUri: string, headers: HeaderFields): string {
  const topRoute = headerOf(headers, 'record-route');
  const decisive = topRoute ?? headerOf(headers, 'contact') ?? '';
  const secure = /^sips:/i.test(requestUri) || /^[^,]*sips:/i.test(decisive);
  return secure ? `<sips:${address}>` : `<sip:${address};transport=tls>`;
}

/** Text safe for a header: no control characters, of which CR and LF would start other headers (section 25.1). */
export function printable(text: string): string {
  return text.replace(/\p{Cc}+[ \t]*/gu, ' ');
}
