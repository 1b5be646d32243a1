/** /v1/sip/port: number porting for customers (contract 5.1 to 5.4). Signature pages are in sign-routes.ts. */
import { plain } from '#shared/api/common.ts';
import {
  PortCanceled,
  PortCheck,
  PortCheckQuery,
  PortInitiate,
  PortInitiated,
  PortLetterQuery,
  PortList,
  PortOne,
  PortPath,
  PortQuery,
} from '#shared/api/porting.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf } from '../audit/index.ts';
import type { Db } from '../db/index.ts';
import { type App, keepAnswer, orgOf, totalHeader } from '../http/index.ts';
import { adminRoutes } from './admin-routes.ts';
import { carrierRoutes } from './carrier-routes.ts';
import type { PortingDeps } from './deps.ts';
import { documentRoutes } from './document-routes.ts';
import { sendFile } from './files.ts';
import { initiatePort } from './initiate.ts';
import { changePorts, moveNumbers } from './moves.ts';
import type { PortingParts } from './parts.ts';
import { numbersOfQuery } from './portability-rules.ts';
import { letterFile, letterWords } from './sign.ts';
import { signRoutes } from './sign-routes.ts';
import { countRequests, findRequest, listRequests, type PortRequest } from './store.ts';
import { detailView, summaryViews } from './views.ts';

const defaultPage = 100;

export function portingRoutes(app: App, services: PortingDeps, parts: PortingParts): void {
  documentRoutes(app, services, parts);
  requestRoutes(app, services, parts);
  signRoutes(app, services);
  adminRoutes(app, services, parts);
  carrierRoutes(app, services);
}

function requestRoutes(app: App, services: PortingDeps, { check }: PortingParts): void {
  const { db } = services.database;

  app.route({
    method: 'GET',
    url: '/v1/sip/port/check',
    config: { access: 'read', errors: ['INVALID_PHONE_NUMBERS', 'SERVICE_UNAVAILABLE'] },
    schema: {
      summary: 'Whether numbers can be ported',
      querystring: PortCheckQuery,
      response: { 200: PortCheck },
    },
    handler: async (request) => plain({ results: await check(numbersOfQuery(request.query)) }),
  });

  app.route({
    method: 'POST',
    url: '/v1/sip/port/initiate',
    config: {
      access: 'admin',
      atomic: true,
      // Each sends a mail and keeps a record for months.
      limits: [{ scope: 'organization_port_initiate', limit: 50, windowSeconds: 900 }],
      errors: [
        'TARGET_PORT_DATE_TOO_EARLY',
        'PIN_REQUIRED',
        'DOCUMENT_NOT_FOUND',
        'NOT_PORTABLE',
        'INVALID_PHONE_NUMBERS',
        'PORT_ALREADY_IN_PROGRESS',
        'QUOTA_EXCEEDED',
        'SERVICE_UNAVAILABLE',
      ],
    },
    schema: {
      summary: 'Request a port',
      description: 'The authorized representative gets a link to sign the letter of authorization by mail.',
      body: PortInitiate,
      response: { 200: PortInitiated },
    },
    handler: async (request) => {
      const caller = {
        orgId: orgOf(request),
        keyId: request.caller?.keyId ?? null,
        by: actorOf(request),
      };
      return initiatePort(services, check, caller, request.body, (trx, { id, numbers, url }) =>
        keepAnswer(
          trx,
          request,
          plain({
            port_request_id: id,
            status: 'waiting_for_signature' as const,
            signature_url: url,
            phone_numbers: [...numbers],
          }),
        ),
      );
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/port',
    config: { access: 'read' },
    schema: { summary: 'Port requests, newest first', querystring: PortQuery, response: { 200: PortList } },
    handler: async (request, reply) => {
      const { limit = defaultPage, offset = 0, status } = request.query;
      const filter = { orgId: orgOf(request), ...(status !== undefined && { status }) };
      const rows = await listRequests(db, filter, { limit, offset });
      reply.header(totalHeader, await countRequests(db, filter));
      return plain({ port_requests: await summaryViews(services, rows) });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/port/:id',
    config: { access: 'read', errors: ['PORT_NOT_FOUND'] },
    schema: { summary: 'One port request with its history', params: PortPath, response: { 200: PortOne } },
    handler: async (request) => {
      const row = await requireRequest(db, orgOf(request), request.params.id);
      return plain({ port_request: await detailView(services, db, row) });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/port/:id/letter',
    config: { access: 'member', errors: ['PORT_NOT_FOUND'] },
    schema: {
      summary: 'The letter of authorization as a PDF, or its text',
      description: 'The signed letter; before signing, the letter to sign.',
      params: PortPath,
      querystring: PortLetterQuery,
      produces: ['application/pdf', 'text/plain'],
    },
    handler: async (request, reply) => {
      const row = await requireRequest(db, orgOf(request), request.params.id);
      if (request.query.format === 'text') {
        const text = Buffer.from(await letterWords(services, db, row));
        return sendFile(reply, text, 'text/plain; charset=utf-8', `${row.id}.txt`);
      }
      return sendFile(reply, await letterFile(services, db, row), 'application/pdf', `${row.id}.pdf`);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/sip/port/:id',
    config: { access: 'admin', errors: ['PORT_NOT_FOUND', 'PORT_NOT_CANCELABLE'] },
    schema: {
      summary: 'Cancel a port request',
      description: 'Completed numbers stay completed; the others are canceled.',
      params: PortPath,
      response: { 200: PortCanceled },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const actorId = request.caller?.keyId ?? null;
      const by = actorOf(request);
      await changePorts(services, async (trx, altered) => {
        const row = await requireRequest(trx, orgId, request.params.id);
        if (row.status === 'canceled') return;
        if (row.status === 'completed' || row.status === 'failed')
          throw ApiError.of('PORT_NOT_CANCELABLE', { status: row.status });
        const move = { to: 'canceled', numbers: null, actor: 'customer', actorId, by, reason: null } as const;
        await moveNumbers(services, trx, altered, row.id, move);
      });
      return plain({ canceled: true as const });
    },
  });
}

async function requireRequest(db: Db, orgId: string, id: string): Promise<PortRequest> {
  const row = await findRequest(db, orgId, id);
  if (!row) throw ApiError.of('PORT_NOT_FOUND');
  return row;
}
