/** Inbound connections: TCP accept, admission, TLS handshake, and for WSS the upgrade. */
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type TLSSocket,
  type Server as TlsServer,
} from 'node:tls';
import type { WebSocket } from 'ws';
import { tlsReason } from '#shared/connection-faults.ts';
import type { TransportLimits } from '#shared/engine-protocol/limits.ts';
import { plainAddress } from '#shared/networks.ts';
import type { Admission } from './admission.ts';
import { BegunHandshakes } from './begun-handshakes.ts';
import type { ConnectionSlot } from './connection-slot.ts';
import { SocketQueue } from './socket-queue.ts';

/**
 * Handshakes begun in one turn of the event loop. One costs about 1 ms, so a standing connection is read again after
 * some milliseconds, however many others have just connected.
 */
const handshakesPerTurn = 4;
/** Connections taken over after their handshake in one turn: peers may finish theirs at the same moment. */
const establishedPerTurn = 16;

export interface ListenAddress {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

export interface BoundAddress {
  readonly address: string;
  readonly port: number;
}

export interface ListenerEvents {
  refused(remoteAddress: string, reason: string): void;
}

/** An admitted socket. */
interface AdmittedSocket {
  readonly socket: Socket;
  readonly slot: ConnectionSlot;
  /** Tick at which setup must be complete: TLS, and with WSS the WebSocket. Null: it is complete. */
  deadline: number | null;
}

/**
 * A listening port. The TCP server accepts, and only admitted sockets reach the TLS server: a blocked address
 * costs one accept and no handshake. Node's own handshake timeout is not used: it measures silence, and a peer
 * that sends an octet now and then would never reach it.
 */
export class Listener {
  readonly #tcp: Server;
  readonly #secure: TlsServer;
  readonly #admission: Admission;
  readonly #events: ListenerEvents;
  readonly #handshakes: SocketQueue;
  readonly #begun: BegunHandshakes;
  /** By the connection's four-tuple: the TLS server does not say which socket a TLS socket wraps. */
  readonly #sockets = new Map<string, AdmittedSocket>();
  /** Seconds allowed from accept to completed setup. */
  readonly #patience: number;
  #tick = 0;

  private constructor(secure: TlsServer, admission: Admission, events: ListenerEvents, patienceMs: number) {
    this.#secure = secure;
    this.#admission = admission;
    this.#events = events;
    this.#begun = new BegunHandshakes(() => this.#handshakes.resume());
    this.#handshakes = new SocketQueue(
      handshakesPerTurn,
      (socket) => {
        this.#begun.began(tupleOf(socket));
        secure.emit('connection', socket);
      },
      () => this.#begun.room,
    );
    secure.on('secureConnection', (socket) => this.#begun.ended(tupleOf(socket)));
    this.#patience = Math.ceil(patienceMs / 1000);
    // What arrives before the handshake's turn waits in the kernel.
    this.#tcp = createTcpServer({ pauseOnConnect: true }, (socket) => this.#accept(socket));
    secure.on('tlsClientError', (error, socket) => {
      events.refused(plainAddress(socket.remoteAddress ?? ''), `TLS handshake failed: ${tlsReason(error)}`);
      socket.destroy();
    });
  }

  static tls(
    context: SecureContextOptions,
    limits: TransportLimits,
    admission: Admission,
    events: ListenerEvents & { tls(socket: TLSSocket, slot: ConnectionSlot): void },
  ): Listener {
    const secure = createTlsServer({ ...context, handshakeTimeout: 0 });
    const listener = new Listener(secure, admission, events, limits.handshakeTimeoutMs);
    const established = new SocketQueue<TLSSocket>(establishedPerTurn, (socket) => {
      socket.off('error', ignoreReset);
      const slot = listener.#arrived(socket);
      if (slot) events.tls(socket, slot);
      else socket.destroy();
    });
    secure.on('secureConnection', (socket) => {
      // Nobody else listens until its turn.
      socket.on('error', ignoreReset);
      established.add('', socket);
    });
    return listener;
  }

  /** WebSocket over TLS with the subprotocol `sip` (RFC 7118). */
  static async wss(
    context: SecureContextOptions,
    limits: TransportLimits,
    admission: Admission,
    events: ListenerEvents & { wss(socket: WebSocket, raw: Socket, slot: ConnectionSlot): void },
  ): Promise<Listener> {
    const { upgradingServer } = await import('./websocket-upgrade.ts');
    const secure = upgradingServer({ ...context, handshakeTimeout: 0 }, limits, (socket, raw) => {
      const slot = listener.#arrived(raw);
      if (slot) events.wss(socket, raw, slot);
      else socket.terminate();
    });
    const listener = new Listener(secure, admission, events, 2 * limits.handshakeTimeoutMs);
    return listener;
  }

  /** @throws with advice when the port is in use or not permitted */
  listen(where: ListenAddress): Promise<BoundAddress> {
    return new Promise((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException) => reject(new Error(adviceOf(error, where)));
      this.#tcp.once('error', failed);
      this.#tcp.listen({ host: where.host, port: where.port, backlog: 1024 }, () => {
        this.#tcp.off('error', failed);
        // Accept errors (EMFILE and the like) affect one connection; the listener continues.
        this.#tcp.on('error', (error) => this.#events.refused('', `accept failed: ${error.message}`));
        const bound = this.#tcp.address() as AddressInfo;
        resolve({ address: bound.address, port: bound.port });
      });
    });
  }

  /** New handshakes use the new certificate; open connections keep theirs. @throws when it is unusable */
  setCertificate(context: SecureContextOptions): void {
    this.#secure.setSecureContext(context);
  }

  setTicketKeys(keys: Buffer): void {
    this.#secure.setTicketKeys(keys);
  }

  /** Destroys the connections of matching sources, including handshakes. */
  cut(isOne: (address: string) => boolean): void {
    for (const { socket, slot } of this.#sockets.values()) if (isOne(slot.address)) socket.destroy();
  }

  /** Sockets still in setup. */
  get handshakes(): number {
    let count = 0;
    for (const { deadline } of this.#sockets.values()) if (deadline !== null) count++;
    return count;
  }

  /** Once a second: ends sockets whose setup takes too long. */
  checkTime(): void {
    this.#tick++;
    for (const { socket, slot, deadline } of this.#sockets.values()) {
      if (deadline === null || this.#tick < deadline) continue;
      this.#events.refused(slot.address, `handshake timed out after ${this.#patience} s`);
      socket.destroy();
    }
  }

  /** Stops accepting. Connections stay. */
  stopAccepting(): void {
    if (this.#tcp.listening) this.#tcp.close();
  }

  /** Destroys all remaining sockets; resolves when they have closed. */
  async close(): Promise<void> {
    this.stopAccepting();
    const gone = [...this.#sockets.values()].map(
      ({ socket }) => new Promise<void>((resolve) => socket.once('close', () => resolve()).destroy()),
    );
    await Promise.all(gone);
    this.#begun.close();
    this.#secure.close();
  }

  #accept(socket: Socket): void {
    const address = plainAddress(socket.remoteAddress ?? '');
    const verdict = this.#admission.admit(address, (reason) => {
      this.#events.refused(address, reason);
      socket.destroy();
    });
    // Before the TLS layer listens, a reset would be an unhandled error; afterwards it reports the same cause.
    socket.on('error', ignoreReset);
    if (!verdict.admitted) {
      socket.destroy();
      this.#events.refused(address, verdict.reason);
      return;
    }
    const { slot } = verdict;
    const name = tupleOf(socket);
    this.#sockets.set(name, { socket, slot, deadline: this.#tick + this.#patience });
    socket.once('close', () => {
      // The four-tuple may already be reused.
      if (this.#sockets.get(name)?.socket === socket) {
        this.#sockets.delete(name);
        this.#begun.ended(name);
      }
      this.#admission.release(slot);
    });
    this.#handshakes.add(slot.share ?? '', socket);
  }

  /** The handshake is done. @returns null when the socket has already closed */
  #arrived(socket: Socket): ConnectionSlot | null {
    const admitted = this.#sockets.get(tupleOf(socket));
    if (!admitted) return null;
    admitted.deadline = null;
    return admitted.slot;
  }
}

function tupleOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}

/** The close event that follows carries all the information. */
function ignoreReset(): void {}

function adviceOf(error: NodeJS.ErrnoException, where: ListenAddress): string {
  const port = `${where.host} port ${where.port}`;
  if (error.code === 'EADDRINUSE')
    return `cannot listen on ${port}: the port is in use; stop the other program or configure another port`;
  if (error.code === 'EACCES') return `cannot listen on ${port}: not permitted; configure a port above 1023`;
  if (error.code === 'EADDRNOTAVAIL')
    return `cannot listen on ${port}: no interface of this machine has the address`;
  return `cannot listen on ${port}: ${error.message}`;
}
