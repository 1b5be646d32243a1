/**
 * A port whose messages are read for at most two milliseconds in one turn of the event loop. After a pause of the main
 * thread hundreds come at once, and with all that they set going they would keep the frames of audio waiting; so timers
 * and sockets have their turn in between.
 *
 *     messages ──read for 2 ms──> │ timers, packets │ ──read for 2 ms──> │ timers, packets │ ...
 */
import { type Clock, systemClock } from '#shared/clock.ts';
import type { Port } from './channel.ts';

/** So much later is a frame that becomes due meanwhile. */
const readingMs = 2;

export interface Pace {
  readonly clock: Pick<Clock, 'elapsed'>;
  /** Calls `next` in the next turn of the event loop, after timers and sockets. */
  readonly nextTurn: (next: () => void) => void;
}

const eventLoop: Pace = { clock: systemClock, nextTurn: (next) => void setImmediate(next) };

/** The sender bounds how many wait: it counts those that were not read (`Channel`). */
export function paced(port: Port, { clock, nextTurn }: Pace = eventLoop): Port {
  return {
    post: (message) => port.post(message),
    listen: (receive) => {
      let waiting: unknown[] = [];
      let next = 0;
      /** When reading began in this turn; null: it has not. */
      let began: number | null = null;

      const mayRead = (): boolean => began !== null && clock.elapsed() - began < readingMs;
      const beginTurn = (): void => {
        began = clock.elapsed();
        nextTurn(() => {
          began = null;
          if (waiting.length === 0) return;
          beginTurn();
          readOn();
        });
      };
      const readOn = (): void => {
        if (next === waiting.length) {
          waiting = [];
          next = 0;
          return;
        }
        if (!mayRead()) return;
        receive(waiting[next++]);
        // What a message sets going in this turn is part of its time.
        queueMicrotask(readOn);
      };
      port.listen((message) => {
        if (began === null) beginTurn();
        if (waiting.length === 0 && mayRead()) receive(message);
        else waiting.push(message);
      });
    },
  };
}
