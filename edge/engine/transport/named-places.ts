/**
 * Outbound connections to targets that only a peer has named, by Contact or Record-Route. A peer may name any
 * number of them, so there is a total limit and one per network. At a limit, the longest idle connection that no
 * dialog and no transaction needs is closed; if there is none, no connection is opened.
 */

import type { TransportLimits } from '#shared/engine-protocol/limits.ts';
import { networkOf } from '#shared/networks.ts';
import { TransportError } from './flow.ts';

/** State of such a connection once it is open. */
export interface OpenPlace {
  readonly pinned: boolean;
  /** Seconds as counted by the layer. */
  readonly usedAt: number;
  close(reason: string): void;
}

/** One connection, from the request for it to its end. */
export interface Place {
  readonly name: string;
  /** The /24 or /64 of its address; null until its name is resolved. */
  network: string | null;
  /** Null while it is being opened. */
  connection: OpenPlace | null;
}

export class NamedPlaces {
  readonly #limits: TransportLimits;
  readonly #all = new Set<Place>();
  readonly #networks = new Map<string, Set<Place>>();
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
  enter(name: string): Place {
    const { maxPeerPlaces } = this.#limits;
    if (this.#all.size >= maxPeerPlaces && !this.#evict(this.#ofLargestNetwork()))
      throw this.#refusal(name, `${maxPeerPlaces} connections to targets named by peers`);
    const place: Place = { name, network: null, connection: null };
    this.#all.add(place);
    return place;
  }

  /**
   * Sets the network of the target.
   * @throws TransportError when that network has too many
   */
  locate(place: Place, address: string): void {
    const { peerPlacesPerNetwork } = this.#limits;
    const network = networkOf(address);
    const others = this.#networks.get(network) ?? new Set<Place>();
    if (others.size >= peerPlacesPerNetwork && !this.#evict(idlest(others)))
      throw this.#refusal(
        place.name,
        `${peerPlacesPerNetwork} connections to targets named by peers in the network of ${address}`,
      );
    place.network = network;
    // The set may have become empty and been removed.
    this.#networks.set(network, others.add(place));
  }

  leave(place: Place): void {
    this.#all.delete(place);
    if (place.network === null) return;
    const others = this.#networks.get(place.network);
    others?.delete(place);
    if (others?.size === 0) this.#networks.delete(place.network);
  }

  #ofLargestNetwork(): Place | null {
    for (const places of [...this.#networks.values()].sort((a, b) => b.size - a.size)) {
      const found = idlest(places);
      if (found) return found;
    }
    return null;
  }

  #evict(victim: Place | null): boolean {
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
function idlest(places: Iterable<Place>): Place | null {
  let found: Place | null = null;
  let usedAt = Number.POSITIVE_INFINITY;
  for (const place of places) {
    const { connection } = place;
    if (!connection || connection.pinned || connection.usedAt >= usedAt) continue;
    found = place;
    usedAt = connection.usedAt;
  }
  return found;
}
