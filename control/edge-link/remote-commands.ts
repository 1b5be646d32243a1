/**
 * Commands to edges of other replicas. Each is executed at most once: its replica reads it once, and one that it reads
 * too late is void, as it would be at the edge.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import type { FleetFrame } from '#shared/edge-protocol/fleet.ts';
import { ApiError, type ErrorItem } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import type { Database } from '../db/index.ts';
import type { Bus, MessageFacts, Topic } from '../replicas/index.ts';
import { isVoid, Unanswered } from './command-rules.ts';
import type { ConnectedEdges } from './registry.ts';
import { edgesWithIds, type LinkedRow } from './shared-store.ts';

interface Order {
  readonly id: string;
  readonly edge_id: string;
  readonly command: EdgeCommand;
}

interface Told {
  readonly edge_id: string;
  readonly frame: FleetFrame;
}

/** Without `unanswered` and `items`: the edge has accepted it. */
interface Result {
  readonly id: string;
  /** The edge may have executed it. */
  readonly unanswered?: string;
  /** The edge has not executed it. */
  readonly items?: readonly ErrorItem[];
  readonly retry_after?: number | undefined;
  /** Nor will this replica: the edge has a newer connection to another one. */
  readonly elsewhere?: boolean;
}

interface Waiting {
  readonly replicaId: string;
  readonly answer: PromiseWithResolvers<'accepted' | 'elsewhere'>;
  readonly timeout: Timer;
}

/** Replicas that a command follows a moving edge to. */
const mostMoves = 3;

export interface RemoteCommandsParts {
  readonly database: Pick<Database, 'db'>;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly edges: ConnectedEdges;
  readonly commandTimeoutMs: number;
}

export class RemoteCommands {
  readonly #parts: RemoteCommandsParts;
  readonly #orders: Topic<Order>;
  readonly #results: Topic<Result>;
  readonly #told: Topic<Told>;
  readonly #waiting = new Map<string, Waiting>();

  constructor(parts: RemoteCommandsParts) {
    this.#parts = parts;
    this.#orders = parts.bus.topic('edge-command');
    this.#results = parts.bus.topic('edge-command-result');
    this.#told = parts.bus.topic('edge-told');
    this.#told.on(({ edge_id, frame }) => parts.edges.here(edge_id)?.tell(frame));
    this.#orders.on((order, facts) => void this.#execute(order, facts));
    this.#results.on((result) => this.#settle(result));
  }

  /** @throws as ConnectedEdge.command */
  async send(row: LinkedRow, command: EdgeCommand): Promise<void> {
    const { bus, clock, database, edges } = this.#parts;
    const began = clock.elapsed();
    let to: LinkedRow | undefined = row;
    for (let moves = 0; to && moves < mostMoves; moves++) {
      if ((await this.#order(to, command)) === 'accepted') return;
      const here = edges.here(row.id);
      if (here) return here.command(command, clock.elapsed() - began);
      [to] = await edgesWithIds(database.db, [row.id]);
      if (to?.replica_id === bus.id) break;
    }
    throw notConnected();
  }

  async #order(
    { id: edgeId, replica_id: replicaId }: LinkedRow,
    command: EdgeCommand,
  ): Promise<'accepted' | 'elsewhere'> {
    const { clock, commandTimeoutMs, database } = this.#parts;
    const id = newId();
    const answer = Promise.withResolvers<'accepted' | 'elsewhere'>();
    // The edge's replica takes back what a silent edge may have started.
    const timeout = clock.after(commandTimeoutMs, () =>
      answer.reject(new Unanswered('The edge did not answer in time.')),
    );
    this.#waiting.set(id, { replicaId, answer, timeout });
    try {
      await database.db
        .transaction()
        .execute((db) => this.#orders.publish(db, { id, edge_id: edgeId, command }, replicaId));
      return await answer.promise;
    } finally {
      timeout.cancel();
      this.#waiting.delete(id);
      answer.promise.catch(() => undefined);
    }
  }

  /** Passes on a frame without an answer. */
  tell({ id, replica_id }: LinkedRow, frame: FleetFrame): void {
    this.#told.post({ edge_id: id, frame }, replica_id);
  }

  /** Ends the waiting for replicas that have died. One that lives answers, also when the edge's connection has ended. */
  dropped(isDead: (replicaId: string) => boolean): void {
    for (const { answer, replicaId } of this.#waiting.values())
      if (isDead(replicaId)) answer.reject(new Unanswered('The edge was disconnected.'));
  }

  close(): void {
    this.dropped(() => true);
  }

  async #execute({ id, edge_id, command }: Order, { ageMs, sender }: MessageFacts): Promise<void> {
    const { commandTimeoutMs, edges } = this.#parts;
    try {
      if (isVoid(command, ageMs, commandTimeoutMs))
        throw ApiError.unavailable('The order came too late to the replica of the edge.', 5);
      const edge = edges.here(edge_id);
      if (!edge) {
        const elsewhere = edges.has(edge_id);
        this.#results.post({ id, ...failure(notConnected()), elsewhere }, sender);
        return;
      }
      await edge.command(command, Math.max(0, ageMs));
      this.#results.post({ id }, sender);
    } catch (error) {
      this.#results.post({ id, ...failure(error) }, sender);
    }
  }

  #settle({ elsewhere, id, items, retry_after, unanswered }: Result): void {
    const answer = this.#waiting.get(id)?.answer;
    const [first, ...others] = items ?? [];
    if (elsewhere === true) answer?.resolve('elsewhere');
    else if (unanswered !== undefined) answer?.reject(new Unanswered(unanswered));
    else if (first) {
      const error = ApiError.many([first, ...others]);
      answer?.reject(retry_after === undefined ? error : error.waiting(retry_after));
    } else answer?.resolve('accepted');
  }
}

const notConnected = () => ApiError.unavailable('The edge is not connected.', 5);

function failure(error: unknown): Omit<Result, 'id'> {
  if (error instanceof ApiError && !(error instanceof Unanswered))
    return { items: error.items, retry_after: error.retryAfter };
  return { unanswered: error instanceof Error ? error.message : String(error) };
}
