/** GET /v1/calls: calls of either direction, running or ended (contract 9.12). */
import { CallList, CallListQuery, liveStatuses } from '#shared/api/calls.ts';
import { plain } from '#shared/api/common.ts';
import { type App, orgOf } from '../http/index.ts';
import { commonFilter, pageOfCalls } from './call-pages.ts';
import type { SearchFilter } from './call-search.ts';
import type { CallDeps } from './deps.ts';
import { listedCall } from './rules.ts';

export function listRoutes(
  app: App,
  { clock, database: { db } }: Pick<CallDeps, 'clock' | 'database'>,
): void {
  app.route({
    method: 'GET',
    url: '/v1/calls',
    config: { access: 'read', errors: ['INVALID_CURSOR'] },
    schema: {
      summary: 'List calls, newest first',
      description:
        'With a filter a page may have fewer calls than limit, or none, although there are more: next says so.',
      querystring: CallListQuery,
      response: { 200: CallList },
    },
    handler: async (request) => {
      const { rows, next } = await pageOfCalls(db, orgOf(request), listFilter(request.query), request.query);
      const now = clock.now();
      return plain({ calls: rows.map((row) => listedCall(row, now)), next });
    },
  });
}

/** @throws ApiError INVALID_PARAMETER */
function listFilter(query: CallListQuery): SearchFilter {
  const { pathway_id, persona_id, status } = query;
  const isLive = liveStatuses.some((one) => one === status);
  return {
    ...commonFilter(query),
    ...(status !== undefined && { status }),
    // Few calls are in progress, and they have an index: the page need not be searched for.
    ...(isLive && { outcome: 'in_progress' }),
    ...(pathway_id !== undefined && { pathwayId: pathway_id }),
    ...(persona_id !== undefined && { personaId: persona_id }),
  };
}
