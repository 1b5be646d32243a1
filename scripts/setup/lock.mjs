import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Trouble } from './trouble.mjs';

/**
 * Runs `work` under a lock: one set-up at a time among all processes of the machine that use the same file.
 *
 * The kernel's file lock belongs to the open file, which this process and the `flock` program share. It remains when
 * `flock` has exited and is released when this process ends, in any way, so no stale lock is left behind.
 *
 * @param {string} file created when missing, never removed
 * @param {() => void} onWait called once when another process holds the lock
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 * @template T
 */
export async function withLock(file, onWait, work) {
  mkdirSync(dirname(file), { recursive: true });
  const descriptor = openSync(file, 'a', 0o600);
  try {
    if (!(await flock(descriptor, ['--nonblock']))) {
      onWait();
      if (!(await flock(descriptor, ['--timeout', '3600']))) {
        throw new Trouble(
          'another set-up has not finished within an hour',
          `it holds the lock ${file}`,
          `end that set-up (\`fuser ${file}\` names its process) and start again`,
        );
      }
    }
    return await work();
  } finally {
    closeSync(descriptor);
  }
}

/** @returns whether the lock was taken */
function flock(descriptor, options) {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', [...options, '3'], { stdio: ['ignore', 'ignore', 'inherit', descriptor] });
    child.on('error', () =>
      reject(
        new Trouble('cannot lock the cache', 'the program `flock` is missing', 'apt-get install util-linux'),
      ),
    );
    child.on('close', (code) => resolve(code === 0));
  });
}
