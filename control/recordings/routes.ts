/** /v1/calls/recordings and /v1/calls/{id}/recording: what customers do with recordings (contract 9.7). */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RunPath } from '#shared/api/agent-testing/runs.ts';
import { NoMembers, plain } from '#shared/api/common.ts';
import {
  RecordedCallPath,
  type RecordingDetails,
  RecordingDone,
  RecordingFormatQuery,
  RecordingList,
  RecordingOne,
  RecordingPeaks,
  RecordingsQuery,
} from '#shared/api/recordings.ts';
import { ApiError } from '#shared/errors.ts';
import { frameMs } from '#shared/recording/format.ts';
import { actorOf, recordChange } from '../audit/index.ts';
import { findCall } from '../calls/index.ts';
import { fromJson, type RecordingRow } from '../db/index.ts';
import { type App, answerOver, nextAfter, orgOf } from '../http/index.ts';
import { dataKeyOf, Unopenable } from './data-keys.ts';
import type { RecordingsDeps } from './deps.ts';
import { edgeRecordingRoutes } from './edge-routes.ts';
import { chosenFormat } from './format-choice.ts';
import { OpusStreams } from './opus/opus-streams.ts';
import { recordingStorageRoutes } from './storage/routes.ts';
import {
  emptyRecording,
  findRecordingOf,
  type ListedRecording,
  listRecordings,
  recordedCallOfRun,
} from './store.ts';
import { pcm, readRange, type WavSource, wavBytes, wavPart } from './wav.ts';

const defaultPage = 50;
/** Of calls and of test runs together. */
const listening = [{ scope: 'organization_recordings', limit: 120, windowSeconds: 60 }];

export function recordingRoutes(app: App, services: RecordingsDeps): void {
  edgeRecordingRoutes(app, services);
  recordingStorageRoutes(app, services);
  const { clock, database, edges, recordingContents, recordingStorage } = services;
  const { db } = database;
  const opus = new OpusStreams(clock);
  app.addHook('onClose', () => opus.close());

  app.route({
    method: 'GET',
    url: '/v1/calls/recordings',
    config: { access: 'read' },
    schema: {
      summary: 'Recordings, newest first',
      querystring: RecordingsQuery,
      response: { 200: RecordingList },
    },
    handler: async (request) => {
      const { before, limit = defaultPage } = request.query;
      const rows = await listRecordings(db, orgOf(request), before, limit);
      return plain({ recordings: rows.map(detailsOf), next: nextAfter(rows, limit, ({ id }) => id) });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/calls/:call_id/recording/details',
    config: { access: 'read', errors: ['RECORDING_NOT_FOUND'] },
    schema: {
      summary: 'When a call was recorded, and why the recording ended',
      params: RecordedCallPath,
      response: { 200: RecordingOne },
    },
    handler: async (request) =>
      plain({ recording: detailsOf(await required(orgOf(request), request.params.call_id)) }),
  });

  app.route({
    method: 'GET',
    url: '/v1/calls/:call_id/recording/peaks',
    config: { access: 'read', errors: ['RECORDING_NOT_FOUND', 'RECORDING_NOT_READY'] },
    schema: {
      summary: 'How loud a recording is over its time, for a drawing',
      description: 'At most 1000 values for each side, for equal parts of the time.',
      params: RecordedCallPath,
      response: { 200: RecordingPeaks },
    },
    handler: async (request) => {
      const { frames, peaks } = await ready(orgOf(request), request.params.call_id);
      return plain({ duration_ms: frames * frameMs, peaks: fromJson(peaks) });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/calls/:call_id/recording',
    // Fastify would read and encode the whole recording, and send none of it.
    exposeHeadRoute: false,
    config: {
      access: 'read',
      limits: listening,
      errors: ['RECORDING_NOT_FOUND', 'RECORDING_NOT_READY', 'RANGE_NOT_SATISFIABLE'],
    },
    schema: {
      summary: 'The recording of a call as a WAV file, or as Opus in Ogg',
      description:
        '16-bit PCM at 8 kHz, the peer left and the agent right. A Range header with one range gets 206 with that part of the WAV file. Opus, by format or by Accept: audio/ogg, has a tenth of its size, and no ranges.',
      params: RecordedCallPath,
      querystring: RecordingFormatQuery,
      produces: ['audio/wav', 'audio/ogg'],
    },
    handler: async (request, reply) => {
      return send(request, reply, await ready(orgOf(request), request.params.call_id));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/agent-testing/runs/:id/recording',
    exposeHeadRoute: false,
    config: {
      access: 'read',
      limits: listening,
      errors: ['RUN_NOT_FOUND', 'RECORDING_NOT_FOUND', 'RECORDING_NOT_READY', 'RANGE_NOT_SATISFIABLE'],
    },
    schema: {
      summary: 'The recording of a run over a call, as that of its call',
      params: RunPath,
      querystring: RecordingFormatQuery,
      produces: ['audio/wav', 'audio/ogg'],
    },
    handler: async (request, reply) => {
      const orgId = orgOf(request);
      const callId = await recordedCallOfRun(db, orgId, request.params.id);
      return send(request, reply, await ready(orgId, callId));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/calls/:call_id/recording',
    config: { access: 'member', errors: ['RECORDING_NOT_FOUND'] },
    schema: {
      summary: 'Delete a recording for good',
      params: RecordedCallPath,
      response: { 200: RecordingDone },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const row = await required(orgId, request.params.call_id);
      await db.transaction().execute(async (trx) => {
        await emptyRecording(trx, row.id);
        const change = { orgId, area: 'recordings', subject: row.call_id, action: 'delete' };
        await recordChange(trx, clock, actorOf(request), change);
      });
      await recordingContents.delete(row.id);
      recordingStorage.wake();
      return { status: 'success' as const, message: 'Recording deleted' };
    },
  });

  for (const action of ['pause', 'resume'] as const) {
    app.route({
      method: 'POST',
      url: `/v1/calls/:call_id/recording/${action}`,
      config: {
        access: 'member',
        resumable: true,
        errors: ['CALL_NOT_FOUND', 'CALL_NOT_ACTIVE', 'RECORDING_NOT_ACTIVE', 'SERVICE_UNAVAILABLE'],
      },
      schema: {
        summary:
          action === 'pause' ? 'Record nothing of a running call until resume' : 'Record again after a pause',
        params: RecordedCallPath,
        body: NoMembers,
        response: { 200: RecordingDone },
      },
      handler: async (request) => {
        const call = await findCall(db, orgOf(request), request.params.call_id);
        if (!call) throw ApiError.of('CALL_NOT_FOUND');
        if (call.ended_at !== null) throw ApiError.of('CALL_NOT_ACTIVE');
        await edges.command(call.edge_id, { kind: 'call.recording', call_id: call.id, action });
        return {
          status: 'success' as const,
          message: action === 'pause' ? 'Recording paused' : 'Recording resumed',
        };
      },
    });
  }

  async function send(
    request: Pick<FastifyRequest, 'headers'> & { readonly query: { readonly format?: 'wav' | 'opus' } },
    reply: FastifyReply,
    row: ReadyRecording,
  ) {
    reply.header('vary', 'accept');
    if ((request.query.format ?? chosenFormat(request.headers.accept)) === 'opus') {
      const pages = await opened(row, reply, (source) =>
        opus.encoded(row.org_id, pcm(source, 0, source.frames)),
      );
      return reply
        .type('audio/ogg; codecs=opus')
        .header('content-disposition', `attachment; filename="${row.call_id}.opus"`)
        .send(pages);
    }
    const size = wavBytes(row.frames);
    const range = readRange(request.headers.range, size);
    reply.header('accept-ranges', 'bytes');
    if (range === 'unsatisfiable') {
      reply.header('content-range', `bytes */${size}`);
      throw ApiError.of('RANGE_NOT_SATISFIABLE', { size });
    }
    const { from, to } = range ?? { from: 0, to: size };
    if (range) reply.code(206).header('content-range', `bytes ${from}-${to - 1}/${size}`);
    const part = (source: WavSource) => Readable.from(wavPart(source, from, to), { objectMode: false });
    const file = await opened(row, reply, part);
    return reply
      .type('audio/wav')
      .header('content-length', to - from)
      .header('content-disposition', `attachment; filename="${row.call_id}.wav"`)
      .send(file);
  }

  /** A stream of a recording for an answer, which ends with it. @throws ApiError when it cannot be read */
  async function opened(
    row: ReadyRecording,
    reply: Pick<FastifyReply, 'raw'>,
    streamOf: (source: WavSource) => Readable,
  ): Promise<Readable> {
    const dataKey = await dataKeyOf(services, row).catch((error: unknown) => {
      if (!(error instanceof Unopenable)) throw error;
      throw ApiError.of('RECORDING_NOT_FOUND', undefined, 'The key of the recording is not here.');
    });
    // Before the storage is asked, which takes its time: a client that goes meanwhile must not keep its place.
    const ending = new AbortController();
    const signal = AbortSignal.any([answerOver(reply), ending.signal]);
    try {
      const { read } = await recordingStorage.open(row, { signal, lost: () => reply.raw.destroy() });
      signal.throwIfAborted();
      const source = { id: row.id, frames: row.frames, runs: fromJson(row.runs), dataKey, read };
      return streamOf(source);
    } catch (error) {
      ending.abort(error);
      throw error;
    }
  }

  async function required(orgId: string, callId: string): Promise<RecordingRow> {
    const row = await findRecordingOf(db, orgId, callId);
    if (!row) throw ApiError.of('RECORDING_NOT_FOUND');
    return row;
  }

  async function ready(orgId: string, callId: string): Promise<ReadyRecording> {
    const { frames, runs, peaks, ...row } = await required(orgId, callId);
    // Also of one that an edge has not completed: unfinished.ts.
    if (frames === null || runs === null || peaks === null) throw ApiError.of('RECORDING_NOT_READY');
    return { ...row, frames, runs, peaks };
  }
}

type Found = 'frames' | 'runs' | 'peaks';
type ReadyRecording = RecordingRow & { readonly [Field in Found]: NonNullable<RecordingRow[Field]> };

function detailsOf({
  id,
  call_id,
  started_at,
  state,
  frames,
  ended,
  pauses,
}: ListedRecording): RecordingDetails {
  return {
    recording_id: id,
    call_id,
    started_at,
    state: state === 'ready' ? 'ready' : 'uploading',
    duration_ms: frames === null ? null : frames * frameMs,
    size: frames === null ? null : wavBytes(frames),
    ended,
    pauses: (pauses === null ? [] : fromJson(pauses)).map(({ from, to }) => ({
      from_ms: from * frameMs,
      to_ms: to * frameMs,
    })),
  };
}
