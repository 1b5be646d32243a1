/**
 * Idempotency-Key (contract 1.8): the first response to a POST is kept for a day and returned again.
 *
 *     no row --begins--> working --answered--> response kept
 *                           |  5xx, 429: ----> no row
 *                           |  the program ended: a repeated request resumes the work where its route can
 *                           |  (`resumable`), or where all or nothing was done (`atomic`); elsewhere it is
 *                           |  rejected, because the progress is unknown
 *
 * Overlapping requests with one key wait for the first, also for that of another replica.
 */

import { createHash } from 'node:crypto';
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { newTimedId } from '#shared/ids.ts';
import { type Db, type IdempotentAnswerRow, pause, type Replica, type SecretBox } from '../db/index.ts';
import type { App } from './app-types.ts';
import {
  beginWork,
  endWork,
  findAnswer,
  findWork,
  hasWork,
  type KeyScope,
  keepWork,
  takeWork,
} from './idempotency-store.ts';

/** Interval of looks whether another replica has answered, ms. */
const otherReplicaMs = 100;
const keyForm = /^[\x20-\x7e]{1,255}$/;

interface Running {
  readonly scope: KeyScope;
  readonly bodyHash: string;
  /** null: not yet stored as begun */
  work: { readonly id: string; readonly again: boolean } | null;
  readonly ended: Promise<void>;
  readonly end: () => void;
  /** Whether the response was kept with the work. */
  kept: boolean;
  keep(db: Db, payload: string): Promise<void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    idempotent: Running | null;
    /** Scope of the keys of requests without an API key; null where they are not supported. */
    keyScope: { readonly orgId: string; readonly name: string } | null;
  }
  interface FastifyContextConfig {
    /**
     * The handler may be repeated after a crash: it finds its earlier work by `workOf`, or repeating it changes
     * nothing.
     */
    resumable?: boolean;
    /** The handler does everything in one transaction, which also keeps its response (`keepAnswer`). */
    atomic?: boolean;
  }
}

export interface IdempotencyParts {
  readonly database: { readonly db: Db };
  readonly clock: Clock;
  /** Seals the kept responses: some show a secret that is shown only once. */
  readonly secrets: SecretBox;
  readonly replica: Replica;
}

/** The work of a request: the id for the row it creates, and whether it may have been started before. */
export function workOf(
  request: Pick<FastifyRequest, 'idempotent'>,
  clock: Clock,
): { id: string; again: boolean } {
  return request.idempotent?.work ?? { id: newTimedId(clock.now()), again: false };
}

/**
 * Keeps the response of an `atomic` route in the transaction of its work: after a crash both exist or neither.
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
  const { clock, replica, secrets } = parts;
  const { db } = parts.database;
  const running = new Map<string, Running>();
  const answerRow = ({ bodyHash, scope }: Running, status: number, type: string, payload: string) => ({
    body_hash: bodyHash,
    status,
    content_type: type,
    answer: secrets.seal(payload, answerContext(scope)),
    created_at: new Date(clock.now()).toISOString(),
  });
  const begin = (scope: KeyScope, bodyHash: string): Running => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const mine: Running = {
      scope,
      bodyHash,
      work: null,
      ended: promise,
      end: resolve,
      kept: false,
      keep: async (trx, payload) => {
        // A replica that was stopped for a while has lost its work to another one.
        if (mine.work && !(await hasWork(trx, scope, replica.id)))
          throw ApiError.unavailable('Another replica has taken over this request; send it again.', 1);
        await keepWork(trx, scope, answerRow(mine, 200, jsonType, payload));
        mine.kept = true;
      },
    };
    return mine;
  };
  /** The kept answer, or the work to do; waits while another replica does it. @throws ApiError IDEMPOTENCY_CONFLICT */
  const beginOrFind = async (
    scope: KeyScope,
    bodyHash: string,
    { atomic = false, resumable = false }: Pick<FastifyContextConfig, 'atomic' | 'resumable'>,
  ): Promise<IdempotentAnswerRow | { readonly id: string; readonly again: boolean }> => {
    const instance = replica.id;
    // Others see from it that this replica lives.
    await replica.claimant();
    for (;;) {
      const stored = await findAnswer(db, clock, scope);
      const begun = stored ? undefined : await findWork(db, clock, scope);
      const earlier = stored ?? begun;
      if (earlier && earlier.body_hash !== bodyHash) throw ApiError.of('IDEMPOTENCY_CONFLICT');
      if (stored) return stored;
      if (!begun) {
        const id = await beginWork(db, clock, scope, { bodyHash, instance });
        // Another replica may have answered between the two looks: then its answer is there, and its work is gone.
        if (id !== null && !(await findAnswer(db, clock, scope))) return { id, again: false };
        if (id !== null) await endWork(db, scope, null);
      } else if (begun.alive && begun.instance !== instance) await pause(otherReplicaMs);
      else if (!resumable && !atomic) throw unknownOutcome(begun.created_at);
      else if (await takeWork(db, scope, begun, instance)) return { id: begun.work_id, again: !atomic };
    }
  };
  app.decorateRequest('idempotent', null);
  app.decorateRequest('keyScope', null);

  app.addHook('preValidation', async (request, reply) => {
    const scope = scopeOf(request);
    if (!scope) return;
    const bodyHash = hashBody(request.body);
    const name = JSON.stringify(scope);
    for (let first = running.get(name); first; first = running.get(name)) {
      if (first.bodyHash !== bodyHash) throw ApiError.of('IDEMPOTENCY_CONFLICT');
      await first.ended;
    }
    const mine = begin(scope, bodyHash);
    running.set(name, mine);
    request.idempotent = mine;
    try {
      const earlier = await beginOrFind(scope, bodyHash, request.routeOptions.config);
      if ('answer' in earlier) {
        finish(request, running);
        return replay(reply, earlier, secrets);
      }
      mine.work = earlier;
    } catch (error) {
      finish(request, running);
      throw error;
    }
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const mine = request.idempotent;
    if (!mine || typeof payload !== 'string') return payload;
    const { statusCode } = reply;
    const isKept = statusCode < 500 && statusCode !== 429;
    if ((mine.work || isKept) && !(mine.kept && statusCode === 200)) {
      const type = String(reply.getHeader('content-type') ?? jsonType);
      await endWork(db, mine.scope, isKept ? answerRow(mine, statusCode, type, payload) : null);
    }
    finish(request, running);
    return payload;
  });

  app.addHook('onResponse', async (request) => finish(request, running));
}

function scopeOf(request: FastifyRequest): KeyScope | null {
  const key = request.headers['idempotency-key'];
  const { caller, keyScope, method, routeOptions, url } = request;
  // A sign-in sets a cookie, which is not kept: it begins another session.
  if (method !== 'POST' || key === undefined || routeOptions.config.keyItself) return null;
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

/** The work was started, and the program ended before answering. */
function unknownOutcome(begunAt: string): ApiError {
  return ApiError.of(
    'IDEMPOTENCY_CONFLICT',
    { outcome: 'unknown', begun_at: begunAt },
    `The first request with this Idempotency-Key started at ${begunAt} and was interrupted by a restart, so it may ` +
      'or may not have been carried out. Check its result with GET; to repeat the work, send a new key.',
  );
}

function finish(request: FastifyRequest, running: Map<string, Running>): void {
  const mine = request.idempotent;
  if (!mine) return;
  request.idempotent = null;
  running.delete(JSON.stringify(mine.scope));
  mine.end();
}

function answerContext({ org_id, path, key }: KeyScope): string {
  return `idempotent_answer:${JSON.stringify([org_id, path, key])}`;
}

/** A response kept by an earlier version is plain JSON. */
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

/**
 * SHA-256 of a body in hexadecimal; the order of an object's properties does not matter (contract 1.8). An object with `toJSON`, such as an upload,
 * is hashed by its result.
 */
function hashBody(body: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(body ?? {}, sorted))
    .digest('hex');
}

function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}
