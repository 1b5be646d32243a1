/** Ends threads that were idle for too long, and deletes expired ones. */
import type { Clock, Timer } from '#shared/clock.ts';
import type { Db } from '../db/index.ts';
import { pruneCalls } from './calls-store.ts';
import { pruneSessions } from './sessions-store.ts';
import { deleteThreadsEndedBefore, endTimedOut, pruneAgents } from './store.ts';

export interface SweepParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: { error(facts: object, message: string): void };
  /** Days that ended threads are kept. */
  readonly threadDays: number;
  /** Called for every ended thread. */
  readonly onEnded: (threadId: string) => void;
}

const everyMs = 5_000;
const pruneEveryMs = 60 * 60 * 1000;
const dayMs = 24 * 60 * 60 * 1000;
/** How long an edge that is cut off from control may report a call late. */
const unusedCallMs = 60 * 60 * 1000;
/** Rows per statement, so that none blocks the database for long. */
const atATime = 500;

/** Returns a function that stops this and resolves when nothing is running. */
export function startSweep(parts: SweepParts): () => Promise<void> {
  const { clock, log } = parts;
  let running: Promise<void> = Promise.resolve();
  let timer: Timer;
  let stopped = false;
  let pruneAt = clock.elapsed();
  const round = async () => {
    await endDue(parts);
    if (clock.elapsed() < pruneAt) return;
    pruneAt = clock.elapsed() + pruneEveryMs;
    await forget(parts);
  };
  const look = () => {
    running = round()
      .catch((error: unknown) => log.error({ err: error }, 'widget threads could not be swept'))
      .then(() => {
        if (!stopped) timer = clock.after(everyMs, look);
      });
  };
  timer = clock.after(0, look);
  return async () => {
    stopped = true;
    timer.cancel();
    await running;
  };
}

async function endDue({ clock, db, onEnded }: SweepParts): Promise<void> {
  for (;;) {
    const ended = await endTimedOut(db, new Date(clock.now()).toISOString(), atATime);
    for (const id of ended) onEnded(id);
    if (ended.length < atATime) return;
  }
}

async function forget({ clock, db, threadDays }: SweepParts): Promise<void> {
  await pruneSessions(db, new Date(clock.now()).toISOString());
  await pruneCalls(db, new Date(clock.now() - unusedCallMs).toISOString());
  const before = new Date(clock.now() - threadDays * dayMs).toISOString();
  while ((await deleteThreadsEndedBefore(db, before, atATime)) === atATime);
  await pruneAgents(db);
}
