/** Names not spelled with a capital after each dash. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  [
    'Call-ID',
    'CSeq',
    'MIME-Version',
    'Min-SE',
    'P-DCS-Billing-Info',
    'RAck',
    'Remote-Party-ID',
    'RSeq',
    'SIP-ETag',
    'SIP-If-Match',
    'User-to-User',
    'WWW-Authenticate',
  ].map((name) => [name.toLowerCase(), name]),
);

const known = new Map<string, string>();
const MAX_KNOWN = 500;

/**
 * Wire spelling of a header name from the application, which writes most in lower case: `user-agent` becomes
 * `User-Agent`. Names that begin with `X-` are left unchanged.
 */
export function wireName(name: string): string {
  if (name.startsWith('X-')) return name;
  let written = known.get(name);
  if (written === undefined) {
    const lower = name.toLowerCase();
    written = SPELLINGS.get(lower) ?? lower.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
    if (known.size < MAX_KNOWN) known.set(name, written);
  }
  return written;
}
