/**
 * Idempotency-Key (contract 1.8): the first answer to a POST is kept for a day and given again.
 *
 *     no row --begins--> working --answered--> answer kept
 *                           |  5xx, 429: ----> no row
 *                           |  the program ended: repeated, the request takes the work up again where its route
 *                           |  can (`resumable`), or where it had all or nothing done (`atomic`); elsewhere it is
 *                           |  refused, as nobody knows how far the work came
 *
 * Requests of one key that overlap wait for the first.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import type { Db, IdempotentAnswerRow, SecretBox } from '../db/index.ts';
import type { App } from './app-types.ts';
import { hashBody } from './body-hash.ts';
import { beginWork, endWork, findAnswer, findWork, keepWork, type Place } from './idempotency-store.ts';

const keyForm = /^[\x20-\x7e]{1,255}$/;

interface Running {
  readonly place: Place;
  readonly bodyHash: string;
  /** null: not yet stored as begun */
  work: { readonly id: string; readonly again: boolean } | null;
  readonly ended: Promise<void>;
  readonly end: () => void;
  /** Whether the answer was kept with the work. */
  kept: boolean;
  keep(db: Db, payload: string): Promise<void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    idempotent: Running | null;
    /** Within which the keys of a request without an API key stand; null where none do. */
    keyScope: { readonly orgId: string; readonly name: string } | null;
  }
  interface FastifyContextConfig {
    /**
     * The handler may do its work again after a crash in the midst of it: it finds what it did by `workOf`, or what is
     * done twice is as if it were done once.
     */
    resumable?: boolean;
    /** All that the handler does, it does in one transaction, which also keeps its answer (`keepAnswer`). */
    atomic?: boolean;
  }
}

export interface IdempotencyParts {
  readonly database: { readonly db: Db };
  readonly clock: Clock;
  /** Seals the kept answers: some show a secret for the only time. */
  readonly secrets: SecretBox;
  readonly config: { readonly instanceId: string };
}

/** The work of a request: the id to give to the row it makes, and whether it may have been begun before. */
export function workOf(request: Pick<FastifyRequest, 'idempotent'>): { id: string; again: boolean } {
  return request.idempotent?.work ?? { id: newId(), again: false };
}

/**
 * Keeps the answer of an `atomic` route in the transaction of its work: after a crash either both are there or neither.
 * @param answer what the handler returns, with status 200
 */
export async function keepAnswer<T>(
  db: Db,
  request: Pick<FastifyRequest, 'idempotent'>,
  answer: T,
): Promise<T> {
  await request.idempotent?.keep(db, JSON.stringify(answer));
  return answer;
}

const jsonType = 'application/json; charset=utf-8';

export function addIdempotency(app: App, parts: IdempotencyParts): void {
  const { clock, config, secrets } = parts;
  const { db } = parts.database;
  const running = new Map<string, Running>();
  const answerRow = ({ bodyHash, place }: Running, status: number, type: string, payload: string) => ({
    body_hash: bodyHash,
    status,
    content_type: type,
    answer: secrets.seal(payload, answerContext(place)),
    created_at: new Date(clock.now()).toISOString(),
  });
  const begin = (place: Place, bodyHash: string): Running => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const mine: Running = {
      place,
      bodyHash,
      work: null,
      ended: promise,
      end: resolve,
      kept: false,
      keep: async (trx, payload) => {
        await keepWork(trx, place, answerRow(mine, 200, jsonType, payload));
        mine.kept = true;
      },
    };
    return mine;
  };
  app.decorateRequest('idempotent', null);
  app.decorateRequest('keyScope', null);

  app.addHook('preValidation', async (request, reply) => {
    const place = placeOf(request);
    if (!place) return;
    const bodyHash = hashBody(request.body);
    const name = JSON.stringify(place);
    for (let first = running.get(name); first; first = running.get(name)) {
      if (first.bodyHash !== bodyHash) throw ApiError.of('IDEMPOTENCY_CONFLICT');
      await first.ended;
    }
    const mine = begin(place, bodyHash);
    running.set(name, mine);
    request.idempotent = mine;
    const stored = await findAnswer(db, clock, place);
    const begun = stored ? undefined : await findWork(db, clock, place);
    const earlier = stored ?? begun;
    if (earlier && earlier.body_hash !== bodyHash) {
      finish(request, running);
      throw ApiError.of('IDEMPOTENCY_CONFLICT');
    }
    if (stored) {
      finish(request, running);
      return replay(reply, stored, secrets);
    }
    const { atomic = false, resumable = false } = request.routeOptions.config;
    if (begun && !resumable && !atomic) {
      finish(request, running);
      throw unknownOutcome(begun.created_at);
    }
    mine.work = begun
      ? { id: begun.work_id, again: !atomic }
      : { id: await beginWork(db, clock, place, { bodyHash, instance: config.instanceId }), again: false };
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const mine = request.idempotent;
    if (!mine || typeof payload !== 'string') return payload;
    const { statusCode } = reply;
    const isKept = statusCode < 500 && statusCode !== 429;
    if ((mine.work || isKept) && !(mine.kept && statusCode === 200)) {
      const type = String(reply.getHeader('content-type') ?? jsonType);
      await endWork(db, mine.place, isKept ? answerRow(mine, statusCode, type, payload) : null);
    }
    finish(request, running);
    return payload;
  });

  app.addHook('onResponse', async (request) => finish(request, running));
}

function placeOf(request: FastifyRequest): Place | null {
  const key = request.headers['idempotency-key'];
  const { caller, keyScope, method, url } = request;
  if (method !== 'POST' || key === undefined) return null;
  const path = url.split('?', 1)[0] ?? '';
  const within = caller
    ? { org_id: caller.kind === 'customer' ? caller.orgId : `operator:${caller.keyId}`, path }
    : keyScope && { org_id: keyScope.orgId, path: `${keyScope.name} ${path}` };
  if (!within) return null;
  if (typeof key !== 'string' || !keyForm.test(key)) {
    throw ApiError.invalid('@idempotency-key', 'must be 1 to 255 printable characters');
  }
  return { ...within, key };
}

/** The work began, and this program did not live to answer it. */
function unknownOutcome(begunAt: string): ApiError {
  return ApiError.of(
    'IDEMPOTENCY_CONFLICT',
    { outcome: 'unknown', begun_at: begunAt },
    `The first request with this Idempotency-Key began at ${begunAt} and was cut off by a restart: it may or may not ` +
      'have been carried out. Look with GET whether its result is there; to do the work again, send a new key.',
  );
}

function finish(request: FastifyRequest, running: Map<string, Running>): void {
  const mine = request.idempotent;
  if (!mine) return;
  request.idempotent = null;
  running.delete(JSON.stringify(mine.place));
  mine.end();
}

function answerContext({ org_id, path, key }: Place): string {
  return `idempotent_answer:${JSON.stringify([org_id, path, key])}`;
}

/** An answer that an earlier version kept is plain JSON. */
function openAnswer(stored: IdempotentAnswerRow, secrets: SecretBox): string {
  return stored.answer.startsWith('{') ? stored.answer : secrets.open(stored.answer, answerContext(stored));
}

function replay(reply: FastifyReply, stored: IdempotentAnswerRow, secrets: SecretBox): FastifyReply {
  return reply
    .code(stored.status)
    .header('idempotent-replayed', 'true')
    .header('content-type', stored.content_type)
    .send(openAnswer(stored, secrets));
}
