/** Periodically finds calls that no edge handles anymore, and closes them. */
import type { FastifyBaseLogger } from 'fastify';
import type { Timer } from '#shared/clock.ts';
import { webhookSubject } from '../webhooks/index.ts';
import type { CallDeps } from './deps.ts';
import { type ClosedCalls, closeCallsOfEdge, closeLostCalls } from './lost-store.ts';
import { closeQueuedCalls } from './queued-store.ts';

/** Interval, also before the first check: edges must have time to reconnect after control starts. */
const everyMs = 60_000;
/** Per transaction. */
const mostAtOnce = 500;

type Parts = Pick<CallDeps, 'clock' | 'database' | 'edges' | 'announcements' | 'limits'>;

/** Calls whose edge has been away for too long, and calls that were never placed. */
type Kind = 'lost' | 'queued';

/**
 * @param count receives how many of a kind were closed. Returns a function that stops the checks and resolves when none
 * is running
 */
export function startLostCalls(
  parts: Parts,
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>,
  count: Readonly<Record<Kind, (closed: number) => void>>,
): () => Promise<void> {
  const { clock, limits } = parts;
  const pauseMs = Math.min(everyMs, limits.calls.edgeLostMs, limits.calls.queuedMs);
  let ended = false;
  let running: Promise<void> = Promise.resolve();
  let timer: Timer;
  const look = () => {
    running = closeAll(parts, 'lost', () => ended)
      .then((closed) => {
        if (closed === 0) return;
        count.lost(closed);
        log.warn({ calls: closed }, 'closed calls of edges that did not reconnect');
      })
      .then(() => closeAll(parts, 'queued', () => ended))
      .then((closed) => {
        if (closed === 0) return;
        count.queued(closed);
        log.warn({ calls: closed }, 'closed queued calls that no edge placed');
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

/** Returns how many calls were closed. */
async function closeAll(parts: Parts, kind: Kind, ended: () => boolean): Promise<number> {
  const { clock, limits, database, edges, announcements } = parts;
  const close = kind === 'lost' ? closeLostCalls : closeQueuedCalls;
  const afterMs = kind === 'lost' ? limits.calls.edgeLostMs : limits.calls.queuedMs;
  let all = 0;
  let last: ClosedCalls;
  do {
    const now = clock.now();
    const before = new Date(now - afterMs).toISOString();
    const connected = edges.all.map(({ edgeId }) => edgeId);
    last = await close(database, connected, before, new Date(now).toISOString(), mostAtOnce);
    if (last.webhooksQueued) announcements.announce(webhookSubject);
    all += last.closed;
  } while (last.closed === mostAtOnce && !ended());
  return all;
}

/** Closes the running calls of an edge that comes back without its outbox: it knows of none of them. */
export async function closeCallsWithoutOutbox(
  { clock, database, announcements }: Omit<Parts, 'edges' | 'limits'>,
  edgeId: string,
): Promise<void> {
  const now = new Date(clock.now()).toISOString();
  const queued = await database.db.transaction().execute((trx) => closeCallsOfEdge(trx, edgeId, now));
  if (queued) announcements.announce(webhookSubject);
}
