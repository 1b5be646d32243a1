/**
 * When edges were last seen, stored for all of them together: a thousand edges report their status a hundred times a
 * second, and each write of its own would wait in the line of all writes.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Db } from '../db/index.ts';
import { seeEdges } from './store.ts';

/** How long they are gathered, ms: so much earlier may the stored time be than the last status. */
const gatherMs = 1_000;

export class Sightings {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #log: FastifyBaseLogger;
  readonly #seen = new Set<string>();
  #timer: Timer | null = null;
  #storing: Promise<void> = Promise.resolve();

  constructor({
    db,
    clock,
    log,
  }: { readonly db: Db; readonly clock: Clock; readonly log: FastifyBaseLogger }) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  note(edgeId: string): void {
    this.#seen.add(edgeId);
    this.#timer ??= this.#clock.after(gatherMs, () => {
      this.#storing = this.#storing.then(() => this.#store());
    });
  }

  /** Stores what is left. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#storing;
    await this.#store();
  }

  async #store(): Promise<void> {
    this.#timer = null;
    const edgeIds = [...this.#seen];
    this.#seen.clear();
    if (edgeIds.length === 0) return;
    try {
      await seeEdges(this.#db, this.#clock, edgeIds);
    } catch (error) {
      this.#log.error({ err: error, edges: edgeIds.length }, 'when edges were last seen could not be stored');
    }
  }
}
