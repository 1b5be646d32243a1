/** Limits of the database. */
export interface DatabaseLimits {
  readonly connections: number;
}

export const databaseLimits: DatabaseLimits = {
  /**
   * To a PostgreSQL server: one connection writes at a time; the others read, so more than a few only wait for the same
   * cores of the server. PostgreSQL itself allows 100.
   */
  connections: 10,
};
