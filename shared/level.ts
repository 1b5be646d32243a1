/** Levels of audio in dBov (RFC 6464): decibels below a square wave of full scale. */

/** Level of digital silence; RFC 6464 has no lower one. */
export const silentDbov = -127;
const fullScale = 32_768;

/** @param squares sum of the squares of 16-bit samples @param samples their number, at least 1 */
export function dbovOf(squares: number, samples: number): number {
  if (squares === 0) return silentDbov;
  return Math.max(silentDbov, 10 * Math.log10(squares / samples / fullScale ** 2));
}

export function squaresOf(frame: Int16Array): number {
  let squares = 0;
  for (let i = 0; i < frame.length; i++) {
    const sample = frame[i] ?? 0;
    squares += sample * sample;
  }
  return squares;
}
