/**
 * The fleet: its members, and what the edges learn from each other (docs/internals/fleet.md). Members and epoch are
 * stored before they are announced, so an epoch is never announced twice with different members.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { Clock, Timer } from '#shared/clock.ts';
import type { CallCountFrame, Learned } from '#shared/edge-protocol/fleet.ts';
import { Assignment } from '#shared/fleet/assignment.ts';
import type { Database, Db } from '../db/index.ts';
import type { ConnectedEdge, ConnectedEdges } from '../edge-link/index.ts';
import type { Bus, Topic } from '../replicas/index.ts';
import { framesOf, type LearnedParts } from './learned-frames.ts';
import {
  decideMembers,
  isOutdated,
  type Member,
  type MemberTimes,
  membersAfter,
  memberTimes,
  type Presence,
} from './member-rules.ts';
import { SharedCallCounts } from './shared-call-counts.ts';
import { readFleet, storeFleet } from './store.ts';

/** After members could not be stored: they stay as they are. */
const retryMs = 1_000;

export interface FleetParts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly database: Pick<Database, 'db' | 'durable'>;
  readonly edges: ConnectedEdges;
  readonly log: FastifyBaseLogger;
  /** All that an edge must learn that has just connected. */
  readonly learned: (db: Db) => Promise<LearnedParts>;
  readonly times?: MemberTimes;
}

/** Ids of edges that the operator has removed for good. */
export const removedEdges = (bus: Bus): Topic<string> => bus.topic('edge-removed');

export class Fleet {
  readonly #parts: FleetParts;
  readonly #times: MemberTimes;
  /** Told to other replicas when the members have changed. */
  readonly #changed: Topic<null>;
  #epoch = 0;
  #members: readonly Member[] = [];
  #assignment = new Assignment([]);
  #staying: ReadonlyMap<string, number> = new Map();
  #timer: Timer | null = null;
  /** Decisions are made one after another. */
  #work: Promise<void> = Promise.resolve();
  #deciding = false;
  /** Whether a decision waits for its turn: more changes do not make more of them. */
  #waits = false;
  readonly #counts: SharedCallCounts;
  readonly #removed = new Set<string>();

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#times = parts.times ?? memberTimes;
    const { bus, clock, edges } = parts;
    const members = () => this.#members.map(({ id }) => id);
    this.#counts = new SharedCallCounts({ transients: bus.transients, edges, clock, members });
    this.#changed = parts.bus.topic('fleet');
    this.#changed.on(() => this.#reopen());
    parts.bus.onMissed(() => this.#reopen());
    removedEdges(parts.bus).on((edgeId) => this.removed(edgeId));
  }

  /** Reads who was in the fleet before the last stop. Call before edges connect. */
  async open(): Promise<void> {
    const { epoch, members } = await readFleet(this.#parts.database.db);
    this.#know(epoch, members);
  }

  /** Decides from now on who is in the fleet: one replica does. Returns a function that stops it. */
  start(): () => Promise<void> {
    const { clock, edges } = this.#parts;
    const until = clock.elapsed() + this.#times.returnMs;
    this.#staying = new Map(this.#members.map(({ id }) => [id, until]));
    const stopWatching = edges.onChange(() => this.#later());
    this.#deciding = true;
    this.#counts.decide();
    this.#later();
    return async () => {
      this.#deciding = false;
      this.#counts.follow();
      stopWatching();
      this.#timer?.cancel();
      await this.#work;
    };
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Ids, ascending. */
  get members(): readonly string[] {
    return this.#members.map(({ id }) => id).sort();
  }

  /** The edge that works on a subject (shared/fleet/assignment.ts); null: no edge of the fleet does. */
  assigned(subject: string): string | null {
    return this.#assignment.of(subject);
  }

  /** Whether others have taken over since an edge wrote this. */
  isOutdated(edgeId: string, epoch: number | undefined): boolean {
    return isOutdated({ epoch: this.#epoch, members: this.#members }, edgeId, epoch);
  }

  /** The operator has removed an edge for good: nothing of it counts any more. */
  removed(edgeId: string): void {
    this.#counts.remove(edgeId);
    if (!this.#members.some(({ id }) => id === edgeId)) return;
    this.#removed.add(edgeId);
    this.#later();
  }

  /** An edge has connected, and got its welcome. */
  async connected(edge: ConnectedEdge): Promise<void> {
    if (!edge.inFleet) return;
    edge.tell({ type: 'fleet', epoch: this.#epoch, from: null, joined: [...this.members], left: [] });
    this.#later();
    // An edge that is alone knows more than control.
    if (this.#members.every(({ id }) => id === edge.edgeId)) return;
    const { database, learned } = this.#parts;
    for (const frame of framesOf(await learned(database.db), true)) edge.tell(frame);
  }

  /** Passes on what was stored of an edge's reports. */
  pass(learned: LearnedParts): void {
    if (this.#members.length < 2) return;
    for (const frame of framesOf(learned, false)) this.#tellAll(frame);
  }

  /** An edge says something about its outgoing calls. */
  counted(edge: ConnectedEdge, frame: CallCountFrame): void {
    this.#counts.said(edge, frame);
  }

  #tellAll(frame: Learned): void {
    for (const edge of this.#parts.edges.all) if (edge.inFleet) edge.tell(frame);
  }

  #know(epoch: number, members: readonly Member[]): void {
    this.#epoch = epoch;
    this.#members = members;
    this.#assignment = new Assignment(members.map(({ id }) => id));
  }

  /** Another replica decides who is in the fleet. */
  #reopen(): void {
    this.#work = this.#work
      .then(() => this.open())
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error }, 'the members of the fleet could not be read');
      });
  }

  #later(): void {
    if (!this.#deciding || this.#waits) return;
    this.#waits = true;
    this.#work = this.#work
      .then(() => this.#decide())
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error }, 'the members of the fleet could not be stored');
        this.#again(retryMs);
      });
  }

  #again(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#deciding ? this.#parts.clock.after(ms, () => this.#later()) : null;
  }

  async #decide(): Promise<void> {
    this.#waits = false;
    if (!this.#deciding) return;
    const { clock, database, edges, log } = this.#parts;
    const decision = decideMembers(
      {
        members: this.#members,
        present: new Map(
          edges.all.filter(({ inFleet }) => inFleet).map((edge) => [edge.edgeId, presence(edge)]),
        ),
        staying: this.#staying,
        removed: this.#removed,
        now: clock.elapsed(),
      },
      this.#times,
    );
    const { joined, left, staying, againAt } = decision;
    this.#counts.look();
    if (joined.length > 0 || left.length > 0) {
      const from = this.#epoch;
      const epoch = from + 1;
      const members = membersAfter(this.#members, decision, epoch);
      await database.db.transaction().execute(async (db) => {
        await storeFleet(db, epoch, members);
        await this.#changed.publish(db, null);
      });
      await database.durable();
      this.#know(epoch, members);
      this.#counts.shared(members.length);
      log.info({ epoch, members: members.length, joined, left }, 'the fleet changed');
      for (const edge of edges.all) {
        if (edge.inFleet) edge.tell({ type: 'fleet', epoch, from, joined: [...joined], left: [...left] });
      }
    }
    this.#removed.clear();
    this.#staying = staying;
    this.#timer?.cancel();
    if (againAt !== null) this.#again(againAt - clock.elapsed());
  }
}

function presence({ metrics, plan }: ConnectedEdge): Presence {
  if (plan.draining_since !== null || (metrics.trunkline_edge_draining ?? 0) > 0) return 'draining';
  return metrics.trunkline_edge_engine_up === 0 ? 'unable' : 'ready';
}
