/** Limits of the database. */
export interface DatabaseLimits {
  readonly connections: number;
  /** How long a replica has a lease without renewing it, and how often it renews. */
  readonly leaseMs: number;
  readonly beatMs: number;
}

export const databaseLimits: DatabaseLimits = {
  /**
   * To a PostgreSQL server: one connection writes at a time; the others read, so more than a few only wait for the same
   * cores of the server. PostgreSQL itself allows 100.
   */
  connections: 10,
  /** Others take over after this. A pause of three seconds in the program, the network or the database loses nothing. */
  leaseMs: 4_000,
  beatMs: 1_000,
};
