/** All connections of the engine: listeners, outbound connections, their reuse and their end. */

import type { BlockList, Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '#shared/clock.ts';
import type { TransportLimits } from '#shared/engine-protocol/limits.ts';
import type { SourcesByOwner } from '#shared/engine-protocol/lines.ts';
import { type ResolveHost, systemAddresses } from '#shared/judged-lookup.ts';
import { hostKey } from '#shared/networks.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { formatHostPort } from '../message/uri.ts';
import { Admission } from './admission.ts';
import { ClientContexts, serverContext, type TlsMaterial } from './certificates.ts';
import { Connection, type ConnectionOwner, type Counted } from './connection.ts';
import type { ConnectionSlot } from './connection-slot.ts';
import { connectTls, type Target } from './connector.ts';
import { type Flow, type NamedBy, type NamedByPeer, TransportError, type TransportEvents } from './flow.ts';
import { HeldOctets, type OctetHolder } from './held-octets.ts';
import { DEFAULT_TRANSPORT_LIMITS } from './limits.ts';
import { type BoundAddress, type ListenAddress, Listener } from './listener.ts';
import { type PeerTarget, PeerTargets } from './peer-targets.ts';
import type { TransportStats } from './stats.ts';
import { checkTarget } from './target-rules.ts';
import { endpointsOf, TlsWire } from './tls-wire.ts';
import { WebSocketWire } from './websocket-wire.ts';

export interface TransportOptions {
  readonly tls: ListenAddress;
  readonly wss?: ListenAddress;
  /** Reads certificates and keys: at the start and at every `reloadCertificates`. */
  readonly certificates: () => TlsMaterial;
  readonly limits?: Partial<TransportLimits>;
  /** Keys of TLS session tickets, 48 octets. Default: random ones. */
  readonly ticketKeys?: Buffer;
  /** Default: the system's, with /etc/hosts. Edges connect to addresses that they have resolved themselves. */
  readonly resolve?: ResolveHost;
}

const SECOND = 1000;

export class TransportLayer implements ConnectionOwner {
  readonly events: TransportEvents;
  readonly limits: TransportLimits;
  tick = 0;
  readonly #options: TransportOptions;
  readonly #clock: Clock;
  readonly #admission: Admission;
  readonly #unfinished: HeldOctets;
  readonly #unread: HeldOctets;
  readonly #connections = new Set<Connection>();
  /** Open connections by `address port` of the peer; of duplicates the newest. */
  readonly #byRemote = new Map<string, Connection>();
  /** Outbound connections, open or being opened, by dialed target. */
  readonly #byTarget = new Map<string, Promise<Connection>>();
  readonly #targetOf = new Map<Connection, string>();
  readonly #peerTargets: PeerTargets;
  readonly #peerTargetOf = new Map<Connection, PeerTarget>();
  readonly #listeners: Listener[] = [];
  readonly #stop = new AbortController();
  #contexts: ClientContexts;
  #certificate = '';
  #ticketKeys: Buffer | null;
  #ticker: Timer;
  #accepted = 0;
  #connected = 0;
  #connectFailures = 0;
  #refused = 0;
  #targetsNotAllowed = 0;
  #allowedTargets: BlockList = parseNetworks([]);
  readonly #counts = { silent: 0, unread: 0, paused: 0, inbound_idle: 0, outbound_idle: 0 };

  /** @throws what `options.certificates` throws */
  constructor(options: TransportOptions, events: TransportEvents, clock: Clock) {
    this.events = events;
    this.limits = { ...DEFAULT_TRANSPORT_LIMITS, ...options.limits };
    this.#options = options;
    this.#ticketKeys = options.ticketKeys ?? null;
    this.#clock = clock;
    this.#admission = new Admission(this.limits, clock);
    const { strangerUnfinishedBytes, knownUnfinishedBytes, strangerUnreadBytes, knownUnreadBytes } =
      this.limits;
    this.#unfinished = new HeldOctets('incomplete messages', {
      strangers: strangerUnfinishedBytes,
      known: knownUnfinishedBytes,
    });
    this.#unread = new HeldOctets('what waits for peers', {
      strangers: strangerUnreadBytes,
      known: knownUnreadBytes,
    });
    this.#peerTargets = new PeerTargets(this.limits);
    this.#contexts = new ClientContexts(options.certificates());
    this.#ticker = clock.after(SECOND, this.#second);
  }

  /** Starts listening. @throws when a port is unavailable or the certificate is unusable; nothing listens then */
  async listen(): Promise<{ tls: BoundAddress; wss?: BoundAddress }> {
    const material = this.#options.certificates();
    const context = serverContext(material, this.#ticketKeys);
    this.#certificate = material.server.cert;
    const events = {
      refused: (address: string, reason: string) => this.#onRefused(address, reason),
      tls: (socket: TLSSocket, slot: ConnectionSlot) => this.#acceptTls(socket, slot),
      wss: (socket: WebSocket, raw: Socket, slot: ConnectionSlot) => this.#acceptWebSocket(socket, raw, slot),
    };
    const tlsListener = Listener.tls(context, this.limits, this.#admission, events);
    this.#listeners.push(tlsListener);
    try {
      const tls = await tlsListener.listen(this.#options.tls);
      if (this.#options.wss === undefined) return { tls };
      const wssListener = await Listener.wss(context, this.limits, this.#admission, events);
      this.#listeners.push(wssListener);
      return { tls, wss: await wssListener.listen(this.#options.wss) };
    } catch (error) {
      await Promise.all(this.#listeners.splice(0).map((listener) => listener.close()));
      throw error;
    }
  }

  /**
   * A flow to `target`: the one that is open or being opened, else a new one.
   * @param namedBy who named the target: a `peer` gets only a limited number of connections, and no private addresses
   * @throws TransportError at once when resolution, connection, handshake or certificate check fails, or a peer
   * may not name that address
   */
  connect(target: Target, namedBy: NamedBy = 'application'): Promise<Flow> {
    if (this.#stop.signal.aborted) {
      return Promise.reject(new TransportError('closing', `${target.host}: the transport is closing`));
    }
    const key = `${target.host.toLowerCase()} ${target.port} ${target.serverName ?? ''}`;
    const known = this.#byTarget.get(key);
    if (known !== undefined) return namedBy === 'application' ? known : this.#openTo(known, target, namedBy);
    const opening =
      namedBy === 'application' ? this.#open(target, key, null) : this.#openPeerTarget(target, key, namedBy);
    this.#byTarget.set(key, opening);
    opening.catch(() => {
      this.#connectFailures++;
      if (this.#byTarget.get(key) === opening) this.#byTarget.delete(key);
    });
    return opening;
  }

  /** The open flow to `address` and `port`, no matter which side opened it. */
  find(address: string, port: number): Flow | undefined {
    return this.#byRemote.get(`${address} ${port}`);
  }

  /** Sets the known sources; the limits of strangers do not apply to them. */
  setKnown(sources: SourcesByOwner): void {
    this.#admission.setKnown(sources);
  }

  /** Sets the networks in which peers may name private addresses; open connections stay. */
  setAllowedTargets(networks: BlockList): void {
    this.#allowedTargets = networks;
  }

  /**
   * Flushes and closes all inbound connections of `address`, and rejects new ones before TLS, for `ms`
   * milliseconds. With IPv6 this applies to the /64. Known sources are not blocked.
   */
  block(address: string, ms: number): void {
    this.#admission.block(address, ms);
    const key = hostKey(address);
    const isBlocked = (other: string) => hostKey(other) === key && this.#admission.isBlocked(other);
    for (const connection of this.#connections) {
      if (!connection.outbound && isBlocked(connection.remoteAddress)) {
        connection.close('the address is blocked');
      }
    }
    for (const listener of this.#listeners) listener.cut(isBlocked);
  }

  unblock(address: string): void {
    this.#admission.unblock(address);
  }

  /** New connections use the current `certificates`. @throws when they are unusable; the old ones stay in use */
  reloadCertificates(): void {
    const material = this.#options.certificates();
    const context = serverContext(material, this.#ticketKeys);
    for (const listener of this.#listeners) listener.setCertificate(context);
    this.#certificate = material.server.cert;
    this.#contexts = new ClientContexts(material);
  }

  /** Sessions with tickets under former keys cannot be resumed: their peers make full handshakes. */
  setTicketKeys(keys: Buffer): void {
    this.#ticketKeys = keys;
    for (const listener of this.#listeners) listener.setTicketKeys(keys);
  }

  /** PEM of the certificate that peers get now; empty before `listen`. */
  get certificate(): string {
    return this.#certificate;
  }

  stats(): TransportStats {
    let outbound = 0;
    for (const connection of this.#connections) if (connection.outbound) outbound++;
    return {
      inbound: this.#connections.size - outbound,
      strangers: this.#admission.strangers,
      handshakes: this.#listeners.reduce((sum, listener) => sum + listener.handshakes, 0),
      outbound,
      peer_places: this.#peerTargets.size,
      peer_places_refused: this.#peerTargets.refused,
      peer_places_evicted: this.#peerTargets.evicted,
      peer_places_not_allowed: this.#targetsNotAllowed,
      accepted: this.#accepted,
      connected: this.#connected,
      connectFailures: this.#connectFailures,
      refused: this.#refused,
      evicted: this.#admission.evicted,
      yielded: this.#admission.yielded,
      ...this.#counts,
      blockedAddresses: this.#admission.blocked,
      unfinished_bytes: this.#unfinished.octets,
      unfinished_cut: this.#unfinished.cut,
      unread_bytes: this.#unread.octets,
      unread_cut: this.#unread.cut,
    };
  }

  /** Stops listening, flushes and closes all flows, and resolves when the last socket has closed. */
  async close(): Promise<void> {
    this.#stop.abort();
    for (const listener of this.#listeners) listener.stopAccepting();
    const opening = [...this.#byTarget.values()];
    for (const connection of this.#connections) connection.close('the engine stops');
    await Promise.allSettled(opening);
    for (const connection of this.#connections) connection.close('the engine stops');
    if (this.#connections.size > 0) {
      await new Promise<void>((resolve) => {
        this.#allGone = resolve;
      });
    }
    this.#ticker.cancel();
    await Promise.all(this.#listeners.splice(0).map((listener) => listener.close()));
  }

  #allGone: () => void = () => {};

  closing(connection: Connection): void {
    const remote = `${connection.remoteAddress} ${connection.remotePort}`;
    if (this.#byRemote.get(remote) === connection) this.#byRemote.delete(remote);
    const target = this.#targetOf.get(connection);
    if (target !== undefined) {
      this.#targetOf.delete(connection);
      this.#byTarget.delete(target);
    }
  }

  count(what: Counted): void {
    this.#counts[what]++;
  }

  unfinished(connection: OctetHolder, octets: number): void {
    this.#unfinished.set(connection, octets);
  }

  gone(connection: Connection): void {
    this.#connections.delete(connection);
    this.#unread.set(connection, 0);
    const peerTarget = this.#peerTargetOf.get(connection);
    if (peerTarget) {
      this.#peerTargetOf.delete(connection);
      this.#peerTargets.leave(peerTarget);
    }
    if (this.#connections.size === 0) this.#allGone();
  }

  /** A connection that someone else may have opened, to a target that this peer has named. */
  async #openTo(known: Promise<Connection>, target: Target, by: NamedByPeer): Promise<Connection> {
    const connection = await known;
    this.#judge(target, [connection.remoteAddress], by);
    return connection;
  }

  /** @throws TransportError when the peer may not name one of the addresses */
  #judge(target: Target, addresses: readonly string[], { peer }: NamedByPeer): void {
    try {
      checkTarget(formatHostPort(target.host, target.port), addresses, peer, this.#allowedTargets);
    } catch (error) {
      this.#targetsNotAllowed++;
      throw error;
    }
  }

  async #openPeerTarget(target: Target, key: string, by: NamedByPeer): Promise<Connection> {
    const peerTarget = this.#peerTargets.enter(formatHostPort(target.host, target.port));
    try {
      return await this.#open(target, key, { peerTarget, by });
    } catch (error) {
      this.#peerTargets.leave(peerTarget);
      throw error;
    }
  }

  /** @param named how the limits count it, and who named it; null for a target from the configuration */
  async #open(
    target: Target,
    key: string,
    named: { readonly peerTarget: PeerTarget; readonly by: NamedByPeer } | null,
  ): Promise<Connection> {
    const peerTarget = named?.peerTarget ?? null;
    const socket = await connectTls(target, {
      resolve: this.#options.resolve ?? systemAddresses,
      resolved: (addresses) => {
        const [address] = addresses;
        if (!named || address === undefined) return;
        this.#judge(target, addresses, named.by);
        this.#peerTargets.locate(named.peerTarget, address);
      },
      clock: this.#clock,
      timeoutMs: this.limits.connectTimeoutMs,
      context: this.#contextFor(target.serverName ?? target.host),
      signal: this.#stop.signal,
    });
    if (socket.destroyed) {
      throw new TransportError(
        'closed_at_once',
        `${target.host}:${target.port}: closed right after the TLS handshake`,
      );
    }
    this.#connected++;
    const wire = new TlsWire(socket, this.limits.tcpKeepaliveMs);
    const connection = new Connection(this, wire, endpointsOf(socket), null, peerTarget !== null);
    wire.attach(connection);
    this.#targetOf.set(connection, key);
    if (peerTarget) {
      peerTarget.connection = connection;
      this.#peerTargetOf.set(connection, peerTarget);
    }
    this.#add(connection);
    return connection;
  }

  #contextFor(host: string): SecureContext {
    try {
      return this.#contexts.for(host);
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      throw new TransportError('own_certificate', `${host}: our certificates cannot be used: ${cause}`);
    }
  }

  #acceptTls(socket: TLSSocket, slot: ConnectionSlot): void {
    const wire = new TlsWire(socket, this.limits.tcpKeepaliveMs);
    const connection = new Connection(this, wire, endpointsOf(socket), slot);
    wire.attach(connection);
    this.#addInbound(connection);
  }

  #acceptWebSocket(socket: WebSocket, raw: Socket, slot: ConnectionSlot): void {
    const wire = new WebSocketWire(socket, raw, this.limits.tcpKeepaliveMs);
    const connection = new Connection(this, wire, endpointsOf(raw), slot);
    wire.attach(connection);
    this.#addInbound(connection);
  }

  #addInbound(connection: Connection): void {
    this.#accepted++;
    this.#add(connection);
    this.events.opened?.(connection);
    if (this.#stop.signal.aborted) connection.close('the engine stops');
  }

  #add(connection: Connection): void {
    this.#connections.add(connection);
    this.#byRemote.set(`${connection.remoteAddress} ${connection.remotePort}`, connection);
  }

  #onRefused(address: string, reason: string): void {
    this.#refused++;
    this.events.refused?.(address, reason);
  }

  readonly #second = (): void => {
    this.#ticker = this.#clock.after(SECOND, this.#second);
    this.tick++;
    for (const listener of this.#listeners) listener.checkTime();
    for (const connection of this.#connections) {
      connection.checkTime();
      this.#unread.set(connection, connection.waitingBytes);
    }
    this.#admission.prune();
  };
}
