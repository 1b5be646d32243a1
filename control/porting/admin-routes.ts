/** /v1/admin/ports: operators' work on port requests (contract 5.7). */
import { plain } from '#shared/api/common.ts';
import {
  AdminPortList,
  AdminPortOne,
  AdminPortQuery,
  PortDocumentPath,
  PortLetterQuery,
  PortMove,
  PortPath,
} from '#shared/api/porting.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf } from '../audit/index.ts';
import type { Db } from '../db/index.ts';
import { type App, keepAnswer } from '../http/index.ts';
import type { PortingDeps } from './deps.ts';
import { documentsOf } from './documents-store.ts';
import { sendFile } from './files.ts';
import { isDate } from './initiate-rules.ts';
import { changePorts, moveNumbers } from './moves.ts';
import type { PortingParts } from './parts.ts';
import { requireNumbers } from './portability-rules.ts';
import { letterFile, letterWords } from './sign.ts';
import { countRequests, findRequest, listRequests, type PortRequest } from './store.ts';
import { detailView, summaryViews } from './views.ts';

const defaultPage = 100;

export function adminRoutes(app: App, services: PortingDeps, { files }: PortingParts): void {
  const { db } = services.database;
  const operator = { access: 'operator' } as const;

  app.route({
    method: 'GET',
    url: '/v1/admin/ports',
    config: { ...operator, errors: ['OPERATOR_KEY_REQUIRED'] },
    schema: {
      summary: 'Port requests of all organizations, newest first',
      querystring: AdminPortQuery,
      response: { 200: AdminPortList },
    },
    handler: async (request) => {
      const { limit = defaultPage, offset = 0, org_id: orgId, status } = request.query;
      const filter = { ...(orgId !== undefined && { orgId }), ...(status !== undefined && { status }) };
      const rows = await listRequests(db, filter, { limit, offset });
      const views = await summaryViews(services, rows);
      const port_requests = views.map((view, index) => ({ ...view, org_id: rows[index]?.org_id ?? '' }));
      return plain({ port_requests, total_count: await countRequests(db, filter) });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/admin/ports/:id',
    config: { ...operator, errors: ['OPERATOR_KEY_REQUIRED', 'PORT_NOT_FOUND'] },
    schema: { summary: 'One port request', params: PortPath, response: { 200: AdminPortOne } },
    handler: async (request) =>
      plain(await adminView(services, db, await requireRequest(db, request.params.id))),
  });

  app.route({
    method: 'POST',
    url: '/v1/admin/ports/:id/status',
    config: {
      ...operator,
      atomic: true,
      errors: [
        'OPERATOR_KEY_REQUIRED',
        'INVALID_PHONE_NUMBERS',
        'PORT_NOT_FOUND',
        'INVALID_TRANSITION',
        'NUMBER_IN_USE',
      ],
    },
    schema: {
      summary: 'Move numbers of a port request to a state',
      description: 'All or none. Numbers already in that state are unchanged.',
      params: PortPath,
      body: PortMove,
      response: { 200: AdminPortOne },
    },
    handler: async (request) => {
      const { foc_date, phone_numbers, reason, status } = request.body;
      if ((status === 'failed' || status === 'canceled') && reason === undefined)
        throw ApiError.invalid('/reason', 'required for failed and canceled');
      if (foc_date !== undefined && !isDate(foc_date))
        throw ApiError.invalid('/foc_date', 'must be a date (YYYY-MM-DD)');
      const move = {
        to: status,
        numbers: phone_numbers ? requireNumbers(phone_numbers) : null,
        actor: 'operator',
        actorId: request.caller?.keyId ?? null,
        by: actorOf(request),
        reason: reason ?? null,
        ...(foc_date !== undefined && { focDate: foc_date }),
      } as const;
      return changePorts(services, async (trx, altered) => {
        const row = await moveNumbers(services, trx, altered, request.params.id, move);
        return keepAnswer(trx, request, plain(await adminView(services, trx, row)));
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/admin/ports/:id/letter',
    config: { ...operator, errors: ['OPERATOR_KEY_REQUIRED', 'PORT_NOT_FOUND'] },
    schema: {
      summary: 'The letter of authorization as a PDF, or its text',
      params: PortPath,
      querystring: PortLetterQuery,
      produces: ['application/pdf', 'text/plain'],
    },
    handler: async (request, reply) => {
      const row = await requireRequest(db, request.params.id);
      if (request.query.format === 'text') {
        const text = Buffer.from(await letterWords(services, db, row));
        return sendFile(reply, text, 'text/plain; charset=utf-8', `${row.id}.txt`);
      }
      return sendFile(reply, await letterFile(services, db, row), 'application/pdf', `${row.id}.pdf`);
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/admin/ports/:id/documents/:document_id',
    config: { ...operator, errors: ['OPERATOR_KEY_REQUIRED', 'PORT_NOT_FOUND'] },
    schema: {
      summary: 'A document of a port request',
      params: PortDocumentPath,
      produces: ['application/pdf', 'image/png', 'image/jpeg', 'image/gif', 'image/webp'],
    },
    handler: async (request, reply) => {
      const { document_id, id } = request.params;
      const document = (await documentsOf(db, id)).find((one) => one.id === document_id);
      if (!document)
        throw ApiError.of('PORT_NOT_FOUND', undefined, 'There is no such document of a port request.');
      const bytes = await files.read(document.id, document.file_name);
      return sendFile(
        reply,
        bytes,
        document.media_type,
        `${document.id}.${extensionOf(document.media_type)}`,
      );
    },
  });
}

function extensionOf(mediaType: string): string {
  return mediaType.slice(mediaType.indexOf('/') + 1);
}

async function adminView(services: PortingDeps, db: Db, row: PortRequest) {
  return { port_request: { ...(await detailView(services, db, row)), org_id: row.org_id } };
}

async function requireRequest(db: Db, id: string): Promise<PortRequest> {
  const row = await findRequest(db, null, id);
  if (!row) throw ApiError.of('PORT_NOT_FOUND');
  return row;
}
