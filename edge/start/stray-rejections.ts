import type { EdgeLog } from '../log.ts';

/**
 * A promise that failed and that nobody waits for belongs to one call. It is logged; Node would end the thread, and with it
 * the calls of everybody else in it. An exception still does: what it left half done may concern them all.
 */
export function outliveRejections(thread: Pick<NodeJS.Process, 'on'>, log: Pick<EdgeLog, 'error'>): void {
  thread.on('unhandledRejection', (error) =>
    log.error({ err: error }, 'unexpected fault in a call: a promise failed that nobody waits for'),
  );
}
