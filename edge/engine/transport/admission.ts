/**
 * Who may connect. Sources that the configuration names are known; all others are strangers and share part of the
 * capacity. A known source always gets in: when the capacity is used up, a stranger's connection ends for it.
 * Known sources share their capacity by organization: the one that holds most yields to one that holds less.
 */
import type { Clock } from '#shared/clock.ts';
import type { TransportLimits } from '#shared/engine-protocol/limits.ts';
import type { SourcesByOwner } from '#shared/engine-protocol/lines.ts';
import { hostKey, networkOf } from '#shared/networks.ts';
import { ConnectionSlot } from './connection-slot.ts';
import { KnownSources } from './known-sources.ts';

export type Refusal =
  | 'address is blocked'
  | 'too many connections'
  | 'too many connections from this address'
  | 'too many connections from this network'
  | 'too many new connections per second from this address'
  | 'too many new connections per second from this organization'
  | 'too many new connections per second from this network'
  | 'too many new connections per second from unknown sources';

export type Verdict =
  | { readonly admitted: true; readonly slot: ConnectionSlot }
  | { readonly admitted: false; readonly reason: Refusal };

/** The part of all connections that strangers may hold. */
const strangersShare = 1 / 2;
/**
 * New connections per second for all known sources of an organization, as a multiple of the limit of one address.
 * It may list any number of addresses, and each handshake costs CPU time; but one address must not use up what
 * the others need.
 */
const addressesOfShare = 2;
/** Blocks kept; beyond this, the oldest is dropped. Its source is blocked again after some rejected requests. */
const maxBlocks = 50_000;

/** Token bucket for new connections, refilled at `perSecond` up to one second's worth. */
class Bucket {
  #tokens: number;
  #filledAt: number;

  constructor(perSecond: number, now: number) {
    this.#tokens = perSecond;
    this.#filledAt = now;
  }

  get filledAt(): number {
    return this.#filledAt;
  }

  has(perSecond: number, now: number): boolean {
    // A clock set back must not remove tokens.
    const elapsed = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(perSecond, this.#tokens + (elapsed * perSecond) / 1000);
    this.#filledAt = now;
    return this.#tokens >= 1;
  }

  take(): void {
    this.#tokens--;
  }
}

/** The connections of one address or share, or of the strangers in one network. */
interface Group {
  readonly slots: Set<ConnectionSlot>;
  readonly bucket: Bucket;
}

/** An address that has connected lately: what follows from it is computed once, and not for each of its connections. */
interface Source extends Group {
  readonly network: string;
  /** Null for a stranger. Changes with the configuration. */
  share: string | null;
}

export class Admission {
  readonly #limits: TransportLimits;
  readonly #clock: Clock;
  readonly #addresses = new Map<string, Source>();
  /** Strangers only. */
  readonly #networks = new Map<string, Group>();
  readonly #strangersBucket: Bucket;
  /** By `hostKey`: the time at which the block ends. */
  readonly #blocked = new Map<string, number>();
  /** Known sources only, by share. */
  readonly #shares = new Map<string, Group>();
  #knownSources = new KnownSources();
  #open = 0;
  #strangers = 0;
  #evicted = 0;
  #yielded = 0;

  constructor(limits: TransportLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#strangersBucket = new Bucket(limits.strangerHandshakesPerSecond, clock.elapsed());
  }

  /**
   * Admits and counts a new connection of `address`, or rejects it. After admission, `release` must be called
   * once. A stranger's connection may be evicted for it.
   * @param close ends the new connection
   */
  admit(address: string, close: (reason: string) => void): Verdict {
    // A blocked source costs memory only for its block.
    if (this.isBlocked(address)) return { admitted: false, reason: 'address is blocked' };
    const source = this.#sourceOf(address);
    const { share, network } = source;
    const reason = share === null ? this.#againstStranger(source) : this.#againstKnown(source, share);
    if (reason !== null) return { admitted: false, reason };
    const slot = new ConnectionSlot(address, network, share, close);
    this.#open++;
    source.slots.add(slot);
    this.#join(slot);
    return { admitted: true, slot };
  }

  release(slot: ConnectionSlot): void {
    const group = this.#addresses.get(slot.address);
    if (!group?.slots.delete(slot)) return;
    this.#open--;
    this.#leave(slot);
  }

  /** Sets the known sources. */
  setKnown(sources: SourcesByOwner): void {
    this.#knownSources = new KnownSources(sources);
    for (const [address, source] of this.#addresses) {
      const share = this.#knownSources.shareOf(address);
      source.share = share;
      for (const slot of source.slots) {
        this.#leave(slot);
        slot.share = share;
        this.#join(slot);
      }
    }
  }

  /** With IPv6 the whole /64 is blocked. A known source is never blocked. */
  block(address: string, ms: number): void {
    const key = hostKey(address);
    this.#blocked.delete(key);
    this.#blocked.set(key, this.#clock.elapsed() + ms);
    if (this.#blocked.size <= maxBlocks) return;
    const oldest = this.#blocked.keys().next();
    if (!oldest.done) this.#blocked.delete(oldest.value);
  }

  unblock(address: string): void {
    this.#blocked.delete(hostKey(address));
  }

  isBlocked(address: string): boolean {
    if (this.#blocked.size === 0) return false;
    const key = hostKey(address);
    const until = this.#blocked.get(key);
    if (until === undefined) return false;
    if (until > this.#clock.elapsed()) return this.#knownSources.shareOf(address) === null;
    this.#blocked.delete(key);
    return false;
  }

  get open(): number {
    return this.#open;
  }

  /** Connections from strangers. */
  get strangers(): number {
    return this.#strangers;
  }

  /** Strangers' connections evicted to make room, since the start. */
  get evicted(): number {
    return this.#evicted;
  }

  /** Connections of known sources that yielded to a share that holds less, since the start. */
  get yielded(): number {
    return this.#yielded;
  }

  get blocked(): number {
    return this.#blocked.size;
  }

  /** Forgets sources and blocks that no longer matter, so that memory stays bounded. */
  prune(): void {
    const now = this.#clock.elapsed();
    for (const groups of [this.#addresses, this.#networks, this.#shares]) {
      for (const [name, { slots, bucket }] of groups) {
        if (slots.size === 0 && now - bucket.filledAt >= 1000) groups.delete(name);
      }
    }
    for (const [key, until] of this.#blocked) if (until <= now) this.#blocked.delete(key);
  }

  #sourceOf(address: string): Source {
    let source = this.#addresses.get(address);
    if (!source) {
      const bucket = new Bucket(this.#limits.handshakesPerSecond, this.#clock.elapsed());
      const share = this.#knownSources.shareOf(address);
      source = { slots: new Set(), bucket, network: networkOf(address), share };
      this.#addresses.set(address, source);
    }
    return source;
  }

  #againstKnown(own: Source, share: string): Refusal | null {
    const { maxConnections, maxConnectionsPerAddress, handshakesPerSecond } = this.#limits;
    const now = this.#clock.elapsed();
    if (own.slots.size >= maxConnectionsPerAddress) return 'too many connections from this address';
    if (!own.bucket.has(handshakesPerSecond, now))
      return 'too many new connections per second from this address';
    const perShare = handshakesPerSecond * addressesOfShare;
    const all = groupOf(this.#shares, share, perShare, now);
    if (!all.bucket.has(perShare, now)) return 'too many new connections per second from this organization';
    const full = this.#open >= maxConnections;
    const evicted = full && this.#evict('closed to make room for a known source', 0);
    if (full && !evicted && !this.#yield(all.slots.size)) return 'too many connections';
    own.bucket.take();
    all.bucket.take();
    return null;
  }

  #againstStranger(own: Source): Refusal | null {
    const { maxConnections, strangersPerAddress, strangersPerNetwork } = this.#limits;
    const { strangerHandshakesPerSecond, strangerHandshakesPerNetwork } = this.#limits;
    const now = this.#clock.elapsed();
    if (own.slots.size >= strangersPerAddress) return 'too many connections from this address';
    const network = groupOf(this.#networks, own.network, strangerHandshakesPerNetwork, now);
    if (network.slots.size >= strangersPerNetwork) return 'too many connections from this network';
    if (!network.bucket.has(strangerHandshakesPerNetwork, now))
      return 'too many new connections per second from this network';
    if (!this.#strangersBucket.has(strangerHandshakesPerSecond, now))
      return 'too many new connections per second from unknown sources';
    const room = Math.max(1, Math.floor(maxConnections * strangersShare));
    const full = this.#strangers >= room || this.#open >= maxConnections;
    if (full && !this.#evict('closed to make room for another network', network.slots.size + 1))
      return 'too many connections';
    network.bucket.take();
    this.#strangersBucket.take();
    return null;
  }

  /**
   * Evicts the least useful stranger's connection: of the network that holds most, a silent one, or else the
   * longest idle. A connection that a dialog needs stays.
   * @param moreThan evicts only from a network that holds more connections than this
   * @returns whether one was evicted
   */
  #evict(reason: string, moreThan: number): boolean {
    const networks = [...this.#networks.values()].map(({ slots }) => slots);
    const victim = leastUseful(networks, moreThan);
    if (!victim) return false;
    this.#evicted++;
    this.#end(victim, reason);
    return true;
  }

  /**
   * The same for a known source, in favor of another share: from the share that holds most, if it would still
   * hold more than the other.
   * @param held connections that the other share has
   */
  #yield(held: number): boolean {
    const shares = [...this.#shares.values()].map(({ slots }) => slots);
    const victim = leastUseful(shares, held + 1);
    if (!victim) return false;
    this.#yielded++;
    this.#end(victim, 'closed to make room for a known source with fewer connections');
    return true;
  }

  #end(victim: ConnectionSlot, reason: string): void {
    // Its slot is free at once, although the socket may take a moment to close.
    this.release(victim);
    victim.close(reason);
  }

  /** Adds it to its share, or to the strangers of its network. */
  #join(slot: ConnectionSlot): void {
    if (slot.share !== null) {
      const perShare = this.#limits.handshakesPerSecond * addressesOfShare;
      groupOf(this.#shares, slot.share, perShare, this.#clock.elapsed()).slots.add(slot);
      return;
    }
    const perSecond = this.#limits.strangerHandshakesPerNetwork;
    groupOf(this.#networks, slot.network, perSecond, this.#clock.elapsed()).slots.add(slot);
    this.#strangers++;
  }

  #leave(slot: ConnectionSlot): void {
    if (slot.share !== null) {
      this.#shares.get(slot.share)?.slots.delete(slot);
      return;
    }
    if (this.#networks.get(slot.network)?.slots.delete(slot)) this.#strangers--;
  }
}

function groupOf(groups: Map<string, Group>, name: string, perSecond: number, now: number): Group {
  let group = groups.get(name);
  if (!group) {
    group = { slots: new Set(), bucket: new Bucket(perSecond, now) };
    groups.set(name, group);
  }
  return group;
}

/** The least useful slot of the largest group with more than `moreThan`. Null when dialogs need all of them. */
function leastUseful(
  groups: readonly ReadonlySet<ConnectionSlot>[],
  moreThan: number,
): ConnectionSlot | null {
  const large = groups.filter(({ size }) => size > moreThan).sort((a, b) => b.size - a.size);
  for (const group of large) {
    const victim = idlest(group);
    if (victim) return victim;
  }
  return null;
}

/** Null when dialogs need all of them. */
function idlest(slots: Iterable<ConnectionSlot>): ConnectionSlot | null {
  let found: ConnectionSlot | null = null;
  for (const slot of slots) {
    if (!slot.pinned && (found === null || slot.isIdlerThan(found))) found = slot;
  }
  return found;
}
