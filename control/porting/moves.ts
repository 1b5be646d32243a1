/**
 * The only place that moves numbers of a port request: states, history, and the consequences (held numbers, webhook,
 * mails, the order with the carrier), all in one transaction.
 */
import { ApiError } from '#shared/errors.ts';
import { type Actor as ChangeActor, recordChange, systemActor } from '../audit/index.ts';
import type { Altered } from '../catalogue/index.ts';
import { type Db, fromJson, type PortStatus, toJson } from '../db/index.ts';
import { recordEvents } from '../events/index.ts';
import { holdNumber } from '../numbers/index.ts';
import { findOrganization } from '../organizations/index.ts';
import { queueEvent, webhookSubject } from '../webhooks/index.ts';
import { dateOf, expectedCompletion } from './business-days.ts';
import type { PortingDeps } from './deps.ts';
import { happeningOfPort } from './happenings.ts';
import { dropSignatureMails, mailSubject, queueMails } from './mails-store.ts';
import { changeMail } from './notice-rules.ts';
import { cancelOrder, orderSubject } from './orders-store.ts';
import { openDetails } from './sealed-store.ts';
import { type Actor, isOpen, type NumberState, planMove, requestStatus } from './state-rules.ts';
import {
  findHistory,
  findNumbers,
  findRequest,
  holdersOf,
  insertHistory,
  markPorted,
  type PortRequest,
  setNumberStatus,
  updateRequest,
} from './store.ts';

export interface Move {
  readonly to: PortStatus;
  /** null: all that have not ended. */
  readonly numbers: readonly string[] | null;
  readonly actor: Actor;
  /** Id of the key, if any. */
  readonly actorId: string | null;
  /** The author, for the audit log. */
  readonly by: ChangeActor;
  readonly reason: string | null;
  /** `YYYY-MM-DD`; undefined leaves it unchanged. */
  readonly focDate?: string;
}

/** A move that no key asked for. */
export function ownMove(to: PortStatus, numbers: Move['numbers'], reason: string | null): Move {
  return { to, numbers, actor: 'system', actorId: null, by: systemActor, reason };
}

/** A transaction on port requests. After it, announces what it queued. */
export async function changePorts<T>(
  { announcements, catalogue }: Pick<PortingDeps, 'announcements' | 'catalogue'>,
  work: (db: Db, altered: Altered) => Promise<T>,
): Promise<T> {
  const result = await catalogue.change(work);
  for (const subject of [webhookSubject, mailSubject, orderSubject]) announcements.announce(subject);
  return result;
}

/**
 * Moves numbers of a request, all or none.
 * @throws ApiError PORT_NOT_FOUND, INVALID_PHONE_NUMBERS, INVALID_TRANSITION, NUMBER_IN_USE
 */
export async function moveNumbers(
  services: PortingDeps,
  db: Db,
  altered: Altered,
  requestId: string,
  move: Move,
): Promise<PortRequest> {
  const request = await findRequest(db, null, requestId);
  if (!request) throw ApiError.of('PORT_NOT_FOUND');
  const before = await findNumbers(db, requestId);
  const moving = planMove(before, move.numbers, move.to, move.actor);
  const now = new Date(services.clock.now()).toISOString();
  if (moving.length > 0) {
    if (move.to === 'completed') await activate(db, altered, request.org_id, moving, now);
    await setNumberStatus(db, requestId, namesOf(moving), move.to, isOpen(move.to));
    await writeHistory(db, requestId, moving, move, now);
    const change = { orgId: request.org_id, area: 'porting', subject: requestId, action: move.to };
    await recordChange(db, services.clock, move.by, { ...change, fields: ['status'] });
  }
  const numbers = await findNumbers(db, requestId);
  const status = requestStatus(numbers.map((one) => one.status));
  const hasReason = moving.length > 0 && (move.to === 'failed' || move.to === 'canceled');
  const change = {
    status,
    ...(hasReason && { reason: move.reason }),
    ...(move.focDate !== undefined && { foc_date: move.focDate }),
    ...(status !== 'waiting_for_signature' && { token: null }),
    ...((moving.length > 0 || move.focDate !== undefined) && { updated_at: now }),
  };
  await updateRequest(db, requestId, change);
  const after = { ...request, ...change };
  if (moving.length > 0) await follow(services, db, request, after, numbers, move, now);
  if (moving.length > 0 || move.focDate !== undefined)
    await recordEvents(db, [happeningOfPort(after, numbers, now)]);
  return after;
}

function namesOf(numbers: readonly NumberState[]): string[] {
  return numbers.map(({ number }) => number);
}

/** @throws ApiError NUMBER_IN_USE with the number */
async function activate(
  db: Db,
  altered: Altered,
  orgId: string,
  numbers: readonly NumberState[],
  now: string,
): Promise<void> {
  const holders = await holdersOf(db, namesOf(numbers));
  const held = numbers.find(({ number }) => (holders.get(number) ?? orgId) !== orgId);
  if (held) throw ApiError.of('NUMBER_IN_USE', { phone_number: held.number });
  for (const { number } of numbers) {
    await holdNumber(db, orgId, number, now);
    await markPorted(db, orgId, number, now);
    altered.numbers.add(number);
  }
}

/** One entry per previous state of the numbers. */
async function writeHistory(
  db: Db,
  requestId: string,
  moving: readonly NumberState[],
  move: Move,
  now: string,
): Promise<void> {
  for (const [from, numbers] of Map.groupBy(moving, ({ status }) => status)) {
    await insertHistory(db, {
      request_id: requestId,
      at: now,
      from_status: from,
      to_status: move.to,
      actor: move.actor,
      actor_id: move.actorId,
      reason: move.reason,
      numbers: toJson(namesOf(numbers)),
    });
  }
}

/** Queues the notifications, and the cancellation with the carrier if needed. */
async function follow(
  services: PortingDeps,
  db: Db,
  before: PortRequest,
  after: PortRequest,
  numbers: readonly NumberState[],
  move: Move,
  now: string,
): Promise<void> {
  const isCalledOff = !isOpen(after.status) && (move.to === 'canceled' || move.to === 'failed');
  if (isCalledOff && move.actor !== 'system') await cancelOrder(db, after.id, now);
  if (after.status === before.status) return;
  if (before.status === 'waiting_for_signature') await dropSignatureMails(db, after.id);
  const reasons = await reasonsOf(db, after.id, numbers);
  // Numbers that ended earlier did not change the request's state, so their reasons were not reported yet.
  const reason = move.reason ?? ([...new Set(reasons.values())].join('; ') || null);
  await queueEvent(db, services.clock, {
    orgId: after.org_id,
    type: 'port.status_changed',
    url: null,
    subjectId: after.id,
    data: {
      port_request_id: after.id,
      from_status: before.status,
      to_status: after.status,
      reason,
      phone_numbers: [...numbers],
    },
  });
  const organization = await findOrganization(db, after.org_id);
  const mail = changeMail({
    requestId: after.id,
    organization: organization.name,
    from: before.status,
    to: after.status,
    reason,
    numbers,
    reasons,
    focDate: after.foc_date,
    expected: expectedOf(after, services.clock.now()),
  });
  await queueMails(
    db,
    services,
    after,
    'status',
    openDetails(services.secrets, after).notification_emails,
    mail,
  );
}

/** Why numbers failed or were canceled, by number. */
async function reasonsOf(
  db: Db,
  requestId: string,
  numbers: readonly NumberState[],
): Promise<Map<string, string>> {
  const reasons = new Map<string, string>();
  for (const entry of await findHistory(db, requestId)) {
    if (entry.reason === null) continue;
    const named: string[] = fromJson(entry.numbers);
    for (const { number, status } of numbers) {
      if (status === entry.to_status && named.includes(number)) reasons.set(number, entry.reason);
    }
  }
  return new Map(
    [...reasons].filter(([number]) => {
      const status = numbers.find((one) => one.number === number)?.status;
      return status === 'failed' || status === 'canceled';
    }),
  );
}

/** Null once the request has ended. @param now ms: an unsigned request cannot have started earlier */
export function expectedOf(
  request: Pick<PortRequest, 'status' | 'signed_at' | 'target_port_date' | 'foc_date'>,
  now: number,
): { earliest: string; latest: string } | null {
  if (!isOpen(request.status)) return null;
  const from = request.signed_at?.slice(0, 10) ?? dateOf(now);
  return expectedCompletion(from, request.target_port_date, request.foc_date);
}
