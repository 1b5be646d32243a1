/** A failed set-up step. The three parts are printed one below the other, without a stack. */
export class Trouble extends Error {
  name = 'Trouble';

  /**
   * @param {string} what the step that failed, for example `cannot install the npm packages`
   * @param {string} why the cause, if known; may have several lines
   * @param {string} remedy what the reader can do
   */
  constructor(what, why, remedy) {
    super(`${what}\n  why: ${why.trim().split('\n').join('\n       ')}\n  what to do: ${remedy}`);
  }
}

/** The last lines of a program's output: enough to see why it failed. */
export function tail(output, lines = 12) {
  return output.trim().split('\n').slice(-lines).join('\n');
}

/** Runs `main`. Trouble is printed as text, other errors with their stack; both set exit code 1. */
export async function reportTrouble(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Trouble ? `\ntrunkline: ${error.message}` : error);
    process.exitCode = 1;
  }
}
