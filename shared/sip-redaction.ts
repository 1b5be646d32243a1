/**
 * Takes the secrets out of a SIP message's text before it is stored or shown (contract 3.4): SRTP keys of
 * `a=crypto` lines (RFC 4568), digest values and tokens of Authorization and Proxy-Authorization, and the
 * nonce and opaque of a challenge. Redacting twice changes nothing. Content-Length is left as it stood on the wire.
 *
 * Runs on every message of every call, so lines that begin with no letter of interest are skipped by one
 * character, and a message without secrets is returned as it came.
 */
const credentialParameters = /\b(response|nonce|cnonce|opaque)(\s*=\s*)("(?:[^"\\]|\\.)*"|[^\s,]*)/gi;
const challengeParameters = /\b(nonce|opaque)(\s*=\s*)("(?:[^"\\]|\\.)*"|[^\s,]*)/gi;
/** RFC 4568 section 9.2: `inline:` key||salt, then optional `|lifetime|mki:length`. Blanks are a mistake, but seen. */
const inlineKeys = /(inline[ \t]*:[ \t]*)[^\s|;]+/gi;
/** The attribute in any writing, so that a line that is not quite right hides its key too. */
const cryptoAttribute = /^a[ \t]*=[ \t]*crypto\b/i;
/** Tag and suite; what follows them without `inline:` may still be a key. */
const cryptoHead = /^([^:]*:[ \t]*\S+[ \t]+\S+)[^\r\n]*/;
const otherScheme = /^(\s*)(?!digest\b)([!#$%&'*+\-.^_`|~0-9a-z]+)(\s+)\S[\s\S]*$/i;

const headers: readonly { readonly name: string; readonly redact: (value: string) => string }[] = [
  { name: 'authorization', redact: redactCredentials },
  { name: 'proxy-authorization', redact: redactCredentials },
  { name: 'www-authenticate', redact: redactChallenge },
  { name: 'proxy-authenticate', redact: redactChallenge },
  { name: 'x-trunkline-test', redact: () => ' REDACTED' },
];

/** The message with every secret replaced by `REDACTED`. `message` is a whole SIP message, line ends included. */
export function redactSip(message: string): string {
  let result = '';
  let copied = 0;
  let start = 0;
  while (start < message.length) {
    let end = lineEnd(message, start);
    const redact = redactionOf(message, start);
    if (redact) {
      // RFC 3261 section 7.3.1: a header goes on over lines that begin with a blank.
      while (end < message.length && isBlank(message.charCodeAt(end))) end = lineEnd(message, end);
      const line = message.slice(start, end);
      const clean = redact(line);
      if (clean !== line) {
        result += message.slice(copied, start) + clean;
        copied = end;
      }
    }
    start = end;
  }
  return copied === 0 ? message : result + message.slice(copied);
}

/** Index after the line feed that ends the line at `start`, or the length of the message. */
function lineEnd(message: string, start: number): number {
  const feed = message.indexOf('\n', start);
  return feed < 0 ? message.length : feed + 1;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function redactionOf(message: string, start: number): ((line: string) => string) | undefined {
  switch (message.charCodeAt(start) | 0x20) {
    case 0x61: // a
      if (cryptoAttribute.test(message.slice(start, start + 24))) return redactCrypto;
      return headerRedaction(message, start);
    case 0x70: // p
    case 0x77: // w
    case 0x78: // x
      return headerRedaction(message, start);
    default:
      return undefined;
  }
}

function headerRedaction(message: string, start: number): ((line: string) => string) | undefined {
  const colon = message.indexOf(':', start);
  if (colon < 0 || colon - start > 40) return undefined;
  const name = message.slice(start, colon).trimEnd().toLowerCase();
  const header = headers.find((candidate) => candidate.name === name);
  if (!header) return undefined;
  return (line) => {
    // The line end stays outside: a value that is missing must not reach into the next line.
    const begin = colon - start + 1;
    const end = line.length - (/[\r\n]+$/.exec(line)?.[0].length ?? 0);
    return line.slice(0, begin) + header.redact(line.slice(begin, end)) + line.slice(end);
  };
}

function redactCrypto(line: string): string {
  return /inline[ \t]*:/i.test(line)
    ? line.replace(inlineKeys, '$1REDACTED')
    : line.replace(cryptoHead, '$1 REDACTED');
}

function redactCredentials(value: string): string {
  // Basic, Bearer and whatever else is not Digest: the token is the secret.
  const other = otherScheme.exec(value);
  if (other) return `${other[1]}${other[2]} REDACTED`;
  return redactParameters(value, credentialParameters);
}

function redactChallenge(value: string): string {
  return redactParameters(value, challengeParameters);
}

function redactParameters(value: string, parameters: RegExp): string {
  return value.replace(parameters, (_match, name: string, equals: string, old: string) =>
    old.startsWith('"') ? `${name}${equals}"REDACTED"` : `${name}${equals}REDACTED`,
  );
}
