/**
 * /v1/edge/recordings: an edge sends what it recorded, in parts. Authenticated by the edge token, like the edge link.
 *
 *     begin {header} ──> {received} ──parts at the end──> {received} … ──complete──> ready
 *
 * `received` is always how many octets are stored: an edge that was cut off goes on there. What no key here can ever open
 * is refused for good (400), and stays on the edge.
 */
import type { FastifyRequest } from 'fastify';
import { plain } from '#shared/api/common.ts';
import {
  EdgeRecordingAt,
  EdgeRecordingBegin,
  EdgeRecordingPath,
  EdgeRecordingState,
} from '#shared/api/recordings.ts';
import { ApiError } from '#shared/errors.ts';
import { decodeHeader, type RecordingHeader } from '#shared/recording/format.ts';
import type { RecordingRow } from '../db/index.ts';
import type { App } from '../http/index.ts';
import { findEdgeToken, keyOfHeader } from '../organizations/index.ts';
import { dataKeyOf, Unopenable } from './data-keys.ts';
import type { RecordingsDeps } from './deps.ts';
import { beginRecording, findRecording, finishRecording, restartRecording } from './store.ts';
import { factsOf } from './unfinished.ts';

/** Of one part. */
const mostPartBytes = 1_048_576;

export function edgeRecordingRoutes(app: App, services: RecordingsDeps): void {
  const { clock, database, recordingContents, recordingStorage, wrongKeys } = services;
  const { db } = database;
  const onRequest = async (request: FastifyRequest) => {
    const token = keyOfHeader(request.headers.authorization);
    if (token === null || (await findEdgeToken(db, clock, token)) === null) {
      throw await wrongKeys.refusal(request.ip, token);
    }
  };
  const config = { access: 'edge' } as const;
  const answer = ({ state, received }: Pick<RecordingRow, 'state' | 'received'>) =>
    plain({ state, received });

  app.route({
    method: 'POST',
    url: '/v1/edge/recordings',
    config,
    schema: { hide: true, body: EdgeRecordingBegin, response: { 200: EdgeRecordingState } },
    onRequest,
    handler: async (request) => {
      const begin = decodeHeader(Buffer.from(request.body.header, 'base64'));
      if (!begin) throw ApiError.invalid('/header', 'must be the header of a recording');
      return answer(await begun(begin.header));
    },
  });

  app.register(async (scope: App) => {
    scope.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, bytes, done) =>
      done(null, bytes),
    );
    scope.route({
      method: 'PUT',
      url: '/v1/edge/recordings/:id',
      config,
      bodyLimit: mostPartBytes,
      schema: {
        hide: true,
        params: EdgeRecordingPath,
        querystring: EdgeRecordingAt,
        response: { 200: EdgeRecordingState },
      },
      onRequest,
      handler: async (request) => {
        const bytes: unknown = request.body;
        if (!Buffer.isBuffer(bytes)) throw ApiError.invalid('', 'must be octets of a recording');
        const row = await required(request.params.id);
        if (row.state === 'uploading' && row.received === request.query.at)
          await recordingContents.append(row, request.query.at, bytes);
        return answer(await required(row.id));
      },
    });
  });

  app.route({
    method: 'POST',
    url: '/v1/edge/recordings/:id/complete',
    config,
    schema: { hide: true, params: EdgeRecordingPath, response: { 200: EdgeRecordingState } },
    onRequest,
    handler: async (request) => {
      const row = await required(request.params.id);
      if (row.state === 'uploading') {
        const facts = await orRefused(factsOf(services, row));
        await db.transaction().execute(async (trx) => {
          if (await finishRecording(trx, row.id, facts)) await recordingStorage.add(trx, row);
        });
        recordingStorage.wake();
      }
      return answer(await required(row.id));
    },
  });

  /** The row of what an edge begins to send; without octets when those that it has sent are not here any more. */
  async function begun(header: RecordingHeader): Promise<RecordingRow> {
    const place = recordingContents.place;
    const known = await findRecording(db, header.id);
    if (known && known.state !== 'uploading') return known;
    await orRefused(dataKeyOf(services, known ?? { id: header.id, ...header.key }));
    const row = known ?? (await beginRecording(db, header, place));
    // As after a restore without recordings. The edge still has all of them.
    if (row.received === 0 || (await recordingContents.has(row))) return row;
    await restartRecording(db, row, place);
    return required(row.id);
  }

  async function required(id: string): Promise<RecordingRow> {
    const row = await findRecording(db, id);
    if (!row) throw ApiError.of('RECORDING_NOT_FOUND');
    return row;
  }
}

/** @throws ApiError when nothing here can ever open the recording: the edge puts it aside then */
async function orRefused<T>(opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    if (!(error instanceof Unopenable)) throw error;
    throw ApiError.invalid('/header', `cannot be opened here: ${error.message}`);
  }
}
