/** Turns the carrier's state of an order into moves of the numbers. */
import type { FastifyBaseLogger } from 'fastify';
import type { Db, PortOrderRow, PortStatus } from '../db/index.ts';
import { recordEvents } from '../events/index.ts';
import type { CarrierOrderState } from './carrier.ts';
import type { PortingDeps } from './deps.ts';
import { happeningOfPort } from './happenings.ts';
import { changePorts, moveNumbers, ownMove } from './moves.ts';
import { updateOrder } from './orders-store.ts';
import { isOpen, wayTo } from './state-rules.ts';
import { findNumbers, holdersOf, type PortRequest, updateRequest } from './store.ts';

export interface TakeParts {
  readonly services: PortingDeps;
  readonly log: FastifyBaseLogger;
  /** Time between two queries of an order. */
  readonly pollMs: number;
}

/** Moves the numbers to the carrier's states, and schedules the next query. */
export async function take(
  parts: TakeParts,
  row: PortOrderRow,
  request: PortRequest,
  state: CarrierOrderState,
): Promise<void> {
  const { log, pollMs, services } = parts;
  await changePorts(services, async (db, altered) => {
    const now = new Date(services.clock.now()).toISOString();
    // First, so that reports of the moves have the date.
    if (state.focDate !== null && state.focDate !== request.foc_date)
      await setDate(db, request, state.focDate, now);
    for (const { to, reason, numbers } of await movesFor(parts, db, request, state)) {
      await moveNumbers(services, db, altered, row.id, ownMove(to, numbers, reason));
    }
    const left = (await findNumbers(db, row.id)).some(({ status }) => isOpen(status));
    const next = new Date(services.clock.now() + pollMs).toISOString();
    await updateOrder(db, row.id, row.state, {
      state: left ? 'following' : 'done',
      carrier_order_id: state.id,
      attempts: 0,
      next_attempt_at: left ? next : null,
      last_error: null,
      updated_at: now,
    });
  });
  const strange = state.numbers.filter(({ status }) => status === null);
  if (strange.length > 0)
    log.warn({ port: row.id, order: state.id }, 'the carrier reported an unknown state');
}

async function setDate(db: Db, request: PortRequest, foc_date: string, now: string): Promise<void> {
  await updateRequest(db, request.id, { foc_date, updated_at: now });
  await recordEvents(db, [happeningOfPort({ ...request, foc_date }, await findNumbers(db, request.id), now)]);
}

interface PlannedMove {
  readonly to: PortStatus;
  readonly reason: string | null;
  readonly numbers: readonly string[];
}

/** Numbers with the same move are moved together, so that one change of the request is one event. */
async function movesFor(
  { log }: TakeParts,
  db: Db,
  request: PortRequest,
  state: CarrierOrderState,
): Promise<PlannedMove[]> {
  const numbers = await findNumbers(db, request.id);
  const holders = await holdersOf(
    db,
    numbers.map(({ number }) => number),
  );
  const planned = new Map<
    string,
    { to: PortStatus; reason: string | null; numbers: string[]; order: number }
  >();
  for (const { number, reason, status: to } of state.numbers) {
    const now = numbers.find((one) => one.number === number);
    if (!now || to === null) continue;
    for (const [order, step] of wayTo(now.status, to).entries()) {
      const holder = holders.get(number) ?? request.org_id;
      if (step === 'completed' && holder !== request.org_id) {
        log.error({ port: request.id, number, holder }, 'a ported number is held by another organization');
        continue;
      }
      const cause = step === 'failed' ? (reason ?? 'Failed at the carrier') : null;
      const key = JSON.stringify([order, step, cause]);
      const move = planned.get(key) ?? { to: step, reason: cause, numbers: [], order };
      planned.set(key, move);
      move.numbers.push(number);
    }
  }
  return [...planned.values()].sort((a, b) => a.order - b.order);
}
