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
import { type Database, FailureLog, type Json, livingReplicas, toJson } from '../db/index.ts';
import type { Bus, Topic } from '../replicas/index.ts';
import { type ConnectedEdges, type LinkedEdge, stateOf } from './registry.ts';
import { RemoteCommands } from './remote-commands.ts';
import { inFleetGauge, RemoteEdge } from './remote-edge.ts';
import {
  edgesOfOthers,
  edgesWithIds,
  type LinkedRow,
  linkEdges,
  storeStates,
  unlinkEdge,
} from './shared-store.ts';

/** Metrics that other replicas choose an edge by, or show of it. */
const shared = [
  'trunkline_edge_calls',
  'trunkline_edge_calls_most',
  'trunkline_edge_draining',
  'trunkline_edge_embedded_voice',
  'trunkline_edge_embedded_voices',
  'trunkline_edge_engine_up',
  'trunkline_edge_host_load',
  'trunkline_edge_outbox_files_lost_total',
  'trunkline_edge_protocol_revision',
  'trunkline_edge_rtp_ports',
  'trunkline_edge_rtp_ports_in_use',
  'trunkline_edge_storage_failing',
  'trunkline_edge_storage_refuses_calls',
  'trunkline_engine_certificate_expires_seconds',
  'trunkline_engine_certificate_other_host',
];

/** Interval of looks at the living replicas: this long a dead one's edges count after its presence has expired. */
const lookMs = 1_000;
/** Every so many of these looks read all edges again, though no message said that one has changed. */
const looksPerRead = 10;
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
  /** What others know of it. */
  state: string;
}

export class SharedEdges {
  readonly #parts: SharedEdgesParts;
  /** Ids of edges whose rows have changed; null, of the previous version: of any. */
  readonly #changed: Topic<readonly string[] | null>;
  readonly #commands: RemoteCommands;
  /** Edges that are linked to this replica. */
  readonly #linked = new Map<string, Linked>();
  readonly #remote = new Map<string, RemoteEdge>();
  /** Edges whose link is being stored: until it is there, they count as linked to where they were. */
  readonly #opening = new Set<string>();
  readonly #dirty = new Set<string>();
  /** Links that are stored in the next transaction. */
  #unstored: { readonly edge: LinkedEdge; readonly stored: PromiseWithResolvers<void> }[] = [];
  #work: Promise<void> = Promise.resolve();
  /** What the next look reads: these edges, or all. */
  #unread: Set<string> | 'all' = new Set();
  #lookWaits = false;
  #looks = 0;
  #living = '';
  #lookTimer: Timer | undefined;
  #stateTimer: Timer | undefined;
  #isClosed = false;
  readonly #failures: FailureLog;

  constructor(parts: SharedEdgesParts) {
    this.#parts = parts;
    this.#failures = new FailureLog(parts.log, 'edges of other replicas could not be read or told');
    this.#commands = new RemoteCommands(parts);
    this.#changed = parts.bus.topic('edge-links');
    this.#changed.on((ids) => this.#lookSoon(ids));
    parts.bus.onMissed(() => this.#lookSoon(null));
  }

  /** Learns the edges of the other replicas, and follows them from now on. */
  async start(): Promise<void> {
    if (!this.#isShared) return;
    this.#unread = 'all';
    await this.#look();
    this.#lookLater();
  }

  /** An edge's link is open, and the edge one of those that are connected. Others close an older link. */
  async opened(edge: LinkedEdge): Promise<void> {
    if (!this.#isShared) return this.#parts.edges.add(edge);
    const stored = Promise.withResolvers<void>();
    this.#opening.add(edge.edgeId);
    this.#unstored.push({ edge, stored });
    if (this.#unstored.length === 1) this.#later(() => this.#storeOpened());
    await stored.promise;
    this.stateChanged(edge);
  }

  /** Those that open together share a transaction. */
  async #storeOpened(): Promise<void> {
    const { bus, database, edges } = this.#parts;
    const links = this.#unstored;
    this.#unstored = [];
    const ids = links.map(({ edge }) => edge.edgeId);
    try {
      const epochs = await database.db.transaction().execute(async (db) => {
        await this.#changed.publish(db, ids);
        return linkEdges(db, ids, bus.id);
      });
      for (const { edge, stored } of links) {
        const epoch = epochs.get(edge.edgeId);
        if (epoch === undefined) {
          stored.reject(new Error('The edge was removed meanwhile.'));
          continue;
        }
        this.#linked.set(edge.edgeId, { edge, epoch, state: '' });
        edges.add(edge);
        this.#remote.delete(edge.edgeId);
        stored.resolve();
      }
    } catch (error) {
      for (const { stored } of links) stored.reject(error);
    } finally {
      for (const id of ids) this.#opening.delete(id);
    }
  }

  /** Its link has ended. */
  ended(edge: LinkedEdge): void {
    const linked = this.#linked.get(edge.edgeId);
    if (linked?.edge !== edge) return;
    this.#linked.delete(edge.edgeId);
    const { bus, database } = this.#parts;
    this.#later(() =>
      database.db.transaction().execute(async (db) => {
        if (await unlinkEdge(db, edge.edgeId, bus.id, linked.epoch))
          await this.#changed.publish(db, [edge.edgeId]);
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

  /** Of those that say something new. */
  async #storeStates(): Promise<void> {
    const news = [...this.#dirty].flatMap((id) => {
      const linked = this.#linked.get(id);
      if (!linked) return [];
      const { appliedVersion: applied_version } = linked.edge;
      const row = { id, link_epoch: linked.epoch, applied_version, gauges: gaugesOf(linked.edge) };
      const state = `${applied_version} ${row.gauges}`;
      return state === linked.state ? [] : [{ linked, row, state }];
    });
    this.#dirty.clear();
    if (news.length === 0) return;
    const rows = news.map(({ row }) => row);
    await this.#parts.database.db.transaction().execute(async (db) => {
      await storeStates(db, rows);
      await this.#changed.publish(
        db,
        rows.map(({ id }) => id),
      );
    });
    for (const { linked, state } of news) linked.state = state;
  }

  #lookLater(): void {
    this.#lookTimer = this.#parts.clock.after(lookMs, () => {
      this.#looks++;
      this.#lookSoon(this.#looks % looksPerRead === 0 ? null : []);
      void this.#work.then(() => {
        if (!this.#isClosed) this.#lookLater();
      });
    });
  }

  /** Several become one while one waits. @param ids of the edges to read; null: all */
  #lookSoon(ids: readonly string[] | null): void {
    if (!this.#isShared) return;
    if (ids === null) this.#unread = 'all';
    else if (this.#unread !== 'all') for (const id of ids) this.#unread.add(id);
    if (this.#lookWaits) return;
    this.#lookWaits = true;
    this.#later(() => this.#look());
  }

  async #look(): Promise<void> {
    this.#lookWaits = false;
    if (this.#isClosed) return;
    const { bus, database, edges } = this.#parts;
    const living = new Set(await livingReplicas(database.db));
    const names = [...living].sort().join(' ');
    // The edges of a replica that has died, or has begun to live.
    if (names !== this.#living) this.#unread = 'all';
    this.#living = names;
    const unread = this.#unread;
    this.#unread = new Set();
    if (unread !== 'all' && unread.size === 0) return;
    try {
      const rows =
        unread === 'all'
          ? await edgesOfOthers(database.db, bus.id)
          : await edgesWithIds(database.db, [...unread]);
      const gone = new Set(unread === 'all' ? this.#remote.keys() : unread);
      let isNews = false;
      for (const row of rows) {
        const own = this.#linked.get(row.id);
        if (own && row.link_epoch > own.epoch) own.edge.replaced();
        if (row.replica_id === bus.id || !living.has(row.replica_id)) continue;
        gone.delete(row.id);
        isNews = this.#learn(row) || isNews;
      }
      for (const id of gone) if (!this.#opening.has(id)) isNews = this.#remote.delete(id) || isNews;
      this.#commands.dropped((replicaId) => !living.has(replicaId));
      edges.setRemote(this.#remote, isNews);
    } catch (error) {
      this.#unread = 'all';
      throw error;
    }
  }

  /** @returns whether it says something new about the edge's part in the fleet */
  #learn(row: LinkedRow): boolean {
    const known = this.#remote.get(row.id);
    if (!known) {
      this.#remote.set(row.id, new RemoteEdge(row, this.#commands));
      return true;
    }
    const before = stateOf(known);
    known.update(row);
    return stateOf(known) !== before;
  }

  #later(work: () => Promise<void>): void {
    this.#work = this.#work
      .then(work)
      .then(() => this.#failures.worked())
      .catch((error: unknown) => this.#failures.failed(error));
  }
}

function gaugesOf(edge: LinkedEdge): Json<Record<string, number>> {
  const gauges = shared.flatMap((name) =>
    edge.metrics[name] === undefined ? [] : [[name, edge.metrics[name]]],
  );
  return toJson<Record<string, number>>({
    ...Object.fromEntries(gauges),
    [inFleetGauge]: Number(edge.inFleet),
  });
}
