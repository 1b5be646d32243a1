/**
 * Whether anybody is followed, for what is stored thousands of times per second. On an SQLite file, where this process alone
 * opens windows, it is known without a look once there were none; on PostgreSQL each transaction looks, because another
 * replica may have opened one.
 */
import type { Database, Db } from '../db/index.ts';
import type { Hearing } from '../replicas/index.ts';
import { PassingEvents } from './passing.ts';
import { type Followed, followedOrganizations, nobody } from './record.ts';

export class Followers {
  readonly #isAlone: boolean;
  #mayBeAny = true;
  /** What is told and not stored. */
  readonly passing: PassingEvents;

  /** @param transients of the other replicas; null: none */
  constructor(database: Pick<Database, 'db' | 'beside'>, transients: Hearing | null = null) {
    this.passing = new PassingEvents(transients);
    // As in edge-link/reports.ts: only PostgreSQL has transactions beside others.
    this.#isAlone = database.beside === database.db;
  }

  /** As a transaction sees them. */
  async in(db: Db): Promise<Followed> {
    if (!this.#mayBeAny) return nobody;
    const followed = await followedOrganizations(db);
    if (this.#isAlone && followed.isEmpty) this.#mayBeAny = false;
    return followed;
  }

  /** To call in the transaction that opens a window: on SQLite no other is running then. */
  opened(): void {
    this.#mayBeAny = true;
  }
}
