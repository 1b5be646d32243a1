/**
 * Work on what customers wrote that may take for ever: regular expressions that backtrack, JSON paths that
 * multiply. V8 can stop code that runs under `vm` after a time, also in the middle of such an expression.
 */
import { createContext, Script } from 'node:vm';

const context = createContext(Object.create(null));
const script = new Script('work()');

/** The work was stopped. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/** So often work is begun again that was stopped because the machine was busy with something else. */
const mostTries = 20;

/**
 * Does `work`, which must be synchronous and repeatable, and stops it when it has computed for `ms` milliseconds.
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

/** V8 stops by the wall clock. @returns false when it did, although the thread had not computed that long @throws OutOfTime */
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

/** The error is of the other context, so it is no instance of this one's Error. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
