/** Arithmetic of wrapping numbers (RFC 3550 section 5.1, RFC 1982). */

/** How far sequence number `a` is ahead of `b`: -32768 to 32767. */
export function sequenceAhead(a: number, b: number): number {
  return ((a - b) << 16) >> 16;
}

/** How far RTP timestamp `a` is ahead of `b`, in clock ticks: a signed 32-bit number. */
export function timestampAhead(a: number, b: number): number {
  return (a - b) | 0;
}

/** The sequence number `count` after `sequence`. */
export function sequencePlus(sequence: number, count: number): number {
  return (sequence + count) & 0xffff;
}

/** The RTP timestamp `ticks` after `timestamp`. */
export function timestampPlus(timestamp: number, ticks: number): number {
  return (timestamp + ticks) >>> 0;
}
