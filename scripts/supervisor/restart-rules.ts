/** When a program that ended is started again, and what the operator is told of it: pure. */

/** Runs of this length count as healthy: the next pause is the shortest again. */
const healthyMs = 60_000;
const firstPauseMs = 500;
/** A program that comes back late is an outage of its own. */
const longestPauseMs = 5_000;
/** Early ends in a row after which the operator is told what to do about them, and again at each doubling. */
const manyFailures = 5;

/** @param failures early ends in a row before this one, from 0 @param ranMs how long the program ran */
export function failuresAfter(failures: number, ranMs: number): number {
  return ranMs >= healthyMs ? 1 : failures + 1;
}

/** @param failures how many times in a row the program ended early, from 1 */
export function restartPause(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1));
}

/** A line for the operator: how the program ended, when it comes back, and what to do when it goes on like that. */
export function lostLine(name: string, how: string, pauseMs: number, failures: number): string {
  const line = `${name} ${how}; starting it again in ${pauseMs / 1000} s`;
  const isTold = failures >= manyFailures && Number.isInteger(Math.log2(failures / manyFailures));
  if (!isTold) return line;
  return `${line}\ntrunkline: ${name} has ended ${failures} times in a row: read its last "fatal" log line and the newest report in faults/ of the data folder; it is tried on every ${longestPauseMs / 1000} s`;
}
