/**
 * Work on one key, one piece at a time on all replicas: in order of arrival on each, and in any order between them. The
 * turn of a replica that dies is free at once for the others.
 */
import { type Clock, systemClock } from '#shared/clock.ts';
import { OneAtATime } from '#shared/one-at-a-time.ts';
import { type Claimant, claimIsAlive } from './leases.ts';
import type { Replica } from './replica.ts';
import type { Db } from './tables.ts';

/** First and longest pause between two looks whether another replica's turn is over, ms. */
const firstPauseMs = 20;
const nextPauseMs = 200;

export interface SharedTurnsParts {
  readonly db: Db;
  readonly replica: Replica;
  /** What the keys name; unique. */
  readonly kind: string;
}

export class SharedTurns {
  readonly #parts: SharedTurnsParts;
  readonly #order = new OneAtATime();

  constructor(parts: SharedTurnsParts) {
    this.#parts = parts;
  }

  /** Runs `work` after all earlier work with the same key has ended, even if it failed. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#order.run(key, () => this.among(key, work));
  }

  /** The same, for callers that have an order of their own on this replica. */
  async among<T>(key: string, work: () => Promise<T>): Promise<T> {
    const { db, kind, replica } = this.#parts;
    if (!replica.hasOthers) return work();
    const name = `${kind} ${key}`;
    const claimant = await replica.claimant();
    for (let pauseMs = firstPauseMs; !(await takeTurn(db, name, claimant)); pauseMs = nextPauseMs)
      await pause(pauseMs);
    try {
      return await work();
    } finally {
      await endTurn(db, name, claimant);
    }
  }
}

/** Whether the turn is now this replica's. */
async function takeTurn(db: Db, name: string, { owner, fence }: Claimant): Promise<boolean> {
  const taken = await db
    .insertInto('claims')
    .values({ name, owner, fence })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ owner, fence })
        // Its own is left over: on one replica there is an order before this.
        .where((eb) => eb.or([eb('claims.owner', '=', owner), eb.not(claimIsAlive(db, 'claims'))])),
    )
    .returning('name')
    .executeTakeFirst();
  return taken !== undefined;
}

async function endTurn(db: Db, name: string, { owner, fence }: Claimant): Promise<void> {
  await db
    .deleteFrom('claims')
    .where((eb) => eb.and({ name, owner, fence }))
    .execute();
}

/** Real time: what it waits for happens in another process. */
export function pause(ms: number, clock: Clock = systemClock): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
