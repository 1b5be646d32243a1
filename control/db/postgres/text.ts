/** PostgreSQL's text holds no U+0000 (https://www.postgresql.org/docs/15/datatype-character.html). */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\u{FFFD}') : text;
}
