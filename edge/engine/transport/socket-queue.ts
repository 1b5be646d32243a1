/** Sockets that wait for their turn. */
import type { Socket } from 'node:net';

/**
 * Does the work of a few sockets in each turn of the event loop, so that many connections that begin or end at once do not
 * delay the traffic of standing ones. Groups take turns, so that one with many connections does not delay the others.
 */
export class SocketQueue<Waiting extends Socket = Socket> {
  readonly #perTurn: number;
  readonly #work: (socket: Waiting) => void;
  readonly #nextTurn: (work: () => void) => void;
  readonly #room: () => number;
  /** By group, in order of arrival; a group without sockets is not here. */
  readonly #waiting = new Map<string, Waiting[]>();
  #scheduled = false;

  /**
   * @param room how many more may have their turn now; with none the queue rests until `resume`
   * @param nextTurn runs work in the next turn of the event loop, after the sockets that can be read
   */
  constructor(
    perTurn: number,
    work: (socket: Waiting) => void,
    room: () => number = () => perTurn,
    nextTurn: (work: () => void) => void = setImmediate,
  ) {
    this.#perTurn = perTurn;
    this.#work = work;
    this.#room = room;
    this.#nextTurn = nextTurn;
  }

  /** @param group who shares its place in the order: an organization, or all strangers */
  add(group: string, socket: Waiting): void {
    const sockets = this.#waiting.get(group);
    if (sockets) sockets.push(socket);
    else this.#waiting.set(group, [socket]);
    this.#schedule();
  }

  /** There is room again. */
  resume(): void {
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.size === 0 || this.#room() === 0) return;
    this.#scheduled = true;
    this.#nextTurn(() => {
      this.#scheduled = false;
      this.#turn();
      this.#schedule();
    });
  }

  #turn(): void {
    const most = Math.min(this.#perTurn, this.#room());
    for (let done = 0; done < most; ) {
      const [next] = this.#waiting;
      if (!next) return;
      const [group, sockets] = next;
      const socket = sockets.shift();
      // To the end of the order.
      this.#waiting.delete(group);
      if (sockets.length > 0) this.#waiting.set(group, sockets);
      // One that closed while it waited costs nothing.
      if (!socket || socket.destroyed) continue;
      done += 1;
      this.#work(socket);
    }
  }
}
