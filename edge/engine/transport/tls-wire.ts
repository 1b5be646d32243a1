import type { TLSSocket } from 'node:tls';
import { connectionLoss } from '#shared/connection-faults.ts';
import { GatheredWrites } from '#shared/gathered-writes.ts';
import { plainAddress } from '#shared/networks.ts';
import type { Connection } from './connection.ts';
import { SocketQueue } from './socket-queue.ts';
import type { Endpoints, Wire } from './wire.ts';

/**
 * Connections whose end is answered in one turn of the event loop: TLS's close_notify and the release of the socket cost
 * about 0.1 ms, and a proxy that ends closes all its connections at once.
 */
const endsPerTurn = 16;

const ended = new SocketQueue<TLSSocket>(endsPerTurn, (socket) => socket.end());

/** A TLS socket after its handshake, as a wire. */
export class TlsWire implements Wire {
  readonly protocol = 'tls';
  readonly #socket: TLSSocket;
  readonly #gathered: GatheredWrites;

  /** @param keepaliveMs idle time before the first TCP keepalive probe */
  constructor(socket: TLSSocket, keepaliveMs: number) {
    this.#socket = socket;
    this.#gathered = new GatheredWrites(socket);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepaliveMs);
  }

  get queuedBytes(): number {
    return this.#socket.writableLength;
  }

  /** Messages that are sent together share one TLS record and one system call. */
  write(bytes: Buffer): void {
    this.#gathered.gather();
    this.#socket.write(bytes);
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Forwards the socket's octets and its end to the connection. */
  attach(connection: Connection): void {
    let failure: Error | null = null;
    // Otherwise Node answers the end of each at once.
    this.#socket.allowHalfOpen = true;
    this.#socket.on('end', () => ended.add('', this.#socket));
    this.#socket.on('data', (chunk: Buffer) => connection.received(chunk));
    this.#socket.on('drain', () => connection.drained());
    this.#socket.on('error', (error: Error) => {
      failure = error;
    });
    this.#socket.on('close', () => connection.lost(connectionLoss(failure)));
  }
}

export function endpointsOf(socket: {
  remoteAddress?: string | undefined;
  remotePort?: number | undefined;
  localAddress?: string | undefined;
  localPort?: number | undefined;
}): Endpoints {
  return {
    remoteAddress: plainAddress(socket.remoteAddress ?? ''),
    remotePort: socket.remotePort ?? 0,
    localAddress: plainAddress(socket.localAddress ?? ''),
    localPort: socket.localPort ?? 0,
  };
}
