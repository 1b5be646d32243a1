/**
 * Redacts the secrets in a SIP message before it is stored or shown (contract 3.4), by their place: SRTP keys
 * (RFC 4568, RFC 4567, `k=` of RFC 4566), ICE passwords, digest values and tokens in authentication headers and
 * similarly named headers, passwords in SIP URIs. `secret-values.ts` finds them by value. Redacting twice changes
 * nothing. Content-Length stays as on the wire.
 *
 * Messages need not be well-formed: lines end at any CR, LF or other vertical control character, blanks may be
 * anywhere, names have any case, and head and body are treated alike.
 */
const lineEnds = '\\r\\n\\0\\v\\f\\x85\\u2028\\u2029';
/** What a lenient parser ignores: blanks, and line ends before one (RFC 3261 section 7.3.1). */
const gap = `(?:[ \\t\\xa0]|[${lineEnds}]+[ \\t])*`;
const value = `"(?:[^"\\\\]|\\\\[^])*(?:"|$)|[^\\s,]*`;

/** RFC 4568 section 9.2: `inline:` key||salt, then optional `|lifetime|mki:length`; anywhere. */
const inlineKeys = new RegExp(
  `(inline${gap}:${gap})[^\\s|;]+(?:[${lineEnds}]+[ \\t]+[A-Za-z0-9+/=]{6,})*`,
  'gi',
);
/** Tag and suite; what follows without `inline:` may still be a key. Suite names contain an underscore. */
const cryptoHead = new RegExp(`^([^:]*:${gap}[^\\s]+(?:${gap}[^\\s_]*_[^\\s]*)?[ \\t]*)[^]*$`);
const digestValues = new RegExp(
  `\\b(response|nonce|cnonce|nextnonce|rspauth|opaque|password|secret|token|key)(\\s*=\\s*)(${value})`,
  'gi',
);
const otherScheme = /^(\s*)(?!digest\b)([!#$%&'*+\-.^_`|~0-9a-z]+)(\s+)\S[\s\S]*$/i;
/** RFC 3261 section 19.1.1: `sip:user:password@host`. */
const uriPasswords = /(sips?:[^\s:@<>"/?]{1,128}:)[^\s@<>"]{1,256}(?=@)/gi;
/** RFC 3261 section 19.1.1: headers in a URI, as in Refer-To. */
const uriHeaders = /([?&](?:proxy-)?authorization=)[^\s&>"]+/gi;

type Redact = (text: string) => string;

/** SDP lines by their type and, for attributes, name. `maybeSdp` must match each. */
const sdpLines: readonly { readonly start: RegExp; readonly redact: Redact }[] = [
  { start: new RegExp(`^a${gap}=${gap}crypto\\b`, 'i'), redact: redactCrypto },
  { start: new RegExp(`^a${gap}=${gap}(?:key-mgmt|ice-pwd)\\b`, 'i'), redact: (line) => afterColon(line) },
  { start: new RegExp(`^k${gap}=`, 'i'), redact: (line) => line.replace(/^([^=]*=)[\s\S]*$/, '$1REDACTED') },
];

/** `maybeHeader` must match each name. */
const headers: readonly { readonly name: RegExp; readonly redact: Redact }[] = [
  { name: /(?:authenticate|authentication-info)$/, redact: redactParameters },
  { name: /authorization$/, redact: redactCredentials },
  {
    name: /^x-(?:trunkline-test$|.*(?:auth|token|secret|passw|api-?key|credential))/,
    redact: () => ' REDACTED',
  },
];

/** The message with every secret replaced by `REDACTED`. `message` is a complete SIP message with line ends. */
export function redactSip(message: string): string {
  let result = '';
  let copied = 0;
  candidates.lastIndex = 0;
  for (let found = candidates.exec(message); found; found = candidates.exec(message)) {
    const { 1: first = '' } = found;
    // Checks each physical line as if it started a header, unless it was redacted with the one before.
    const start = candidates.lastIndex - first.length;
    if (start < copied) continue;
    const redact = redactionOf(first);
    if (!redact) continue;
    folds.lastIndex = start + first.length;
    folds.exec(message);
    const end = Math.max(start + first.length, folds.lastIndex);
    result += message.slice(copied, start) + redact(message.slice(start, end));
    copied = end;
  }
  const byLine = copied === 0 ? message : result + message.slice(copied);
  return byLine
    .replace(inlineKeys, '$1REDACTED')
    .replace(uriPasswords, '$1REDACTED')
    .replace(uriHeaders, '$1REDACTED');
}

/** Lines that start with the first letter of an entry in the tables, without blanks before and line end. */
const candidates = new RegExp(`(?:^|[${lineEnds}])[ \\t\\xa0]*([akpwx][^${lineEnds}]*)`, 'gi');
/** What folds onto a line. */
const folds = new RegExp(`(?:[${lineEnds}]+[ \\t]+[^${lineEnds} \\t][^${lineEnds}]*)*`, 'y');

/** Lines that may be in the table of SDP lines. */
const maybeSdp = new RegExp(`^(?:k${gap}=|a${gap}=${gap}[cki])`, 'i');
/** Names of headers that may be in the table: most have another last letter, and none of the costly rest is needed. */
const maybeHeader = /^x|[eno]$/i;

function redactionOf(line: string): Redact | null {
  const sdp = maybeSdp.test(line) ? sdpLines.find(({ start }) => start.test(line)) : undefined;
  if (sdp) return sdp.redact;
  const colon = line.indexOf(':');
  if (colon < 0 || colon > 200) return null;
  const written = line.slice(0, colon).trimEnd();
  if (!maybeHeader.test(written)) return null;
  const name = written.replace(/\s+/g, '').toLowerCase();
  const header = headers.find((candidate) => candidate.name.test(name));
  return header ? (text) => text.slice(0, colon + 1) + header.redact(text.slice(colon + 1)) : null;
}

function redactCrypto(line: string): string {
  if (/inline\s*:/i.test(line)) return line.replace(inlineKeys, '$1REDACTED');
  if (!line.includes(':')) return line;
  return line.replace(cryptoHead, (_all, head: string) => `${head.trimEnd()} REDACTED`);
}

function afterColon(line: string): string {
  const colon = line.indexOf(':');
  return colon < 0 ? line : `${line.slice(0, colon + 1)}REDACTED`;
}

function redactCredentials(text: string): string {
  // Basic, Bearer and other non-Digest schemes: the token is the secret.
  const other = otherScheme.exec(text);
  if (other) return `${other[1]}${other[2]} REDACTED`;
  return redactParameters(text);
}

function redactParameters(text: string): string {
  return text.replace(digestValues, (_match, name: string, equals: string, old: string) =>
    old.startsWith('"') ? `${name}${equals}"REDACTED"` : `${name}${equals}REDACTED`,
  );
}
