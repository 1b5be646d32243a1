/**
 * The edges of all replicas, as each replica sees them:
 *
 *     link opened --> row: replica, epoch --message, or a look each second--> the other replicas
 *     command at any replica --message--> the edge's replica --> edge --message--> result
 *
 * The epoch counts an edge's connections: the newest is the one that counts, and a replica with an older one closes it.
 * The only control plane on an SQLite file stores and reads nothing of this.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import { type Database, livingReplicas, toJson } from '../db/index.ts';
import type { Bus, Topic } from '../replicas/index.ts';
import type { ConnectedEdges, LinkedEdge } from './registry.ts';
import { RemoteCommands } from './remote-commands.ts';
import { inFleetGauge, RemoteEdge } from './remote-edge.ts';
import { linkEdge, linkedEdges, storeState, unlinkEdge } from './shared-store.ts';

/** Metrics that other replicas choose an edge by. */
const shared = [
  'trunkline_edge_calls',
  'trunkline_edge_draining',
  'trunkline_edge_engine_up',
  'trunkline_edge_storage_failing',
  'trunkline_edge_storage_refuses_calls',
];

/** Interval of looks at all edges: this long a dead replica's edges count after its presence has expired. */
const lookMs = 1_000;
/** States of edges gather for this long. */
const gatherMs = 100;

export interface SharedEdgesParts {
  readonly database: Pick<Database, 'db'>;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly edges: ConnectedEdges;
  readonly commandTimeoutMs: number;
  readonly log: { error(facts: object, message: string): void };
}

interface Linked {
  readonly edge: LinkedEdge;
  readonly epoch: number;
}

export class SharedEdges {
  readonly #parts: SharedEdgesParts;
  readonly #changed: Topic<null>;
  readonly #commands: RemoteCommands;
  /** Edges that are linked to this replica. */
  readonly #linked = new Map<string, Linked>();
  readonly #remote = new Map<string, RemoteEdge>();
  readonly #dirty = new Set<string>();
  #work: Promise<void> = Promise.resolve();
  #looks = 0;
  #lookTimer: Timer | undefined;
  #stateTimer: Timer | undefined;
  #isClosed = false;

  constructor(parts: SharedEdgesParts) {
    this.#parts = parts;
    this.#commands = new RemoteCommands(parts);
    this.#changed = parts.bus.topic('edge-links');
    this.#changed.on(() => this.#lookSoon());
    parts.bus.onMissed(() => this.#lookSoon());
  }

  /** Learns the edges of the other replicas, and follows them from now on. */
  async start(): Promise<void> {
    if (!this.#isShared) return;
    await this.#look();
    this.#lookLater();
  }

  /** An edge's link is open. Others close an older one. */
  async opened(edge: LinkedEdge): Promise<void> {
    if (!this.#isShared) return;
    const { bus, database } = this.#parts;
    const epoch = await database.db.transaction().execute(async (db) => {
      await this.#changed.publish(db, null);
      return linkEdge(db, edge.edgeId, bus.id);
    });
    this.#linked.set(edge.edgeId, { edge, epoch });
    this.stateChanged(edge);
  }

  /** Its link has ended. */
  ended(edge: LinkedEdge): void {
    const linked = this.#linked.get(edge.edgeId);
    if (linked?.edge !== edge) return;
    this.#linked.delete(edge.edgeId);
    const { bus, database } = this.#parts;
    this.#later(() =>
      database.db.transaction().execute(async (db) => {
        if (await unlinkEdge(db, edge.edgeId, bus.id, linked.epoch)) await this.#changed.publish(db, null);
      }),
    );
  }

  /** It has reported metrics, or confirmed a configuration. */
  stateChanged({ edgeId }: LinkedEdge): void {
    if (!this.#linked.has(edgeId)) return;
    this.#dirty.add(edgeId);
    this.#stateTimer ??= this.#parts.clock.after(gatherMs, () => {
      this.#stateTimer = undefined;
      this.#later(() => this.#storeStates());
    });
  }

  /** Resolves when what happened before is stored, and forgets the others' edges. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#lookTimer?.cancel();
    this.#stateTimer?.cancel();
    this.#commands.close();
    await this.#work;
  }

  get #isShared(): boolean {
    return this.#parts.bus.listening !== null;
  }

  async #storeStates(): Promise<void> {
    const states = [...this.#dirty].flatMap((id) => this.#linked.get(id) ?? []);
    this.#dirty.clear();
    if (states.length === 0) return;
    await this.#parts.database.db.transaction().execute(async (db) => {
      for (const { edge, epoch } of states) {
        const gauges = shared.flatMap((name) =>
          edge.metrics[name] === undefined ? [] : [[name, edge.metrics[name]]],
        );
        await storeState(db, edge.edgeId, epoch, {
          applied_version: edge.appliedVersion,
          gauges: toJson<Record<string, number>>({
            ...Object.fromEntries(gauges),
            [inFleetGauge]: Number(edge.inFleet),
          }),
        });
      }
      await this.#changed.publish(db, null);
    });
  }

  #lookLater(): void {
    this.#lookTimer = this.#parts.clock.after(lookMs, () => {
      this.#lookSoon();
      void this.#work.then(() => {
        if (!this.#isClosed) this.#lookLater();
      });
    });
  }

  /** Several become one while one runs. */
  #lookSoon(): void {
    if (!this.#isShared || this.#looks > 1) return;
    this.#looks++;
    this.#later(async () => {
      this.#looks--;
      await this.#look();
    });
  }

  async #look(): Promise<void> {
    if (this.#isClosed) return;
    const { bus, database, edges } = this.#parts;
    const rows = await linkedEdges(database.db);
    const living = new Set(await livingReplicas(database.db));
    const present = new Set<string>();
    for (const row of rows) {
      const own = this.#linked.get(row.id);
      if (own && row.link_epoch > own.epoch) own.edge.close(4001, 'replaced by a newer connection');
      if (row.replica_id === bus.id || !living.has(row.replica_id)) continue;
      present.add(row.id);
      const known = this.#remote.get(row.id);
      if (known) known.update(row);
      else this.#remote.set(row.id, new RemoteEdge(row, this.#commands));
    }
    for (const id of [...this.#remote.keys()]) if (!present.has(id)) this.#remote.delete(id);
    this.#commands.dropped((edgeId, epoch) => this.#remote.get(edgeId)?.epoch !== epoch);
    edges.setRemote(this.#remote);
  }

  #later(work: () => Promise<void>): void {
    this.#work = this.#work
      .then(work)
      .catch((error: unknown) =>
        this.#parts.log.error({ err: error }, 'edges of other replicas could not be read or told'),
      );
  }
}
