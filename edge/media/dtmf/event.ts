/**
 * Telephone events on the wire (RFC 4733 section 2.3):
 *
 *     | event (8 bits) |E|R| volume (6 bits) | duration (16 bits, RTP clock ticks) |
 */

/** Event codes 0 to 15 (RFC 4733 table 7). */
const digits = '0123456789*#ABCD';

export const eventLength = 4;

/** Longest duration of one segment of an event. */
export const longestSegment = 0xffff;

/** The key of an event code; undefined for events that are not keys (flash, fax and modem tones). */
export function digitOf(code: number): string | undefined {
  return digits[code];
}

/** The event code of a key; undefined when there is none. */
export function codeOf(digit: string): number | undefined {
  const code = digits.indexOf(digit.toUpperCase());
  return code < 0 || digit === '' ? undefined : code;
}

/** The payload of one event packet. `volume`: dBm0 without its sign, 0 to 63. */
export function formatEvent(code: number, end: boolean, volume: number, duration: number): Uint8Array {
  return Uint8Array.of(code, (end ? 0x80 : 0) | (volume & 0x3f), duration >> 8, duration & 0xff);
}
