/** A segment is read at once, in a millisecond or two; it holds the reports of about a thousand calls. */
const defaultSegmentBytes = 4 * 1024 * 1024;
/** Octets after which the next segment begins: a quarter at most is its head, the records of all live calls. */
export function segmentOctets(headOctets: number, least = defaultSegmentBytes): number {
  return Math.max(least, headOctets * 4);
}
