/**
 * Header values with quoted strings and angle brackets (RFC 3261 sections 20.10 and 25.1). What is not closed ends with
 * the value: then a text of quotes or brackets alone is read once, not once from each of them.
 */
const quoted = /"(?:[^"\\]|\\.|\\$)*(?:"|$)/gs;
const quotedOrBracketed = /"(?:[^"\\]|\\.|\\$)*(?:"|$)|<[^>]*(?:>|$)/gs;
const entry = /(?:"(?:[^"\\]|\\.|\\$)*(?:"|$)|<[^>]*(?:>|$)|[^,"<])+/gs;

export function withoutQuoted(value: string): string {
  return value.replace(quoted, '');
}

export function outsideQuotesAndBrackets(value: string): string {
  return value.replace(quotedOrBracketed, '');
}

/** The entries of a list, trimmed; commas may also occur inside quotes and brackets. Empty ones are left out. */
export function entriesOf(value: string): string[] {
  return (value.match(entry) ?? []).map((one) => one.trim()).filter((one) => one !== '');
}
