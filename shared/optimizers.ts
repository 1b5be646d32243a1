/**
 * V8's optimizing compilers are off until a program is busy. What is hot while it loads is mostly the search for modules,
 * which is over before optimized code pays; and the compilers' own code, once used, stays in memory: 7 MiB of each process
 * that waits for its first call.
 *
 * V8 uses kept compiled code only with the flags with which it was made (compile-cache.ts), so these change once in the life
 * of a program, when it has loaded what every start loads. Its threads share them.
 */
import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';

const compilers = ['opt', 'maglev'];

/**
 * For a program of one thread that imports its modules statically. Maglev then compiles on the thread itself, not beside it,
 * which is so in every V8 heap that begins without it: it takes some tenths of a millisecond for a function, once.
 */
export const unoptimizedFlags: readonly string[] = compilers.map((compiler) => `--no-${compiler}`);

/** Call before importing what it is for. */
export function loadUnoptimized(): void {
  for (const flag of unoptimizedFlags) setFlagsFromString(flag);
}

export interface BusyRule {
  /** How often CPU time is looked at, ms. */
  readonly lookEveryMs: number;
  /** What uses less than this share of a core waits. */
  readonly waitingShare: number;
  /** CPU time beyond that share after which it is busy, ms. */
  readonly busyMs: number;
}

/** Half a second is more than what a start has left to do. */
export const busyProcess: BusyRule = { lookEveryMs: 250, waitingShare: 0.1, busyMs: 500 };

/** Finds out whether a process or thread is busy, from its CPU time: a bucket that runs out while it waits. */
export class BusyWatch {
  readonly #rule: BusyRule;
  #before: number;
  #filled = 0;

  /** @param usedMs CPU time so far, ms */
  constructor(usedMs: number, rule: BusyRule) {
    this.#before = usedMs;
    this.#rule = rule;
  }

  /** Call every `lookEveryMs`. */
  isBusy(usedMs: number): boolean {
    const { lookEveryMs, waitingShare, busyMs } = this.#rule;
    this.#filled = Math.max(0, this.#filled + usedMs - this.#before - waitingShare * lookEveryMs);
    this.#before = usedMs;
    return this.#filled >= busyMs;
  }
}

/**
 * Calls `act` once, when what `usedMs` tells of has become busy. Does not keep the process alive.
 * @param usedMs CPU time so far, ms
 */
export function whenBusy(rule: BusyRule, usedMs: () => number, act: () => void): void {
  const watch = new BusyWatch(usedMs(), rule);
  const looking = setInterval(() => {
    if (!watch.isBusy(usedMs())) return;
    clearInterval(looking);
    act();
  }, rule.lookEveryMs);
  looking.unref();
}

/**
 * Call when all threads of the program have loaded what they need. Compiled code is kept for the next start while it is of
 * that start's flags, and also for one after a crash.
 */
export function optimizeWhenBusy(): void {
  flushCompileCache();
  whenBusy(busyProcess, usedMs, () => {
    for (const compiler of compilers) setFlagsFromString(`--${compiler}`);
  });
}

function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
