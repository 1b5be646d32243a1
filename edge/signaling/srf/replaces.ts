/** The Replaces header (RFC 3891 section 6.1): which dialog an INVITE takes over. Pure. */

export interface Replaces {
  readonly callId: string;
  /** Tag of the side that receives the INVITE. */
  readonly toTag: string;
  readonly fromTag: string;
  /** Only while the dialog is unanswered. */
  readonly earlyOnly: boolean;
}

const callIdForm = /^[^\s;,@]+(?:@[^\s;,@]+)?$/;
const tokenForm = /^[!%'*+\-.^_`~0-9A-Za-z]+$/;

/** @param value of all Replaces headers of a message; null unless it is exactly one well-formed value */
export function parseReplaces(value: string): Replaces | null {
  // The supported grammar has no commas: a comma means a second header.
  if (value.includes(',')) return null;
  const [callId = '', ...parameters] = value.split(';').map((part) => part.trim());
  if (!callIdForm.test(callId)) return null;
  const tags: { to?: string; from?: string } = {};
  let earlyOnly = false;
  for (const parameter of parameters) {
    const equals = parameter.indexOf('=');
    const name = (equals < 0 ? parameter : parameter.slice(0, equals)).trim().toLowerCase();
    const text = equals < 0 ? '' : parameter.slice(equals + 1).trim();
    if (name === 'early-only') earlyOnly = true;
    const side = name === 'to-tag' ? 'to' : name === 'from-tag' ? 'from' : null;
    if (side === null) continue;
    if (side in tags || !tokenForm.test(text)) return null;
    tags[side] = text;
  }
  if (tags.to === undefined || tags.from === undefined) return null;
  return { callId, toTag: tags.to, fromTag: tags.from, earlyOnly };
}
