/** Sound that servers send as base64 (RFC 4648 sections 4 and 5; line breaks as in MIME). */

/**
 * Whether a text is base64. After "=", which ends it, other line breaks than before it: a text of line breaks alone must
 * not be tried in all ways in which it can be parted.
 */
export function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/_\-\r\n]*(?:={1,2}[\r\n]*)?$/.test(text);
}

/**
 * The octets of a piece of sound; null when its text is no base64, or was cut: what can be read of it has another length,
 * and an octet too few makes noise of all samples after it.
 */
export function soundOctets(text: string): Buffer | null {
  if (!isBase64(text)) return null;
  const digits = /[=\r\n]/.test(text) ? text.replaceAll(/[=\r\n]/g, '') : text;
  // Two digits are the least for an octet.
  return digits.length % 4 === 1 ? null : Buffer.from(digits, 'base64');
}
