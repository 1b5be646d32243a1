/** The edges that are connected now. */
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import { ApiError } from '#shared/errors.ts';

/** What a link to an edge offers to the rest of the control plane. */
export interface ConnectedEdge {
  readonly edgeId: string;
  /** Whether something can still be sent to it. A connection that breaks leaves the register only when it has ended. */
  readonly isOpen: boolean;
  /** Configuration version that the edge has confirmed on this connection; 0 before. */
  readonly appliedVersion: number;
  /** Where the edge takes calls, as it says. */
  readonly sip: { readonly host: string; readonly port: number };
  readonly rtp: { readonly ip: string; readonly port_min: number; readonly port_max: number };
  /** Codecs whose libraries it has. */
  readonly codecs: readonly string[];
  /** What the edge last measured of itself: Prometheus name to value. */
  readonly metrics: Readonly<Record<string, number>>;
  /**
   * @throws Unanswered when the edge may have done it
   * @throws ApiError when it has not: the one that the edge names, or SERVICE_UNAVAILABLE
   */
  command(command: EdgeCommand): Promise<void>;
  /** Ends the connection. `reason` goes to the edge. */
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

  /** Those that shut down: they finish their calls and take no more. */
  get draining(): readonly ConnectedEdge[] {
    return this.all.filter((edge) => (edge.metrics.trunkline_edge_draining ?? 0) > 0);
  }

  /** Ids of edges whose disk takes nothing, and of those that refuse new calls therefore; ascending. */
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

  /** Those of `codecs` that no connected edge has; none while nobody is connected who could tell. */
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

  /** @throws ApiError SERVICE_UNAVAILABLE when that edge is not connected, or as ConnectedEdge.command */
  async command(edgeId: string, command: EdgeCommand): Promise<void> {
    const edge = this.#edges.get(edgeId);
    if (!edge?.isOpen) throw ApiError.unavailable('The edge that carries the call is not connected.', 5);
    await edge.command(command);
  }

  /**
   * The connected edge that carries the fewest calls, of those that do not drain and can store what they report.
   * @throws ApiError SERVICE_UNAVAILABLE when there is none
   */
  leastLoaded(): ConnectedEdge {
    const calls = (edge: ConnectedEdge) => edge.metrics.trunkline_edge_calls ?? 0;
    const { refusing } = this.storage;
    const { draining } = this;
    const [first, ...others] = this.all.filter(
      (edge) => !draining.includes(edge) && !refusing.includes(edge.edgeId),
    );
    if (!first && refusing.length > 0)
      throw ApiError.unavailable('No edge takes calls: the disk of each has no room for their reports.', 30);
    if (!first) throw ApiError.unavailable('No edge is connected.', 5);
    return others.reduce((least, edge) => (calls(edge) < calls(least) ? edge : least), first);
  }

  /** Has every connected edge do it. @throws ApiError SERVICE_UNAVAILABLE when none is connected, or one fails */
  async commandAll(command: EdgeCommand): Promise<void> {
    if (this.count === 0) throw ApiError.unavailable('No edge is connected.', 5);
    await Promise.all(this.all.map((edge) => edge.command(command)));
  }
}
