/** What became of a transfer, as its agent and the API are told. Pure. */
import type { ApiErrorCode } from '#shared/errors.ts';
import { type TerminationCode, terminations } from '#shared/termination.ts';
import { CommandRefused } from '../command-refused.ts';
import type { Termination } from '../ending.ts';
import type { TransferFailure, TransferOutcome } from '../ports.ts';

export type FailedTransfer = Extract<TransferOutcome, { ok: false }>;

export function failure(
  code: TransferFailure,
  reason: string,
  sipCode: number | null = null,
): FailedTransfer {
  return { ok: false, code, sipCode, reason };
}

export const callOver = failure('not_active', 'The call is over.');

const codes: Partial<Record<TerminationCode, TransferFailure>> = {
  no_route: 'no_route',
  target_not_allowed: 'target_not_allowed',
  destination_blocked: 'target_not_allowed',
};

/**
 * Why a leg to the target of a transfer was in vain.
 * @param consulted whether somebody spoke to the target before the call was to be joined
 */
export function outcomeOf(termination: Termination, consulted: boolean): FailedTransfer {
  const { code, detail, sipStatus = null } = termination;
  const reason = detail ?? terminations[code].summary;
  // Nobody was called: the offer itself could not be made.
  const sipCode = code === 'media_refused' ? 488 : sipStatus;
  const declined = consulted && (code === 'agent_hangup' || code === 'callee_hangup');
  return failure(declined ? 'declined' : (codes[code] ?? 'target_failed'), reason, sipCode);
}

/** What the peer that asked for a transfer is told of its failure (RFC 3515 section 2.4.5). */
export function referStatus({ code, sipCode, reason }: FailedTransfer): { status: number; reason: string } {
  if (sipCode !== null) return { status: sipCode, reason };
  if (code === 'target_not_allowed' || code === 'no_route') return { status: 403, reason: 'Forbidden' };
  return { status: 503, reason: 'Service Unavailable' };
}

const apiCodes: Record<TransferFailure, ApiErrorCode> = {
  not_active: 'CALL_NOT_ACTIVE',
  no_route: 'NO_OUTBOUND_ROUTE',
  refer_not_supported: 'REFER_NOT_SUPPORTED',
  target_not_allowed: 'TARGET_NOT_ALLOWED',
  target_failed: 'SERVICE_UNAVAILABLE',
  declined: 'SERVICE_UNAVAILABLE',
};

/** What the API answers to a transfer that cannot even begin. */
export function refusalOf({ code, reason }: FailedTransfer): CommandRefused {
  return new CommandRefused(apiCodes[code], reason);
}
