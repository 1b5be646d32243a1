/**
 * The states of a number being ported (contract 5.5). Pure; the state of a request follows from its numbers.
 *
 *     waiting_for_signature --signing--> submitted --> in_progress --> completed
 *              |   |                       |   |         |   |
 *              |   +-----------------------)---+---------)---+-------> canceled
 *              +---------------------------+-------------+-----------> failed
 */
import { ApiError } from '#shared/errors.ts';
import type { PortHistoryRow, PortStatus } from '../db/index.ts';

export type Actor = PortHistoryRow['actor'];

/** Who may move a number from one state to another; anything else is not allowed. */
const movers: Readonly<Record<PortStatus, Readonly<Partial<Record<PortStatus, readonly Actor[]>>>>> = {
  waiting_for_signature: {
    submitted: ['signer'],
    failed: ['operator', 'system'],
    canceled: ['customer', 'operator'],
  },
  submitted: {
    in_progress: ['operator', 'system'],
    failed: ['operator', 'system'],
    canceled: ['customer', 'operator'],
  },
  in_progress: {
    completed: ['operator', 'system'],
    failed: ['operator', 'system'],
    canceled: ['customer', 'operator'],
  },
  completed: {},
  failed: {},
  canceled: {},
};

/** From least to most advanced. */
const openStates = ['waiting_for_signature', 'submitted', 'in_progress'] as const;
const endStates = ['completed', 'failed', 'canceled'] as const;

export function isOpen(status: PortStatus): boolean {
  return openStates.some((state) => state === status);
}

export function mayMove(from: PortStatus, to: PortStatus, actor: Actor): boolean {
  return movers[from][to]?.includes(actor) ?? false;
}

/** The least advanced state of the numbers that have not ended; else how the request ended. */
export function requestStatus(statuses: readonly PortStatus[]): PortStatus {
  const found = [...openStates, ...endStates].find((state) => statuses.includes(state));
  if (found === undefined) throw new Error('a port request without numbers has no state');
  return found;
}

export interface NumberState {
  readonly number: string;
  readonly status: PortStatus;
}

/**
 * The changes of a move. Numbers already there stay unchanged, so a repeated order changes nothing.
 * @param chosen null: all that have not ended
 * @throws ApiError INVALID_PHONE_NUMBERS, INVALID_TRANSITION: then nothing changes
 */
export function planMove(
  numbers: readonly NumberState[],
  chosen: readonly string[] | null,
  to: PortStatus,
  actor: Actor,
): NumberState[] {
  const invalid = chosen?.filter((one) => !numbers.some(({ number }) => number === one)) ?? [];
  if (invalid.length > 0) {
    const message = `The request does not include ${invalid.join(', ')}.`;
    throw ApiError.of('INVALID_PHONE_NUMBERS', { invalid }, message);
  }
  const concerned = chosen
    ? numbers.filter(({ number }) => chosen.includes(number))
    : numbers.filter(({ status }) => isOpen(status));
  const moving = concerned.filter(({ status }) => status !== to);
  const refused = moving.find(({ status }) => !mayMove(status, to, actor));
  if (refused) throw invalidTransition(refused, to);
  const [first] = numbers;
  // Nothing is left to move, and no number is in the target state.
  if (chosen === null && concerned.length === 0 && first && !numbers.some(({ status }) => status === to)) {
    throw invalidTransition(first, to);
  }
  return moving;
}

function invalidTransition({ number, status }: NumberState, to: PortStatus): ApiError {
  const details = { phone_number: number, from: status, to };
  return ApiError.of('INVALID_TRANSITION', details, `${number} cannot go from ${status} to ${to}.`);
}

/** The states on the way to a carrier's state, which may skip some. Empty if there is no way. */
export function wayTo(from: PortStatus, to: PortStatus): PortStatus[] {
  if (from === to) return [];
  if (mayMove(from, to, 'system')) return [to];
  if (from === 'submitted' && to === 'completed') return ['in_progress', 'completed'];
  return [];
}
