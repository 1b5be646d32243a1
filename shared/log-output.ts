/** Where both programs write their log lines: standard output, which may be a file on a full disk. */
import { writeSync } from 'node:fs';

/** Octets that wait for a reader that is slow; what comes on top is dropped. */
const maxWaiting = 1_048_576;
/** How often a slow reader is tried again, ms; at the end so many times. */
const retryMs = 20;
const lastTries = 100;

/**
 * Writes each line at once. A log that cannot be written ends no program and keeps none from ending: lines that a
 * full or broken disk does not take, or nobody reads any more, are dropped. (pino's own output throws then, and tries
 * for ever when the program ends.)
 */
export function logOutput(descriptor = 1): { write(line: string): void } {
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
      const octets = Buffer.from(line);
      waiting = waiting.length === 0 ? octets : Buffer.concat([waiting, octets]);
      if (retry === null) flush();
    },
  };
}
