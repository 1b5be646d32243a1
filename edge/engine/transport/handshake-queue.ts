/** TLS handshakes that wait for their turn. */
import type { Socket } from 'node:net';

/**
 * Handshakes begun in one turn of the event loop. One costs about 1 ms, so a standing connection is read again after
 * some milliseconds, however many others have just connected.
 */
const perTurn = 4;

/**
 * Begins a few handshakes in each turn of the event loop, so that a storm of connections does not delay the traffic of
 * standing ones. Groups take turns, so that one with many connections does not delay the others.
 */
export class HandshakeQueue {
  readonly #begin: (socket: Socket) => void;
  readonly #nextTurn: (work: () => void) => void;
  /** By group, in order of arrival; a group without sockets is not here. */
  readonly #waiting = new Map<string, Socket[]>();
  #scheduled = false;

  /** @param nextTurn runs work in the next turn of the event loop, after the sockets that can be read */
  constructor(begin: (socket: Socket) => void, nextTurn: (work: () => void) => void = setImmediate) {
    this.#begin = begin;
    this.#nextTurn = nextTurn;
  }

  /** @param group who shares its place in the order: an organization, or all strangers */
  add(group: string, socket: Socket): void {
    const sockets = this.#waiting.get(group);
    if (sockets) sockets.push(socket);
    else this.#waiting.set(group, [socket]);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.size === 0) return;
    this.#scheduled = true;
    this.#nextTurn(() => {
      this.#scheduled = false;
      this.#turn();
      this.#schedule();
    });
  }

  #turn(): void {
    for (let begun = 0; begun < perTurn; ) {
      const [next] = this.#waiting;
      if (!next) return;
      const [group, sockets] = next;
      const socket = sockets.shift();
      // To the end of the order.
      this.#waiting.delete(group);
      if (sockets.length > 0) this.#waiting.set(group, sockets);
      // One that closed while it waited costs nothing.
      if (!socket || socket.destroyed) continue;
      begun += 1;
      this.#begin(socket);
    }
  }
}
