/** Times as text (RFC 3339, UTC), as `Date` writes them: it takes ten times as long, and a call has some twenty. */

let minute = Number.NaN;
/** The text of that minute up to its seconds. */
let beginning = '';

/** @param ms since 1970 @throws RangeError when there is no such time */
export function isoTime(ms: number): string {
  const its = Math.floor(ms / 60_000);
  if (its !== minute) {
    beginning = new Date(its * 60_000).toISOString().slice(0, -'00.000Z'.length);
    minute = its;
  }
  const rest = Math.floor(ms) - its * 60_000;
  const seconds = String(Math.floor(rest / 1000)).padStart(2, '0');
  return `${beginning}${seconds}.${String(rest % 1000).padStart(3, '0')}Z`;
}
