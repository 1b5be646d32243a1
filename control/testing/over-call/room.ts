/** A run over a call waits until an edge has room for it. */
import type { Clock } from '#shared/clock.ts';
import { CallFailure, NoRoom } from './talk.ts';

/** Pauses between two questions whether there is room, ms. */
const pauses = { first: 1000, later: 5000 };

/** The time that a run may take, which stands still while it waits for others. */
export interface RunTime {
  pause(): void;
  resume(): void;
}

/** No edge had room in time: the run is not tried again. */
export class NoRoomInTime extends CallFailure {
  override readonly name: string = 'NoRoomInTime';
}

interface RoomParts {
  readonly clock: Clock;
  /** The longest wait. */
  readonly roomMs: number;
  readonly signal: AbortSignal;
  readonly time: RunTime | undefined;
  readonly missed: () => void;
}

/**
 * @param attempt rejects with NoRoom when there is none now
 * @throws what it rejects with otherwise; NoRoomInTime; the reason of the signal
 */
export async function untilRoom<T>(parts: RoomParts, attempt: () => Promise<T>): Promise<T> {
  const { clock, missed, roomMs, signal, time } = parts;
  const deadline = clock.now() + roomMs;
  for (let pauseMs = pauses.first; ; pauseMs = Math.min(pauses.later, 2 * pauseMs)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof NoRoom)) throw error;
      if (clock.now() >= deadline) {
        missed();
        throw new NoRoomInTime(`No edge had room for the call within ${roomMs / 1000} s: ${error.message}`);
      }
    }
    time?.pause();
    try {
      await pauseOf(clock, Math.min(pauseMs, deadline - clock.now()), signal);
    } finally {
      time?.resume();
    }
  }
}

async function pauseOf(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = clock.after(ms, resolve);
  const stop = () => resolve();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await promise;
    signal.throwIfAborted();
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', stop);
  }
}
