/**
 * Gives memory that is not used any more back to the system, at a moment when a pause of a tenth of a second delays
 * nobody. Neither of the two that hold it does so in time: a garbage collector has no reason to run in a program that
 * has just started and waits, and an allocator keeps freed pages that have used ones after them.
 */
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects all garbage of this thread, and shrinks its heap to what is left. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  // Node and V8 use compiled code only with the flags with which it was made: threads that start later would compile all.
  setFlagsFromString('--no-expose-gc');
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Gives pages back that the allocator has freed, of the whole process; takes some milliseconds. */
export function trimFreedPages(): void {
  trimmer()?.(0);
}

/** glibc's malloc_trim(3); null: another C library. */
function trimmer(): ((pad: number) => unknown) | null {
  try {
    const koffi: typeof import('koffi') = createRequire(import.meta.url)('koffi');
    return koffi.load('libc.so.6').func('int malloc_trim(size_t pad)');
  } catch {
    return null;
  }
}
