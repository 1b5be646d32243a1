/** Log output of both programs: standard output, which may be a file on a full disk. */
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { lineForPeople } from './log-lines.ts';
import type { LogSettings } from './settings/log.ts';

/** Maximum octets queued for a slow reader; further lines are dropped. */
const maxWaiting = 1_048_576;
/** Retry interval for a slow reader, ms, and number of retries at exit. */
const retryMs = 20;
const lastTries = 100;

/**
 * Writes each line at once. A log that cannot be written neither ends a program nor keeps it from exiting: lines that a
 * full or broken disk rejects, or that nobody reads, are dropped. (pino's own output throws in that case, and retries
 * forever at exit.)
 */
export function logOutput(form: LogSettings['form'], descriptor = 1): { write(line: string): void } {
  const isTerminal = isatty(descriptor);
  const isText = form === 'text' || (form === null && isTerminal);
  const colours = isTerminal && !process.env.NO_COLOR;
  let waiting: Buffer = Buffer.alloc(0);
  let retry: NodeJS.Timeout | null = null;
  const flush = (): void => {
    retry = null;
    while (waiting.length > 0) {
      try {
        waiting = waiting.subarray(writeSync(descriptor, waiting));
      } catch (error) {
        const isSlow = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
        if (isSlow) retry ??= setTimeout(flush, retryMs).unref();
        else waiting = Buffer.alloc(0);
        return;
      }
    }
  };
  process.once('exit', () => {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let tries = 0; waiting.length > 0 && tries < lastTries; tries += 1) {
      flush();
      if (waiting.length > 0) Atomics.wait(pause, 0, 0, retryMs);
    }
  });
  return {
    write: (line) => {
      if (waiting.length > maxWaiting) return;
      const octets = Buffer.from(isText ? lineForPeople(line, colours) : line);
      waiting = waiting.length === 0 ? octets : Buffer.concat([waiting, octets]);
      if (retry === null) flush();
    },
  };
}
