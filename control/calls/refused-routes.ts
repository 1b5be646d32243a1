/** GET /v1/sip/refused and GET /v1/admin/refused: INVITEs that the edges have refused (contract 3.4). */
import { plain } from '#shared/api/common.ts';
import { AdminRefusedQuery, RefusedPage, RefusedQuery } from '#shared/api/refused.ts';
import { ApiError } from '#shared/errors.ts';
import { type App, nextAfter, orgOf, readSpan } from '../http/index.ts';
import type { CallDeps } from './deps.ts';
import { numberOf } from './number-filter.ts';
import { cursorOf, refusedEntry } from './refused-rules.ts';
import { listRefused } from './refused-store.ts';

const defaultPage = 50;

export function refusedRoutes(app: App, { database: { db } }: Pick<CallDeps, 'database'>): void {
  const page = async (orgId: string | undefined, query: RefusedQuery) => {
    const { phone_number, source, reason, before, limit = defaultPage } = query;
    const after = before === undefined ? undefined : cursorOf(before);
    if (after === null) throw ApiError.of('INVALID_CURSOR', { path: '?before' });
    const filter = {
      ...readSpan(query),
      ...(orgId !== undefined && { orgId }),
      ...(phone_number !== undefined && { number: numberOf(phone_number) }),
      ...(source !== undefined && { source }),
      ...(reason !== undefined && { reason }),
      ...(after && { after }),
    };
    const refused = (await listRefused(db, filter, limit)).map(refusedEntry);
    return plain({ refused, next: nextAfter(refused, limit, ({ cursor }) => cursor) });
  };

  app.route({
    method: 'GET',
    url: '/v1/sip/refused',
    config: { access: 'read', errors: ['INVALID_CURSOR'] },
    schema: {
      summary: 'Refused calls to the organization’s numbers: who, why, and what to change; newest first',
      description: 'Counted by source, reason and number.',
      querystring: RefusedQuery,
      response: { 200: RefusedPage },
    },
    handler: (request) => page(orgOf(request), request.query),
  });

  app.route({
    method: 'GET',
    url: '/v1/admin/refused',
    config: { access: 'operator', errors: ['OPERATOR_KEY_REQUIRED', 'INVALID_CURSOR'] },
    schema: {
      summary: 'Refused calls of all organizations, and those to numbers that are configured nowhere',
      querystring: AdminRefusedQuery,
      response: { 200: RefusedPage },
    },
    handler: (request) => page(request.query.org_id, request.query),
  });
}
