/**
 * The orderly end of one of several control planes, so that no request fails and no edge is without a connection:
 *
 *     serving --begin--> not ready --balancer has noticed--> edges move --all moved, or late--> ended by its caller
 *
 * It serves requests all the time, and begins no more background work. One that is alone ends at once.
 */
import type { Clock } from '#shared/clock.ts';
import { type BackgroundWork, type Db, livingReplicas, type Replica } from './db/index.ts';
import type { EdgeConnections } from './edge-link/index.ts';
import type { App } from './http/index.ts';

/** Twice as long as a balancer needs that asks every second and believes the second answer (deploy/haproxy). */
const noticeMs = 3_000;
/** For the edges to move: 20 one after another, as slowly as they may; more than that if they are as quick as usual. */
const movesMs = 5_000;

export interface LeavingParts {
  readonly clock: Clock;
  readonly replica: Pick<Replica, 'handOver' | 'hasOthers' | 'id'>;
  /** Of statements that wait for no writer. */
  readonly db: Db;
  readonly log: { info(facts: object, message: string): void; warn(facts: object, message: string): void };
}

export class Leaving {
  readonly #parts: LeavingParts;
  #isLeaving = false;

  constructor(parts: LeavingParts) {
    this.#parts = parts;
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Ends the connections of clients, and of a balancer, with their next answer. */
  follow(app: App): void {
    app.addHook('onSend', async (_, reply) => {
      if (this.#isLeaving) reply.header('connection', 'close');
    });
  }

  /** Resolves when this process may end. */
  async begin(background: Pick<BackgroundWork, 'hold'>, edges: Pick<EdgeConnections, 'move'>): Promise<void> {
    const { clock, log, replica } = this.#parts;
    if (!(await this.#othersServe())) return;
    this.#isLeaving = true;
    log.info({}, 'control plane is leaving: not ready any more, other control planes serve');
    await replica.handOver();
    // What is running has the time until the end; the rest is others' work.
    background.hold();
    await new Promise<void>((resolve) => clock.after(noticeMs, resolve));
    await edges.move(movesMs);
    log.info({}, 'control plane has left');
  }

  async #othersServe(): Promise<boolean> {
    const { db, log, replica } = this.#parts;
    if (!replica.hasOthers) return false;
    try {
      return (await livingReplicas(db)).some((id) => id !== replica.id);
    } catch (error) {
      log.warn({ err: error }, 'other control planes could not be looked up, so this one ends at once');
      return false;
    }
  }
}
