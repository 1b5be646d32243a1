/**
 * Idempotency-Key (contract 1.8): the first answer to a POST is kept for a day and given again.
 *
 * Requests of one key that overlap in this process wait for the first. The answer is stored before it is sent,
 * but not in the transaction of the work: a crash between the two lets a repeated request work again.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { deleteInBatches } from '../db/batches.ts';
import type { SecretBox } from '../db/secrets.ts';
import type { Db, IdempotentAnswerRow } from '../db/tables.ts';
import type { App } from './app-types.ts';

const keptMs = 24 * 60 * 60 * 1000;
const keyForm = /^[\x20-\x7e]{1,255}$/;

interface Place {
  readonly org_id: string;
  readonly path: string;
  readonly key: string;
}

interface Running {
  readonly place: Place;
  readonly bodyHash: string;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

declare module 'fastify' {
  interface FastifyRequest {
    idempotent: Running | null;
  }
}

export interface IdempotencyParts {
  readonly database: { readonly db: Db };
  readonly clock: Clock;
  /** Seals the kept answers: some show a secret for the only time. */
  readonly secrets: SecretBox;
}

export function addIdempotency(app: App, { database: { db }, clock, secrets }: IdempotencyParts): void {
  const running = new Map<string, Running>();
  app.decorateRequest('idempotent', null);

  app.addHook('preValidation', async (request, reply) => {
    const place = placeOf(request);
    if (!place) return;
    const bodyHash = hashBody(request);
    const name = JSON.stringify(place);
    for (let first = running.get(name); first; first = running.get(name)) {
      if (first.bodyHash !== bodyHash) throw ApiError.of('IDEMPOTENCY_CONFLICT');
      await first.ended;
    }
    const mine = begin(place, bodyHash);
    running.set(name, mine);
    request.idempotent = mine;
    const stored = await findAnswer(db, place, new Date(clock.now() - keptMs).toISOString());
    if (!stored) return;
    finish(request, running);
    if (stored.body_hash !== bodyHash) throw ApiError.of('IDEMPOTENCY_CONFLICT');
    return replay(reply, stored, secrets);
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const mine = request.idempotent;
    if (!mine || typeof payload !== 'string') return payload;
    if (reply.statusCode < 500) {
      await storeAnswer(db, {
        ...mine.place,
        body_hash: mine.bodyHash,
        status: reply.statusCode,
        content_type: String(reply.getHeader('content-type') ?? 'application/json; charset=utf-8'),
        answer: secrets.seal(payload, answerContext(mine.place)),
        created_at: new Date(clock.now()).toISOString(),
      });
    }
    finish(request, running);
    return payload;
  });

  app.addHook('onResponse', async (request) => finish(request, running));
}

function placeOf(request: FastifyRequest): Place | null {
  const key = request.headers['idempotency-key'];
  if (request.method !== 'POST' || key === undefined || request.caller?.kind !== 'customer') return null;
  if (typeof key !== 'string' || !keyForm.test(key)) {
    throw ApiError.invalid('@idempotency-key', 'must be 1 to 255 printable characters');
  }
  return { org_id: request.caller.orgId, path: request.url.split('?', 1)[0] ?? '', key };
}

function begin(place: Place, bodyHash: string): Running {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { place, bodyHash, ended: promise, end: resolve };
}

function finish(request: FastifyRequest, running: Map<string, Running>): void {
  const mine = request.idempotent;
  if (!mine) return;
  request.idempotent = null;
  running.delete(JSON.stringify(mine.place));
  mine.end();
}

/** An upload is read by its route only, so its length stands for it. */
function hashBody({ body, headers }: FastifyRequest): string {
  const isUpload = headers['content-type']?.startsWith('multipart/');
  return createHash('sha256')
    .update(isUpload ? `upload ${headers['content-length']}` : JSON.stringify(body ?? {}))
    .digest('hex');
}

function findAnswer(db: Db, place: Place, since: string): Promise<IdempotentAnswerRow | undefined> {
  return db
    .selectFrom('idempotent_answers')
    .selectAll()
    .where('org_id', '=', place.org_id)
    .where('path', '=', place.path)
    .where('key', '=', place.key)
    .where('created_at', '>', since)
    .executeTakeFirst();
}

async function storeAnswer(db: Db, row: IdempotentAnswerRow): Promise<void> {
  const { body_hash, status, content_type, answer, created_at } = row;
  await db
    .insertInto('idempotent_answers')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['org_id', 'path', 'key'])
        .doUpdateSet({ body_hash, status, content_type, answer, created_at }),
    )
    .execute();
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

/** Deletes answers that are no longer given again. Returns how many. */
export function forgetAnswers(db: Db, clock: Clock): Promise<number> {
  const before = new Date(clock.now() - keptMs).toISOString();
  return deleteInBatches((limit) =>
    db
      .deleteFrom('idempotent_answers')
      .where((eb) =>
        eb(
          eb.refTuple('org_id', 'path', 'key'),
          'in',
          eb
            .selectFrom('idempotent_answers')
            .select(['org_id', 'path', 'key'])
            .where('created_at', '<=', before)
            .limit(limit)
            .$asTuple('org_id', 'path', 'key'),
        ),
      )
      .executeTakeFirst(),
  );
}
