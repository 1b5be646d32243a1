/**
 * Times of one thread in another one. The elapsed time of each thread has a start of its own; the system's high-resolution
 * clock, which it is made of, has one for the whole process.
 */
import { type Clock, systemClock } from '#shared/clock.ts';

const processMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** @param at ms of this thread's elapsed time @returns the same time, for any thread */
export function sharedTime(at: number, clock: Pick<Clock, 'elapsed'> = systemClock): number {
  return processMs() - (clock.elapsed() - at);
}

/** The reverse, in another thread. */
export function timeHere(shared: number, clock: Pick<Clock, 'elapsed'> = systemClock): number {
  return clock.elapsed() - (processMs() - shared);
}
