import pg from 'pg';

/** The server cannot be reached, or does not serve; `cause` says why. */
class DatabaseUnreachable extends Error {
  readonly code = 'DATABASE_UNREACHABLE';
}

/** Connection errors, shutdown, start-up, too many connections, and a client that paused too long (https://www.postgresql.org/docs/15/errcodes-appendix.html). */
const notServing = /^(?:08...|57P0[1-3]|53300|25P03)$/;

/** @returns a DatabaseUnreachable if the connection caused the error; otherwise the error itself */
export function unreachable(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && !notServing.test(error.code ?? '')) return error;
  if (error instanceof DatabaseUnreachable) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new DatabaseUnreachable(`The database cannot be reached: ${reason}`, { cause: error });
}
