/**
 * Outbound connections to targets that only a peer has named, by Contact or Record-Route. A peer may name any
 * number of them, so there is a total limit and one per network. At a limit, the longest idle connection that no
 * dialog and no transaction needs is closed; if there is none, no connection is opened.
 */

import type { TransportLimits } from '#shared/engine-protocol/limits.ts';
import { networkOf } from '#shared/networks.ts';
import { TransportError } from './flow.ts';

/** State of such a connection once it is open. */
export interface TargetConnection {
  readonly pinned: boolean;
  /** Seconds as counted by the layer. */
  readonly usedAt: number;
  close(reason: string): void;
}

/** One connection, from the request for it to its end. */
export interface PeerTarget {
  readonly name: string;
  /** The /24 or /64 of its address; null until its name is resolved. */
  network: string | null;
  /** Null while it is being opened. */
  connection: TargetConnection | null;
}

export class PeerTargets {
  readonly #limits: TransportLimits;
  readonly #all = new Set<PeerTarget>();
  readonly #networks = new Map<string, Set<PeerTarget>>();
  #refused = 0;
  #evicted = 0;

  constructor(limits: TransportLimits) {
    this.#limits = limits;
  }

  /** Connections that are open or being opened. */
  get size(): number {
    return this.#all.size;
  }

  /** Connections that were not opened, since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Connections closed for another one, since the start. */
  get evicted(): number {
    return this.#evicted;
  }

  /**
   * Reserves a slot for one more connection; `leave` must follow.
   * @param name of the target, for errors
   * @throws TransportError when there is none
   */
  enter(name: string): PeerTarget {
    const { maxPeerTargets } = this.#limits;
    if (this.#all.size >= maxPeerTargets && !this.#evict(this.#ofLargestNetwork()))
      throw this.#refusal(name, `${maxPeerTargets} connections to targets named by peers`);
    const target: PeerTarget = { name, network: null, connection: null };
    this.#all.add(target);
    return target;
  }

  /**
   * Sets the network of the target.
   * @throws TransportError when that network has too many
   */
  locate(target: PeerTarget, address: string): void {
    const { peerTargetsPerNetwork } = this.#limits;
    const network = networkOf(address);
    const others = this.#networks.get(network) ?? new Set<PeerTarget>();
    if (others.size >= peerTargetsPerNetwork && !this.#evict(idlest(others)))
      throw this.#refusal(
        target.name,
        `${peerTargetsPerNetwork} connections to targets named by peers in the network of ${address}`,
      );
    target.network = network;
    // The set may have become empty and been removed.
    this.#networks.set(network, others.add(target));
  }

  leave(target: PeerTarget): void {
    this.#all.delete(target);
    if (target.network === null) return;
    const others = this.#networks.get(target.network);
    others?.delete(target);
    if (others?.size === 0) this.#networks.delete(target.network);
  }

  #ofLargestNetwork(): PeerTarget | null {
    for (const targets of [...this.#networks.values()].sort((a, b) => b.size - a.size)) {
      const found = idlest(targets);
      if (found) return found;
    }
    return null;
  }

  #evict(victim: PeerTarget | null): boolean {
    if (!victim) return false;
    this.#evicted++;
    // Its slot is free at once, although the socket may take a moment to close.
    this.leave(victim);
    victim.connection?.close('closed to make room for another target named by a peer');
    return true;
  }

  #refusal(name: string, limit: string): TransportError {
    this.#refused++;
    return new TransportError('limit', `${name}: not connected: limit of ${limit} reached, all in use`);
  }
}

/** Null when all of them are needed, or still being opened. */
function idlest(targets: Iterable<PeerTarget>): PeerTarget | null {
  let found: PeerTarget | null = null;
  let usedAt = Number.POSITIVE_INFINITY;
  for (const target of targets) {
    const { connection } = target;
    if (!connection || connection.pinned || connection.usedAt >= usedAt) continue;
    found = target;
    usedAt = connection.usedAt;
  }
  return found;
}
