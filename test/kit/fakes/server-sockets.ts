import type { Server, Socket } from 'node:net';

/**
 * The connections of a server from their accept on. `Server.close` waits for all of them, and the event of a TLS server comes
 * only after the handshake: whoever closes by that event waits for good for a handshake that was under way.
 */
export class ServerSockets {
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  /** @param server one of `node:tls` and `node:https` too */
  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Stops listening, and resolves when no connection is left. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }
}
