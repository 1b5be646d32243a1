/** For `--import`: a program that meets a fault which nobody catches whenever it is sent SIGUSR2. */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.on('SIGUSR2', () => {
    setImmediate(() => {
      throw new Error(`broken on purpose; Authorization: Bearer secret-of-a-peer; ${'x'.repeat(1_000_000)}`);
    });
  });
}
