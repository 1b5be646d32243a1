/** The currently connected edges: of this replica, and as the others say (shared-edges.ts). */
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import type { FleetFrame } from '#shared/edge-protocol/fleet.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { ApiError } from '#shared/errors.ts';
import { type FliteVoice, fliteVoices } from '#shared/models/flite-voices.ts';
import { type Candidate, chooseEdge, type RegionWish } from './choice.ts';
import { closeCode } from './close-codes.ts';
import type { EdgePlan } from './store.ts';

/** What a link to an edge offers to the rest of the control plane. */
export interface ConnectedEdge {
  readonly edgeId: string;
  /** Whether the connection can still send. A closing connection leaves the registry only once it is closed. */
  readonly isOpen: boolean;
  /** Configuration version that the edge has confirmed on this connection; 0 before. */
  readonly appliedVersion: number;
  /** The address where the edge takes calls, as it reported. */
  readonly sip: { readonly host: string; readonly port: number; readonly wss_port?: number };
  readonly rtp: { readonly ip: string; readonly port_min: number; readonly port_max: number };
  /** Codecs whose libraries the edge has. */
  readonly codecs: readonly string[];
  /** The edge's latest metrics: Prometheus name to value. */
  readonly metrics: Readonly<Record<string, number>>;
  /** Calls ordered since these metrics. */
  readonly ordered: number;
  /** It left a command unanswered, and nothing was heard of it since. */
  readonly isSilent: boolean;
  /** What the operator decided about it. */
  readonly plan: EdgePlan;
  /** Whether it shares its work with other edges. */
  readonly inFleet: boolean;
  /** Sends a frame of shared/edge-protocol/fleet.ts. */
  tell(frame: FleetFrame): void;
  /**
   * @throws Unanswered when the edge may have executed it
   * @throws ApiError when it has not: the edge's own error, or SERVICE_UNAVAILABLE
   */
  command(command: EdgeCommand): Promise<void>;
  /** Closes the connection. `reason` is sent to the edge. */
  close(code: number, reason: string): void;
}

/** An edge that is linked to this replica. */
export interface LinkedEdge extends ConnectedEdge {
  /** @param spentMs since the client ordered it, at another replica */
  command(command: EdgeCommand, spentMs?: number): Promise<void>;
  /** Its edge has a newer connection: it takes no more commands, and closes when those under way have ended. */
  replaced(): void;
}

/** Older edges do not report it. */
export const hasEngine = (edge: ConnectedEdge) => edge.metrics.trunkline_edge_engine_up !== 0;

const refusesCalls = (edge: ConnectedEdge) => (edge.metrics.trunkline_edge_storage_refuses_calls ?? 0) > 0;

/** What it says about its disk. */
export function diskOf({ metrics }: Pick<ConnectedEdge, 'metrics'>): 'ok' | 'failing' | 'refusing_calls' {
  if ((metrics.trunkline_edge_storage_refuses_calls ?? 0) > 0) return 'refusing_calls';
  return (metrics.trunkline_edge_storage_failing ?? 0) > 0 ? 'failing' : 'ok';
}

/** Whether it says that it drains. */
const saysDraining = ({ metrics }: ConnectedEdge) => (metrics.trunkline_edge_draining ?? 0) > 0;

/** Whether it drains for a shutdown, or was told to. */
const isDraining = (edge: ConnectedEdge) => edge.plan.draining_since !== null || saysDraining(edge);

/** Whether it takes new calls, by its own words: an order to drain counts once the edge has carried it out. */
export const takesCalls = (edge: ConnectedEdge) =>
  hasEngine(edge) && !saysDraining(edge) && !refusesCalls(edge);

/** What of an edge decides about its part in the fleet. */
export const stateOf = (edge: ConnectedEdge) => `${edge.inFleet} ${hasEngine(edge)} ${isDraining(edge)}`;

/** @param draining @param refusing numbers of connected edges; one may do both */
function whyNone(draining: number, refusing: number): string {
  if (refusing === 0) return 'all connected edges are draining';
  if (draining === 0) return 'the disks of all connected edges are full';
  return 'all connected edges are draining, or their disks are full';
}

interface BrowserWish {
  readonly wish: RegionWish | null;
  readonly callsMore: boolean;
}

const revisionOf = ({ metrics }: ConnectedEdge) => metrics.trunkline_edge_protocol_revision ?? 0;

const knowsMorePhones = (edge: ConnectedEdge) => revisionOf(edge) >= edgeProtocol.phonesCallMore;

function candidate(edge: ConnectedEdge): Candidate & { readonly edge: ConnectedEdge } {
  const { region, weight } = edge.plan;
  const calls = (edge.metrics.trunkline_edge_calls ?? 0) + edge.ordered;
  const { edgeId, isSilent } = edge;
  return { edge, edgeId, isSilent, region, weight, hasEngine: hasEngine(edge), calls };
}

export class ConnectedEdges {
  readonly #edges = new Map<string, LinkedEdge>();
  #remote: ReadonlyMap<string, ConnectedEdge> = new Map();
  readonly #listeners = new Set<() => void>();

  /** Adds an edge; an older connection of the same edge is closed, because only one can be alive. */
  add(edge: LinkedEdge): void {
    this.#edges.get(edge.edgeId)?.close(closeCode.replaced, 'replaced by a newer connection');
    this.#edges.set(edge.edgeId, edge);
    this.changed();
  }

  /** Calls `listener` when edges come or go, or their `stateOf` changes. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The state of an edge may have changed. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  remove(edge: ConnectedEdge): void {
    if (this.#edges.get(edge.edgeId) !== edge) return;
    this.#edges.delete(edge.edgeId);
    this.changed();
  }

  /** The edges that are linked to other replicas. @param isNews whether some came, went, or changed their state */
  setRemote(edges: ReadonlyMap<string, ConnectedEdge>, isNews: boolean): void {
    this.#remote = edges;
    if (isNews) this.changed();
  }

  has(edgeId: string): boolean {
    return this.#find(edgeId) !== undefined;
  }

  /** The edge if it is linked to this replica. */
  here(edgeId: string): LinkedEdge | undefined {
    const edge = this.#edges.get(edgeId);
    return edge?.isOpen ? edge : undefined;
  }

  get allHere(): readonly LinkedEdge[] {
    return [...this.#edges.values()].filter((edge) => edge.isOpen);
  }

  /** Those of all replicas. */
  get all(): readonly ConnectedEdge[] {
    if (this.#remote.size === 0) return this.allHere;
    return [...this.allHere, ...[...this.#remote.values()].filter(({ edgeId }) => !this.here(edgeId))];
  }

  #find(edgeId: string): ConnectedEdge | undefined {
    return this.here(edgeId) ?? this.#remote.get(edgeId);
  }

  get count(): number {
    return this.all.length;
  }

  /** Edges that are draining, or were told to: they finish their calls and take no new ones. */
  get draining(): readonly ConnectedEdge[] {
    return this.all.filter(isDraining);
  }

  /** Edges whose SIP engine is not connected, or hangs: they take no calls. Older edges do not report it. */
  get withoutEngine(): readonly ConnectedEdge[] {
    return this.all.filter((edge) => !hasEngine(edge));
  }

  /**
   * Ids of edges whose disk writes fail, of those that refuse new calls because of it, and of those that have lost files
   * of their outbox since their start; ascending.
   */
  get storage(): { readonly failing: string[]; readonly refusing: string[]; readonly lost: string[] } {
    const of = (metric: string) =>
      this.all
        .filter((edge) => (edge.metrics[metric] ?? 0) > 0)
        .map((edge) => edge.edgeId)
        .sort();
    return {
      failing: of('trunkline_edge_storage_failing'),
      refusing: of('trunkline_edge_storage_refuses_calls'),
      lost: of('trunkline_edge_outbox_files_lost_total'),
    };
  }

  /** Codecs that no connected edge has; none while no edge is connected. */
  lacking(codecs: readonly string[]): string[] {
    const edges = this.all;
    if (edges.length === 0) return [];
    return codecs.filter((codec) => !edges.some((edge) => edge.codecs.includes(codec)));
  }

  /** Whether none has a server that speaks; false while none is connected, or one does not tell. */
  get speakEmbedded(): boolean {
    const edges = this.all;
    return edges.length > 0 && edges.every(({ metrics }) => metrics.trunkline_edge_embedded_voices === 1);
  }

  /** The embedded voice with which all speak where none is named; null: another voice may, or one does not tell. */
  get usualVoice(): FliteVoice | null {
    const [first, ...others] = new Set(this.all.map(({ metrics }) => metrics.trunkline_edge_embedded_voice));
    if (!this.speakEmbedded || first === undefined || others.length > 0) return null;
    return fliteVoices[first - 1] ?? null;
  }

  /** The version that every connected edge has confirmed; null when none is connected. */
  get appliedVersion(): number | null {
    const versions = this.all.map((edge) => edge.appliedVersion);
    return versions.length === 0 ? null : Math.min(...versions);
  }

  /** @throws ApiError SERVICE_UNAVAILABLE when that edge is not connected; otherwise as ConnectedEdge.command */
  async command(edgeId: string, command: EdgeCommand): Promise<void> {
    const edge = this.#find(edgeId);
    if (!edge) throw ApiError.unavailable('The edge that carries the call is not connected.', 5);
    await edge.command(command);
  }

  /**
   * The connected edge with the fewest calls for its weight that is not draining and can store its reports.
   * @param revision the least of the protocol that it must know (revision.ts)
   * @throws ApiError SERVICE_UNAVAILABLE when there is none
   */
  leastLoaded(wish: RegionWish | null = null, revision = 0): ConnectedEdge {
    const refusing = this.all.filter(refusesCalls);
    const staying = this.all.filter((edge) => !isDraining(edge) && !refusing.includes(edge));
    const knowing = staying.filter((edge) => revisionOf(edge) >= revision);
    const chosen = chooseEdge(knowing.map(candidate), wish);
    if (chosen) return chosen.edge;
    if (staying.length > knowing.length)
      throw ApiError.unavailable('The edges that take calls are of an earlier version.', 30);
    if (staying.length > 0 && wish !== null)
      throw ApiError.unavailable(`No edge of the region "${wish.region}" takes calls.`, 30);
    const draining = this.all.filter(isDraining);
    if (draining.length === 0 && refusing.length === 0)
      throw ApiError.unavailable('No edge is connected.', 5);
    throw ApiError.unavailable(`No edge takes calls: ${whyNone(draining.length, refusing.length)}.`, 30);
  }

  /**
   * The same of those that take calls of browsers, over WSS.
   * @param callsMore whether it must know sessions that call out or are for an agent
   * @throws ApiError SERVICE_UNAVAILABLE when there is none
   */
  leastLoadedForBrowsers({ wish, callsMore }: BrowserWish): ConnectedEdge {
    const able = this.all.filter(
      (edge) => edge.sip.wss_port !== undefined && takesCalls(edge) && !isDraining(edge),
    );
    const knowing = callsMore ? able.filter(knowsMorePhones) : able;
    const chosen = chooseEdge(knowing.map(candidate), wish);
    if (chosen) return chosen.edge;
    if (knowing.length > 0 && wish !== null)
      throw ApiError.unavailable(`No edge of the region "${wish.region}" takes calls of browsers.`, 30);
    if (able.length > 0)
      throw ApiError.unavailable('The edges that take calls of browsers are of an earlier version.', 30);
    throw ApiError.unavailable('No edge takes calls of browsers: none with SIP_WSS_PORT is ready.', 5);
  }

  /**
   * The edge of a call that is supervised.
   * @param by with a voice a browser joins the call
   * @throws ApiError SERVICE_UNAVAILABLE when it is not connected, or cannot do it
   */
  forSupervisors(edgeId: string, by: 'voice' | 'text' = 'voice'): ConnectedEdge {
    const edge = this.#find(edgeId);
    const why = (reason: string) => `The edge that carries the call ${reason}`;
    if (!edge) throw ApiError.unavailable(why('is not connected.'), 5);
    if (revisionOf(edge) < edgeProtocol.supervises)
      throw ApiError.unavailable(
        why('is of an earlier version, which knows no supervisors: upgrade it.'),
        30,
      );
    if (by === 'voice' && edge.sip.wss_port === undefined)
      throw ApiError.unavailable(why('takes no browsers: set SIP_WSS_PORT on it.'), 30);
    return edge;
  }

  /** Sends it to every connected edge. @throws ApiError SERVICE_UNAVAILABLE when none is connected or one fails */
  async commandAll(command: EdgeCommand): Promise<void> {
    if (this.count === 0) throw ApiError.unavailable('No edge is connected.', 5);
    await Promise.all(this.all.map((edge) => edge.command(command)));
  }
}
