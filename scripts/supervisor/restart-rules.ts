/** When a program is restarted after it exits, and the line for the operator. Pure. */

/** A run of this length counts as healthy: the restart pause is reset. */
const healthyMs = 60_000;
const firstPauseMs = 500;
/** A longer pause would extend the outage. */
const longestPauseMs = 5_000;
/** Early exits in a row after which the log says what to do, and again at each doubling. */
const manyFailures = 5;

/** @param failures early exits in a row before this one, from 0 @param ranMs how long the program ran */
export function failuresAfter(failures: number, ranMs: number): number {
  return ranMs >= healthyMs ? 1 : failures + 1;
}

/** @param failures early exits in a row, from 1 */
export function restartPause(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1));
}

/** A line for the operator: how the program exited, when it is restarted, and what to do if this continues. */
export function lostLine(name: string, how: string, pauseMs: number, failures: number): string {
  const line = `${name} ${how}; restarting in ${pauseMs / 1000} s`;
  const isReported = failures >= manyFailures && Number.isInteger(Math.log2(failures / manyFailures));
  if (!isReported) return line;
  return `${line}\ntrunkline: ${name} has ended ${failures} times in a row: read its last "fatal" log line and the newest report in faults/ of the data folder; it is restarted every ${longestPauseMs / 1000} s`;
}
