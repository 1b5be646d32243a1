/** Looks now and then for calls whose edge has been away for too long, and closes them. */
import type { FastifyBaseLogger } from 'fastify';
import type { Timer } from '#shared/clock.ts';
import type { Services } from '../services.ts';
import { webhookSubject } from '../webhooks/store.ts';
import { closeLostCalls, type LostCalls } from './lost-store.ts';

/** Time between two looks, and before the first one: edges must be able to come back after a start of control. */
const everyMs = 60_000;
/** In one transaction. */
const mostAtOnce = 500;

type Parts = Pick<Services, 'clock' | 'database' | 'edges' | 'announcements'> & {
  readonly config: Pick<Services['config'], 'edgeLostMs'>;
};

/** @param count takes how many were closed. Returns a function that ends this and resolves when no look is under way */
export function startLostCalls(
  parts: Parts,
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>,
  count: (closed: number) => void,
): () => Promise<void> {
  const { clock, config } = parts;
  const pauseMs = Math.min(everyMs, config.edgeLostMs);
  let ended = false;
  let running: Promise<void> = Promise.resolve();
  let timer: Timer;
  const look = () => {
    running = closeAll(parts, () => ended)
      .then((closed) => {
        if (closed === 0) return;
        count(closed);
        log.warn({ calls: closed }, 'calls closed whose edge has not come back');
      })
      .catch((error: unknown) => log.error({ err: error }, 'calls of lost edges could not be closed'))
      .then(() => {
        if (!ended) timer = clock.after(pauseMs, look);
      });
  };
  timer = clock.after(pauseMs, look);
  return async () => {
    ended = true;
    timer.cancel();
    await running;
  };
}

/** Returns how many were closed. */
async function closeAll(parts: Parts, ended: () => boolean): Promise<number> {
  const { clock, config, database, edges, announcements } = parts;
  let all = 0;
  let last: LostCalls;
  do {
    const now = clock.now();
    const before = new Date(now - config.edgeLostMs).toISOString();
    const connected = edges.all.map(({ edgeId }) => edgeId);
    last = await database.exclusive((connection) =>
      closeLostCalls(connection, connected, before, new Date(now).toISOString(), mostAtOnce),
    );
    if (last.told) announcements.announce(webhookSubject);
    all += last.closed;
  } while (last.closed === mostAtOnce && !ended());
  return all;
}
