/** /v1/sip/port/document: proofs of ownership (contract 5.2). */

import multipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { plain } from '#shared/api/common.ts';
import {
  OwnDocumentPath,
  PortDocumentDeleted,
  type PortDocumentLine,
  PortDocumentList,
  PortDocumentOne,
  PortDocumentQuery,
  PortDocumentUpload,
  PortDocumentUploaded,
} from '#shared/api/porting.ts';
import { counted } from '#shared/counted.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { type Actor, actorOf, recordChange } from '../audit/index.ts';
import type { Db, PortDocumentRow } from '../db/index.ts';
import { type App, orgOf } from '../http/index.ts';
import type { PortingDeps } from './deps.ts';
import {
  countUnused,
  deleteDocument,
  documentSubject,
  expireDocument,
  findDocument,
  insertDocument,
  listDocuments,
  requestsNaming,
} from './documents-store.ts';
import type { PortingParts } from './parts.ts';
import { mediaTypeOf, readUpload, Upload } from './upload.ts';

/** How long an unused document is kept, s: its place is freed then at the latest. */
const keptSeconds = 90 * 24 * 60 * 60;
const retryAfter = 3600;

export function documentRoutes(app: App, services: PortingDeps, parts: PortingParts): void {
  const { gate } = parts;
  keptRoutes(app, services, parts);
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers();
    await scope.register(multipart);
    // Read here rather than in the handler, so that idempotency can compare the body.
    scope.removeContentTypeParser('multipart/form-data');
    scope.addContentTypeParser('multipart/form-data', async (request: FastifyRequest) => {
      request.isMultipart = () => true;
      return gate.run(() => readUpload(request));
    });
    scope.route({
      method: 'POST',
      url: '/v1/sip/port/document',
      config: {
        access: 'member',
        errors: ['FILE_TOO_LARGE', 'UNSUPPORTED_FILE_TYPE', 'SERVICE_UNAVAILABLE'],
      },
      schema: {
        summary: 'Upload a proof of ownership',
        description:
          'A utility bill or an invoice of the losing carrier. Stored encrypted; deleted after 90 days when no port request uses it.',
        consumes: ['multipart/form-data'],
        body: PortDocumentUpload,
        response: { 200: PortDocumentUploaded },
      },
      // The parts were validated as they were read; the schema only describes them.
      validatorCompiler: () => (value: unknown) => ({ value }),
      handler: async (request) => {
        const upload: unknown = request.body;
        if (!(upload instanceof Upload)) throw ApiError.invalid('/file', 'required');
        const by = actorOf(request);
        return plain({ document_sid: await storeDocument(services, parts, orgOf(request), by, upload) });
      },
    });
  });
}

function keptRoutes(app: App, services: PortingDeps, { files }: PortingParts): void {
  const { database, clock } = services;
  const { db } = database;
  const url = '/v1/sip/port/document/:document_sid';
  // An unknown document in a body is a bad request; in a path it is not found.
  const unknown = { errors: ['DOCUMENT_NOT_FOUND'], errorStatuses: { DOCUMENT_NOT_FOUND: 404 } } as const;

  app.route({
    method: 'GET',
    url: '/v1/sip/port/document',
    config: { access: 'read' },
    schema: {
      summary: 'Uploaded documents, newest first',
      querystring: PortDocumentQuery,
      response: { 200: PortDocumentList },
    },
    handler: async (request) => {
      const { limit = 50, offset = 0 } = request.query;
      const { rows, total } = await listDocuments(db, orgOf(request), { limit, offset });
      return plain({ documents: rows.map(documentLine), total_count: total });
    },
  });

  app.route({
    method: 'GET',
    url,
    config: { access: 'read', ...unknown },
    schema: { summary: 'One document', params: OwnDocumentPath, response: { 200: PortDocumentOne } },
    handler: async (request) =>
      plain({
        document: documentLine(await requireDocument(db, orgOf(request), request.params.document_sid)),
      }),
  });

  app.route({
    method: 'DELETE',
    url,
    config: { access: 'member', ...unknown, errors: ['DOCUMENT_NOT_FOUND', 'DOCUMENT_IN_USE'] },
    schema: {
      summary: 'Delete an unused document',
      params: OwnDocumentPath,
      response: { 200: PortDocumentDeleted },
    },
    handler: async (request) => {
      const row = await requireDocument(db, orgOf(request), request.params.document_sid);
      // Marked as deleted first: a crash leaves a row, whose file is deleted later.
      await db.transaction().execute(async (trx) => {
        if (!(await expireDocument(trx, row.id, new Date(clock.now()).toISOString()))) {
          throw ApiError.of('DOCUMENT_IN_USE', { port_request_ids: await requestsNaming(trx, row.id) });
        }
        const change = { ...changeOf(row.org_id, row.id), action: 'document_delete' };
        await recordChange(trx, clock, actorOf(request), change);
      });
      await files.delete(row.file_name);
      await deleteDocument(db, row.id);
      return plain({ deleted: true as const });
    },
  });
}

async function requireDocument(db: Db, orgId: string, id: string): Promise<PortDocumentRow> {
  const row = await findDocument(db, orgId, id);
  if (!row) throw ApiError.of('DOCUMENT_NOT_FOUND').answeredWith(404);
  return row;
}

function documentLine({ id, created_at, media_type, referenced, size }: PortDocumentRow): PortDocumentLine {
  return { document_sid: id, media_type, size, created_at, in_use: referenced === 1 };
}

function changeOf(orgId: string, subject: string) {
  return { orgId, area: 'porting', subject };
}

/** @throws ApiError UNSUPPORTED_FILE_TYPE, RATE_LIMITED, SERVICE_UNAVAILABLE */
async function storeDocument(
  services: PortingDeps,
  { files, metrics, scan }: PortingParts,
  orgId: string,
  by: Actor,
  { bytes, hash }: Upload,
): Promise<string> {
  const { clock, database } = services;
  const { db } = database;
  const media_type = await mediaTypeOf(bytes);
  const limit = services.limits.porting.unusedDocuments;
  if ((await countUnused(db, orgId)) >= limit) {
    const details = { limit, window_seconds: keptSeconds, scope: 'unused_documents' };
    const message = `An organization may have at most ${counted(limit, 'unused document')}; delete one, or use one in a port request.`;
    throw ApiError.of('RATE_LIMITED', details, message).waiting(retryAfter);
  }
  const found = await scan(bytes).catch((error: unknown) => {
    metrics.document('unscanned');
    throw error;
  });
  if (found !== null) {
    metrics.document('infected');
    throw ApiError.of('UNSUPPORTED_FILE_TYPE', { virus: found }, 'The virus scan rejected the file.');
  }
  const id = `doc_${newId()}`;
  await files.write(id, bytes, (file_name, content) =>
    db.transaction().execute(async (trx) => {
      await content(trx);
      await insertDocument(trx, {
        id,
        org_id: orgId,
        file_name,
        media_type,
        size: bytes.length,
        hash,
        created_at: new Date(clock.now()).toISOString(),
        referenced: 0,
        expired_at: null,
      });
      await recordChange(trx, clock, by, { ...changeOf(orgId, id), action: 'document_upload' });
    }),
  );
  metrics.document('stored');
  services.announcements.announce(documentSubject);
  return id;
}
