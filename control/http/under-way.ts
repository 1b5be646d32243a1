/** The requests being answered, for a fault report: routes and ids, without parameters and bodies. */
import type { Clock } from '#shared/clock.ts';
import type { App } from './app-types.ts';

export interface RequestUnderWay {
  readonly id: string;
  readonly method: string;
  /** Pattern of the route, such as `/v1/calls/:id`. */
  readonly route: string;
  readonly since: string;
}

/** Most requests in a report. */
const mostListed = 100;

/** @returns a function that lists the running requests, oldest first */
export function trackRequests(app: App, clock: Clock): () => RequestUnderWay[] {
  const running = new Set<RequestUnderWay>();
  app.addHook('onRequest', async (request, reply) => {
    const { id, method, routeOptions } = request;
    const one = { id, method, route: routeOptions.url ?? '', since: new Date(clock.now()).toISOString() };
    running.add(one);
    // Also when the client disconnects before the response.
    reply.raw.once('close', () => running.delete(one));
  });
  return () => [...running].slice(0, mostListed);
}
