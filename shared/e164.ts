/** Phone numbers in the contract's format (section 2.1): E.164 (ITU-T) with a leading plus. */

const separators = /[\s\-.()]/g;
const form = /^\+?([1-9][0-9]{6,14})$/;

/**
 * The number with a leading plus, or null when `text` is not a number. Blanks, `-`, `.`, `(` and `)` are removed;
 * digits without a plus are read as a full international number.
 */
export function toE164(text: string): string | null {
  const digits = form.exec(text.replace(separators, ''))?.[1];
  return digits === undefined ? null : `+${digits}`;
}
