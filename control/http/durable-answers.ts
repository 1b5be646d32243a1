/**
 * An answer to a request that may have written leaves when what was committed survives a loss of power. Registered last
 * of all `onSend` hooks, because the others may write too.
 */
import type { Database } from '../db/index.ts';
import type { App } from './app-types.ts';

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export function addDurableAnswers(app: App, database: Pick<Database, 'durable'>): void {
  app.addHook('onSend', async (request, reply) => {
    // An error promises nothing; the one to a failed sync comes here too.
    if (reading.has(request.method) || reply.statusCode >= 400) return;
    await database.durable();
  });
}
