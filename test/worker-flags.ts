/** Flags of the processes that run the tests, and how many there are at a time. */
import { availableParallelism, totalmem } from 'node:os';
import { portParts } from './kit/programs/ports.ts';

/**
 * Files at a time. Most of a file is waiting, above all for sound to pass, so that five on two cores keep them busy; but
 * no more than have ports of their own (test/kit/programs/ports.ts).
 */
export const maxWorkers = Math.min(Math.floor(2.5 * availableParallelism()), portParts);

/**
 * MiB of old objects that a process has before they are collected for the first time, at most a quarter of the memory for
 * all: what the tests of a file leave is small against the modules, so each collection frees little. A twentieth of the CPU
 * time of the tests of control.
 */
const oldSpaceMiB = Math.min(1000, Math.floor(totalmem() / 2 ** 20 / 4 / maxWorkers));

export const workerFlags: readonly string[] = [
  // As control and edge are started (scripts/supervisor/node-flags.ts).
  '--no-wasm-code-gc',
  `--initial-old-space-size=${oldSpaceMiB}`,
];
