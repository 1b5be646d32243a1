/** Connections to a voice's server that wait for the next text, for a while. */
import type { Clock } from '#shared/clock.ts';
import { Timers } from '#shared/timers.ts';

/** Time for which an unused connection is kept, ms: between two turns of a conversation. */
const idleMs = 15_000;
/** Unused connections that are kept, of all voices of the server. */
const mostIdle = 8;

interface Keepable {
  /** Called when the server closes it. */
  lost: () => void;
  close(): void;
}

interface Idle<Connection> {
  readonly key: string;
  readonly connection: Connection;
  readonly timer: { cancel(): void };
}

export class IdleConnections<Connection extends Keepable> {
  readonly #timers: Timers;
  /** The latest last. */
  #idle: Idle<Connection>[] = [];
  #closed = false;

  constructor(clock: Clock) {
    this.#timers = new Timers(clock);
  }

  /** The connection that was used last with this key; null: none. */
  take(key: string): Connection | null {
    const found = this.#idle.findLast((one) => one.key === key);
    if (!found) return null;
    this.#forget(found.connection);
    return found.connection;
  }

  keep(key: string, connection: Connection): void {
    if (this.#closed) {
      connection.close();
      return;
    }
    const drop = () => {
      this.#forget(connection);
      connection.close();
    };
    connection.lost = () => this.#forget(connection);
    this.#idle.push({ key, connection, timer: this.#timers.after(idleMs, drop) });
    const [oldest] = this.#idle;
    if (this.#idle.length > mostIdle && oldest) {
      this.#forget(oldest.connection);
      oldest.connection.close();
    }
  }

  close(): void {
    this.#closed = true;
    for (const { connection } of [...this.#idle]) {
      this.#forget(connection);
      connection.close();
    }
  }

  #forget(connection: Connection): void {
    this.#idle.find((one) => one.connection === connection)?.timer.cancel();
    this.#idle = this.#idle.filter((one) => one.connection !== connection);
  }
}
