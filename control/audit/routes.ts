/** GET /v1/org/audit and GET /v1/admin/audit: who changed what, newest first. */
import { AdminAuditQuery, AuditPage, AuditQuery } from '#shared/api/audit.ts';
import { plain } from '#shared/api/common.ts';
import { ApiError } from '#shared/errors.ts';
import { type App, nextAfter, orgOf, readSpan } from '../http/index.ts';
import type { AuditDeps } from './deps.ts';
import { entryView } from './rules.ts';
import { findChange, listChanges } from './store.ts';

const defaultPage = 50;

export function auditRoutes(app: App, { database: { db } }: AuditDeps): void {
  const page = async (orgId: string | undefined, query: AuditQuery) => {
    const { area, subject_id, actor, before, limit = defaultPage } = query;
    const after = before === undefined ? undefined : await findChange(db, orgId, before);
    if (before !== undefined && !after) {
      throw ApiError.of(
        'INVALID_CURSOR',
        { path: '?before' },
        'The cursor does not match an entry of this list.',
      );
    }
    const filter = {
      ...readSpan(query),
      ...(orgId !== undefined && { orgId }),
      ...(area !== undefined && { area }),
      ...(subject_id !== undefined && { subject: subject_id }),
      ...(actor !== undefined && { actor }),
      ...(after && { after }),
    };
    const rows = await listChanges(db, filter, limit);
    return plain({ entries: rows.map(entryView), next: nextAfter(rows, limit, ({ id }) => id) });
  };

  app.route({
    method: 'GET',
    url: '/v1/org/audit',
    config: { access: 'read', errors: ['INVALID_CURSOR'] },
    schema: {
      summary: 'Changes of the organization’s settings, newest first',
      querystring: AuditQuery,
      response: { 200: AuditPage },
    },
    handler: (request) => page(orgOf(request), request.query),
  });

  app.route({
    method: 'GET',
    url: '/v1/admin/audit',
    config: { access: 'operator', errors: ['OPERATOR_KEY_REQUIRED', 'INVALID_CURSOR'] },
    schema: {
      summary: 'Changes of all organizations and of the deployment, newest first',
      querystring: AdminAuditQuery,
      response: { 200: AuditPage },
    },
    handler: (request) => page(request.query.org_id, request.query),
  });
}
