/** Deletes events that are too old or too many, and ends the windows of organizations that nobody follows any more. */
import type { FastifyBaseLogger } from 'fastify';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Db } from '../db/index.ts';
import type { EventLimits } from './limits.ts';
import { deleteOldest, endWindow, windowsAfter } from './windows-store.ts';

export interface SweepParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly limits: EventLimits;
  readonly log: Pick<FastifyBaseLogger, 'error'>;
  /** Called after each round with the number of windows. */
  readonly onRound: (windows: number) => void;
}

const windowsAtOnce = 100;

/** Returns a function that stops the rounds and resolves when none is running. */
export function startEventSweep(parts: SweepParts): () => Promise<void> {
  const { clock, limits, log, onRound } = parts;
  let ended = false;
  let running: Promise<void> = Promise.resolve();
  let timer: Timer;
  const round = () => {
    running = sweepEvents(parts, () => ended)
      .then(onRound)
      .catch((error: unknown) => log.error({ err: error }, 'old events could not be deleted'))
      .then(() => {
        if (!ended) timer = clock.after(limits.sweepMs, round);
      });
  };
  timer = clock.after(limits.sweepMs, round);
  return async () => {
    ended = true;
    timer.cancel();
    await running;
  };
}

/** One round. @returns the number of windows */
async function sweepEvents(
  parts: Pick<SweepParts, 'db' | 'clock' | 'limits'>,
  isEnded: () => boolean = () => false,
): Promise<number> {
  let windows = 0;
  for (let after = ''; !isEnded(); ) {
    const page = await windowsAfter(parts.db, after, windowsAtOnce);
    for (const window of page) {
      after = window.org_id;
      if (isEnded()) return windows;
      if (!(await sweepWindow(parts, window))) windows++;
    }
    if (page.length < windowsAtOnce) break;
  }
  return windows;
}

/** Whether the window has ended. */
async function sweepWindow(
  { clock, db, limits }: Pick<SweepParts, 'db' | 'clock' | 'limits'>,
  { last_octet, last_seq, org_id, read_until }: Awaited<ReturnType<typeof windowsAfter>>[number],
): Promise<boolean> {
  const now = clock.now();
  const isUnread = read_until < now;
  const bounds = isUnread
    ? { seq: last_seq, octet: last_octet, at: 0 }
    : {
        seq: last_seq - limits.mostEvents,
        octet: last_octet - limits.mostOctets,
        at: now - limits.windowMs,
      };
  while ((await deleteOldest(db, org_id, bounds)).mayBeMore);
  if (isUnread) await endWindow(db, org_id, now);
  return isUnread;
}
