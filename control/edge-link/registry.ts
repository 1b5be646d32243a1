/** The currently connected edges. */
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import { ApiError } from '#shared/errors.ts';

/** What a link to an edge offers to the rest of the control plane. */
export interface ConnectedEdge {
  readonly edgeId: string;
  /** Whether the connection can still send. A closing connection leaves the registry only once it is closed. */
  readonly isOpen: boolean;
  /** Configuration version that the edge has confirmed on this connection; 0 before. */
  readonly appliedVersion: number;
  /** The address where the edge takes calls, as it reported. */
  readonly sip: { readonly host: string; readonly port: number };
  readonly rtp: { readonly ip: string; readonly port_min: number; readonly port_max: number };
  /** Codecs whose libraries the edge has. */
  readonly codecs: readonly string[];
  /** The edge's latest metrics: Prometheus name to value. */
  readonly metrics: Readonly<Record<string, number>>;
  /**
   * @throws Unanswered when the edge may have executed it
   * @throws ApiError when it has not: the edge's own error, or SERVICE_UNAVAILABLE
   */
  command(command: EdgeCommand): Promise<void>;
  /** Closes the connection. `reason` is sent to the edge. */
  close(code: number, reason: string): void;
}

export class ConnectedEdges {
  readonly #edges = new Map<string, ConnectedEdge>();

  /** Adds an edge; an older connection of the same edge is closed, because only one can be alive. */
  add(edge: ConnectedEdge): void {
    this.#edges.get(edge.edgeId)?.close(4001, 'replaced by a newer connection');
    this.#edges.set(edge.edgeId, edge);
  }

  remove(edge: ConnectedEdge): void {
    if (this.#edges.get(edge.edgeId) === edge) this.#edges.delete(edge.edgeId);
  }

  has(edgeId: string): boolean {
    return this.#edges.get(edgeId)?.isOpen === true;
  }

  get all(): readonly ConnectedEdge[] {
    return [...this.#edges.values()].filter((edge) => edge.isOpen);
  }

  get count(): number {
    return this.all.length;
  }

  /** Edges that are draining: they finish their calls and take no new ones. */
  get draining(): readonly ConnectedEdge[] {
    return this.all.filter((edge) => (edge.metrics.trunkline_edge_draining ?? 0) > 0);
  }

  /** Edges whose SIP engine is not connected, or hangs: they take no calls. Older edges do not report it. */
  get withoutEngine(): readonly ConnectedEdge[] {
    return this.all.filter((edge) => edge.metrics.trunkline_edge_engine_up === 0);
  }

  /** Ids of edges whose disk writes fail, and of those that refuse new calls because of it; ascending. */
  get storage(): { readonly failing: string[]; readonly refusing: string[] } {
    const of = (metric: string) =>
      this.all
        .filter((edge) => (edge.metrics[metric] ?? 0) > 0)
        .map((edge) => edge.edgeId)
        .sort();
    return {
      failing: of('trunkline_edge_storage_failing'),
      refusing: of('trunkline_edge_storage_refuses_calls'),
    };
  }

  /** Codecs that no connected edge has; none while no edge is connected. */
  lacking(codecs: readonly string[]): string[] {
    const edges = this.all;
    if (edges.length === 0) return [];
    return codecs.filter((codec) => !edges.some((edge) => edge.codecs.includes(codec)));
  }

  /** The version that every connected edge has confirmed; null when none is connected. */
  get appliedVersion(): number | null {
    const versions = this.all.map((edge) => edge.appliedVersion);
    return versions.length === 0 ? null : Math.min(...versions);
  }

  /** @throws ApiError SERVICE_UNAVAILABLE when that edge is not connected; otherwise as ConnectedEdge.command */
  async command(edgeId: string, command: EdgeCommand): Promise<void> {
    const edge = this.#edges.get(edgeId);
    if (!edge?.isOpen) throw ApiError.unavailable('The edge that carries the call is not connected.', 5);
    await edge.command(command);
  }

  /**
   * The connected edge with the fewest calls that is not draining and can store its reports.
   * @throws ApiError SERVICE_UNAVAILABLE when there is none
   */
  leastLoaded(): ConnectedEdge {
    const calls = (edge: ConnectedEdge) => edge.metrics.trunkline_edge_calls ?? 0;
    const { refusing } = this.storage;
    const { draining, withoutEngine } = this;
    const staying = this.all.filter((edge) => !draining.includes(edge) && !refusing.includes(edge.edgeId));
    // Without any engine the call gets its own cause, `engine_lost`.
    const ready = staying.filter((edge) => !withoutEngine.includes(edge));
    const [first, ...others] = ready.length > 0 ? ready : staying;
    if (!first && refusing.length > 0)
      throw ApiError.unavailable('No edge accepts calls: the disks of all edges are full.', 30);
    if (!first) throw ApiError.unavailable('No edge is connected.', 5);
    return others.reduce((least, edge) => (calls(edge) < calls(least) ? edge : least), first);
  }

  /** Sends it to every connected edge. @throws ApiError SERVICE_UNAVAILABLE when none is connected or one fails */
  async commandAll(command: EdgeCommand): Promise<void> {
    if (this.count === 0) throw ApiError.unavailable('No edge is connected.', 5);
    await Promise.all(this.all.map((edge) => edge.command(command)));
  }
}
