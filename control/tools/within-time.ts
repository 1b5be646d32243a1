/**
 * Customers' work that may take forever: regular expressions that backtrack, JSON paths that multiply. V8 can stop code
 * running under `vm` after a time, even in the middle of such an expression.
 */
import { createContext, Script } from 'node:vm';

const context = createContext(Object.create(null));
const script = new Script('work()');

/** The work was stopped. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/** How often to restart work that was stopped only because the machine was busy. */
const mostTries = 20;

/**
 * Runs `work`, which must be synchronous and repeatable, and stops it after `ms` milliseconds of CPU time.
 * @throws OutOfTime
 */
export function withinTime<T>(ms: number, work: () => T): T {
  let result: { readonly value: T } | null = null;
  context.work = () => {
    result = { value: work() };
  };
  try {
    for (let tries = 1; result === null; tries++) {
      if (!finishes(ms) && tries === mostTries) throw new OutOfTime(`took longer than ${ms} ms`);
    }
  } finally {
    context.work = undefined;
  }
  return finished(result);
}

/**
 * V8 stops by the wall clock. @returns false when it did, although the thread had used less CPU time @throws OutOfTime
 */
function finishes(ms: number): boolean {
  const before = process.threadCpuUsage();
  try {
    script.runInContext(context, { timeout: ms });
    return true;
  } catch (error) {
    if (!isTimeout(error)) throw error;
    const { user, system } = process.threadCpuUsage(before);
    if (user + system > ms * 800) throw new OutOfTime(`took longer than ${ms} ms`);
    return false;
  }
}

function finished<T>(result: { readonly value: T } | null): T {
  if (result === null) throw new Error('the work did not end');
  return result.value;
}

/** The error is from the other context, so it is not an instance of this one's Error. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
