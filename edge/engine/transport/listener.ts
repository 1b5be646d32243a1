/** Inbound connections: TCP accept, admission, TLS handshake, and for WSS the upgrade. */
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type TLSSocket,
  type Server as TlsServer,
} from 'node:tls';
import type { WebSocket } from 'ws';
import type { Clock } from '#shared/clock.ts';
import type { Admission } from './admission.ts';
import { plainAddress } from './flow.ts';
import type { TransportLimits } from './limits.ts';
import { reasonOf } from './tls-wire.ts';
import { upgradeTo } from './websocket-wire.ts';

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

/**
 * A listening port. The TCP server accepts, and only what is admitted reaches the TLS server: a blocked address
 * costs one accept and no handshake.
 */
export class Listener {
  readonly #tcp: Server;
  readonly #secure: TlsServer;
  readonly #admission: Admission;
  readonly #events: ListenerEvents;
  readonly #sockets = new Map<Socket, string>();

  private constructor(secure: TlsServer, admission: Admission, events: ListenerEvents) {
    this.#secure = secure;
    this.#admission = admission;
    this.#events = events;
    this.#tcp = createTcpServer((socket) => this.#accept(socket));
    secure.on('tlsClientError', (error, socket) => {
      events.refused(plainAddress(socket.remoteAddress), `TLS handshake failed: ${reasonOf(error)}`);
      socket.destroy();
    });
  }

  static tls(
    context: SecureContextOptions,
    limits: TransportLimits,
    admission: Admission,
    events: ListenerEvents & { tls(socket: TLSSocket): void },
  ): Listener {
    const secure = createTlsServer({ ...context, handshakeTimeout: limits.handshakeTimeoutMs });
    secure.on('secureConnection', (socket) => events.tls(socket));
    return new Listener(secure, admission, events);
  }

  /** WebSocket over TLS with the subprotocol `sip` (RFC 7118). */
  static wss(
    context: SecureContextOptions,
    limits: TransportLimits,
    admission: Admission,
    clock: Clock,
    events: ListenerEvents & { wss(socket: WebSocket, raw: Socket): void },
  ): Listener {
    const secure = createHttpsServer({ ...context, handshakeTimeout: limits.handshakeTimeoutMs });
    upgradeTo(secure, limits, clock, events);
    return new Listener(secure, admission, events);
  }

  /** @throws with the advice what to do when the port is taken or may not be used */
  listen(where: ListenAddress): Promise<BoundAddress> {
    return new Promise((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException) => reject(new Error(adviceOf(error, where)));
      this.#tcp.once('error', failed);
      this.#tcp.listen({ host: where.host, port: where.port, backlog: 1024 }, () => {
        this.#tcp.off('error', failed);
        // Accept errors (EMFILE and the like) concern one connection; the listener goes on.
        this.#tcp.on('error', (error) => this.#events.refused('', `accept failed: ${error.message}`));
        const bound = this.#tcp.address() as AddressInfo;
        resolve({ address: bound.address, port: bound.port });
      });
    });
  }

  /** New handshakes use the new certificate; running connections keep theirs. @throws when it is unusable */
  setCertificate(context: SecureContextOptions): void {
    this.#secure.setSecureContext(context);
  }

  /** Destroys every connection of `address`, handshakes included. */
  cut(address: string): void {
    for (const [socket, from] of this.#sockets) if (from === address) socket.destroy();
  }

  /** Stops accepting. Connections stay. */
  stopAccepting(): void {
    if (this.#tcp.listening) this.#tcp.close();
  }

  /** Destroys what is left; resolves when every socket is gone. */
  async close(): Promise<void> {
    this.stopAccepting();
    const gone = [...this.#sockets.keys()].map(
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()).destroy()),
    );
    await Promise.all(gone);
    this.#secure.close();
  }

  #accept(socket: Socket): void {
    const address = plainAddress(socket.remoteAddress);
    const verdict = this.#admission.admit(address);
    if (verdict !== 'admitted') {
      socket.on('error', ignoreReset);
      socket.destroy();
      this.#events.refused(address, verdict);
      return;
    }
    this.#sockets.set(socket, address);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#admission.release(address);
    });
    // Before the TLS layer listens, a reset would be an unhandled error; afterwards it reports the same cause.
    socket.on('error', ignoreReset);
    this.#secure.emit('connection', socket);
  }
}

/** The close event that follows tells all there is to know. */
function ignoreReset(): void {}

function adviceOf(error: NodeJS.ErrnoException, where: ListenAddress): string {
  const port = `${where.host} port ${where.port}`;
  if (error.code === 'EADDRINUSE')
    return `cannot listen on ${port}: another program does; stop it or take another port`;
  if (error.code === 'EACCES') return `cannot listen on ${port}: not permitted; take a port above 1023`;
  if (error.code === 'EADDRNOTAVAIL')
    return `cannot listen on ${port}: no interface of this machine has the address`;
  return `cannot listen on ${port}: ${error.message}`;
}
