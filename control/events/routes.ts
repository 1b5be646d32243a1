/** GET /v1/events (contract 17). */
import type { FastifyRequest } from 'fastify';
import { EventHeaders, EventQuery } from '#shared/api/events.ts';
import { counted } from '#shared/counted.ts';
import { type App, orgOf, type Place, sendEvents } from '../http/index.ts';
import type { EventDeps } from './deps.ts';
import { positionOf } from './feed.ts';
import { eventFilter } from './filter.ts';
import type { EventLimits } from './limits.ts';
import type { Events } from './start.ts';
import { organizationEvents } from './stream.ts';

export function eventRoutes(app: App, services: EventDeps, { feed, metrics, streams }: Events): void {
  const { clock, followers, limits } = services;
  const { heartbeatMs, mostPassing, pageOctets, windowMs } = limits.events;
  app.route({
    method: 'GET',
    url: '/v1/events',
    // A stream has no length for HEAD, and Fastify would leave it open.
    exposeHeadRoute: false,
    config: { access: 'read', errors: ['INVALID_PARAMETER', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE'] },
    schema: {
      summary: 'What happens in the organization, as server-sent events',
      produces: ['text/event-stream'],
      querystring: EventQuery,
      headers: EventHeaders,
    },
    handler: async (request, reply) => {
      const orgId = orgOf(request);
      const keyId = keyOf(request);
      const filter = eventFilter(request.query);
      const given = request.headers['last-event-id'];
      const stream = await streams.open({
        places: placesOf(orgId, keyId, limits.events),
        allowed: request.stillAllowed,
        texts: async function* (signal) {
          const newest = await feed.open(orgId);
          const isResumed = typeof given === 'string' && given !== '';
          const after = isResumed ? (positionOf(given) ?? { epoch: 0, seq: 0 }) : newest;
          yield* organizationEvents({
            feed,
            passing: followers.passing,
            mostPassing,
            pageOctets,
            clock,
            orgId,
            filter,
            after,
            isResumed,
            heartbeatMs,
            windowMs,
            random: Math.random,
            onMissed: metrics.missed,
            signal,
          });
        },
      });
      return sendEvents(reply, stream);
    },
  });
}

function keyOf({ caller }: Pick<FastifyRequest, 'caller'>): string {
  if (!caller) throw new Error('This route needs a key');
  return caller.keyId;
}

function placesOf(orgId: string, keyId: string, limits: EventLimits): Place[] {
  const { perKey, perOrganization } = limits;
  const refusal = (whose: string, most: number) =>
    `${whose} has at most ${counted(most, 'event stream')} open at a time; close one, or wait until one ends.`;
  return [
    {
      key: `organization ${orgId}`,
      most: perOrganization,
      scope: 'organization_event_streams',
      message: refusal('An organization', perOrganization),
    },
    {
      key: `key ${keyId}`,
      most: perKey,
      scope: 'key_event_streams',
      message: refusal('An API key', perKey),
    },
  ];
}
