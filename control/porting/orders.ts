/**
 * Submits signed requests to the carrier and follows their orders:
 *
 *     submitting --accepted--> following --all numbers ended-----> done
 *         |  rejected: numbers fail -----------------------------> done
 *         +--canceled here--> canceling --canceled there-------->  done
 *
 * Failures never end an order: its letter is signed, the customer waits, and only the carrier or the customer may
 * cancel it. Retries slow down instead to once an hour, or once a day after crashes of the program.
 *
 * Each step is stored, so a restart resumes the work. Submitting twice creates one order, because the carrier gets the
 * request's id as Idempotency-Key.
 */
import { createHash } from 'node:crypto';
import { type BackgroundWork, DueWork, type PortOrderRow } from '../db/index.ts';
import { type Carrier, type CarrierFile, CarrierRefusal } from './carrier.ts';
import { orderPauseMs } from './carrier-rules.ts';
import type { DocumentFiles } from './documents.ts';
import { documentsOf } from './documents-store.ts';
import { changePorts, moveNumbers, ownMove } from './moves.ts';
import { type TakeParts, take } from './order-state.ts';
import { dueOrders, nextOrder, orderSubject, setCarrierOrderId, updateOrder } from './orders-store.ts';
import { openColumn, openDetails, portContext } from './sealed-store.ts';
import { isOpen } from './state-rules.ts';
import { findLetter, findNumbers, findRequest, type PortRequest } from './store.ts';

export interface OrderParts extends TakeParts {
  readonly carrier: Carrier;
  readonly files: DocumentFiles;
  /** 0..1 */
  readonly random: () => number;
  /** Called after each attempt. */
  readonly onAttempt: (step: PortOrderRow['state'], ok: boolean) => void;
}

/** Starts at once with what is due. */
export function startOrders(parts: OrderParts): BackgroundWork {
  const { announcements, clock, database, replica } = parts.services;
  const { db } = database;
  return new DueWork<PortOrderRow>({
    db,
    replica,
    clock,
    log: parts.log,
    name: 'port order',
    mostRunning: 4,
    mostPerOrganization: 2,
    due: dueOrders,
    nextDue: (now) => nextOrder(db, now),
    attempt: (row, signal) => attempt(parts, row, signal),
    onStored: (wake) => announcements.on(orderSubject, wake),
  });
}

async function attempt(parts: OrderParts, row: PortOrderRow, signal: AbortSignal): Promise<void> {
  const { log, onAttempt, random, services } = parts;
  const { clock, database } = services;
  try {
    await steps[row.state](parts, row, signal);
    onAttempt(row.state, true);
  } catch (error) {
    if (signal.aborted) return;
    const attempts = row.attempts + 1;
    const next = new Date(clock.now() + orderPauseMs(attempts, random())).toISOString();
    const last_error = (error instanceof Error ? error.message : String(error)).slice(0, 500);
    await updateOrder(database.db, row.id, row.state, { attempts, next_attempt_at: next, last_error });
    onAttempt(row.state, false);
    log.warn(
      { err: error, port: row.id, step: row.state, attempts, next },
      'the carrier could not be worked with',
    );
  }
}

type Step = (parts: OrderParts, row: PortOrderRow, signal: AbortSignal) => Promise<void>;

const steps: Readonly<Record<PortOrderRow['state'], Step>> = {
  submitting: submit,
  following: async (parts, row, signal) => {
    const request = await requireRequest(parts, row);
    const open = await openNumbers(parts, row.id);
    if (row.carrier_order_id === null || open.length === 0) return finish(parts, row);
    await take(parts, row, request, await parts.carrier.look(row.carrier_order_id, open, signal));
  },
  canceling: async (parts, row, signal) => {
    const id = row.carrier_order_id ?? (await parts.carrier.find(row.id, signal));
    if (id !== null) await parts.carrier.cancel(id, signal);
    await finish(parts, row);
  },
  done: finish,
};

async function requireRequest({ services }: OrderParts, row: PortOrderRow): Promise<PortRequest> {
  const request = await findRequest(services.database.db, null, row.id);
  if (!request) throw new Error(`there is no port request ${row.id}`);
  return request;
}

async function openNumbers({ services }: OrderParts, requestId: string): Promise<string[]> {
  const numbers = await findNumbers(services.database.db, requestId);
  return numbers.filter(({ status }) => isOpen(status)).map(({ number }) => number);
}

async function finish({ services }: OrderParts, row: PortOrderRow): Promise<void> {
  const change = { state: 'done', next_attempt_at: null, last_error: null } as const;
  await updateOrder(services.database.db, row.id, row.state, change);
}

async function submit(parts: OrderParts, row: PortOrderRow, signal: AbortSignal): Promise<void> {
  const { carrier, services } = parts;
  const request = await requireRequest(parts, row);
  const numbers = await openNumbers(parts, row.id);
  if (numbers.length === 0) return finish(parts, row);
  const order = {
    reference: row.id,
    numbers,
    information: openDetails(services.secrets, request),
    pin: openColumn(services.secrets, request, 'pin'),
    targetDate: request.target_port_date,
    files: await filesOf(parts, row.id),
  };
  try {
    const state = await carrier.submit(order, signal);
    await setCarrierOrderId(services.database.db, row.id, state.id);
    parts.log.info({ port: row.id, order: state.id }, 'port submitted to the carrier');
    await take(parts, row, request, state);
  } catch (error) {
    if (!(error instanceof CarrierRefusal)) throw error;
    await changePorts(services, async (db, altered) => {
      await moveNumbers(services, db, altered, row.id, ownMove('failed', null, error.message));
      await updateOrder(db, row.id, row.state, {
        state: 'done',
        next_attempt_at: null,
        last_error: error.message,
      });
    });
  }
}

/** The signed letter and the proofs of ownership. */
async function filesOf({ files, services }: OrderParts, requestId: string): Promise<CarrierFile[]> {
  const { db } = services.database;
  const letter = await findLetter(db, requestId);
  const all: CarrierFile[] = [];
  if (letter) {
    const bytes = Buffer.from(services.secrets.open(letter.pdf, portContext(requestId, 'letter')), 'base64');
    all.push({ type: 'letter_of_authorization', mediaType: 'application/pdf', bytes, hash: letter.pdf_hash });
  }
  for (const document of await documentsOf(db, requestId)) {
    const bytes = await files.read(document.id, document.file_name);
    const hash = createHash('sha256').update(bytes).digest('hex');
    all.push({ type: 'proof_of_ownership', mediaType: document.media_type, bytes, hash });
  }
  return all;
}
