/**
 * Messages that are read for at most two milliseconds in one turn of the event loop. After a pause of their sender hundreds
 * come at once, and with all that they set going they would keep the frames of audio waiting; so timers and sockets have
 * their turn in between.
 *
 *     messages ──read for 2 ms──> │ timers, packets │ ──read for 2 ms──> │ timers, packets │ ...
 */
import { type Clock, systemClock } from './clock.ts';

/** So much later is a frame that becomes due meanwhile. */
const readingMs = 2;

export interface Pace {
  readonly clock: Pick<Clock, 'elapsed'>;
  /** Calls `next` in the next turn of the event loop, after timers and sockets. */
  readonly nextTurn: (next: () => void) => void;
}

const eventLoop: Pace = { clock: systemClock, nextTurn: (next) => void setImmediate(next) };

/**
 * @param read gets the messages in order
 * @returns takes a message; it does not bound how many wait
 */
export function pacedReader<T>(
  read: (message: T) => void,
  { clock, nextTurn }: Pace = eventLoop,
): (message: T) => void {
  let waiting: (() => void)[] = [];
  let next = 0;
  /** When reading began in this turn; null: it has not. */
  let began: number | null = null;
  /** A message was read, and what it sets going is under way. */
  let isReading = false;

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
    isReading = false;
    const readNext = waiting[next];
    if (!readNext) {
      waiting = [];
      next = 0;
      return;
    }
    if (!mayRead()) return;
    next++;
    isReading = true;
    try {
      readNext();
    } finally {
      // What a message sets going in this turn is part of its time.
      queueMicrotask(readOn);
    }
  };
  return (message) => {
    waiting.push(() => read(message));
    if (began === null) beginTurn();
    if (!isReading) readOn();
  };
}
