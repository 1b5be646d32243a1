/** Outcomes of transfers, for agents and the API. Pure. */
import type { ApiErrorCode } from '#shared/errors.ts';
import { type TerminationCode, terminations } from '#shared/termination.ts';
import { reasonPhrase, type Termination } from '../ending.ts';
import type { TransferFailure, TransferOutcome } from '../ports/transfer.ts';
import { CommandRefused } from '../refused.ts';

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
 * Why a leg to the target of a transfer failed.
 * @param consulted whether an agent spoke to the target before the bridge
 */
export function outcomeOf(termination: Termination, consulted: boolean): FailedTransfer {
  const { code, detail, sipStatus = null } = termination;
  const reason = detail ?? terminations[code].summary;
  // No INVITE was sent: the offer could not be made.
  const sipCode = code === 'media_refused' ? 488 : sipStatus;
  const declined = consulted && (code === 'agent_hangup' || code === 'callee_hangup');
  return failure(declined ? 'declined' : (codes[code] ?? 'target_failed'), reason, sipCode);
}

/**
 * A failure of the edge on one leg of a transfer cuts the other leg too, so both records show it; `bridge_ended` would
 * look like a hangup. A dialog lost by the engine is a failure of the other leg only: this leg still has its dialog,
 * which gets a BYE.
 */
const cutsBoth: Partial<Record<TerminationCode, TerminationCode>> = {
  edge_restarted: 'edge_restarted',
  engine_lost: 'engine_lost',
  bridge_failed: 'bridge_failed',
  media_lost: 'media_lost',
  internal_error: 'internal_error',
  dialog_lost: 'internal_error',
};

/**
 * How the target leg ends when its transfer releases it.
 * @param ofCall why the transferred call ended; null: it continues
 * @param reason why the transfer failed; null: it did not
 */
export function endOfTarget(ofCall: Termination | null, reason: string | null): Termination {
  // An inbound INVITE is rejected for the drain; the leg to its target is an outbound call.
  const code = ofCall?.code === 'draining' ? 'edge_restarted' : ofCall && cutsBoth[ofCall.code];
  if (!ofCall || !code) return { code: 'bridge_ended', detail: reason };
  return { code, detail: detailFor(code, ofCall, 'The transferred call') };
}

/** How a call ends when the one that it is joined with ended, or was parked: null. */
export function endOfPaired(other: Termination | null): Termination {
  return endOfTarget(other, other ? 'The other call ended.' : 'The other call was parked.');
}

/** How a bridged call ends when the target's leg ends. */
export function endOfJoined(ofTarget: Termination): Termination {
  if (ofTarget.code === 'callee_hangup')
    return { code: 'bridge_ended', detail: 'The target of the transfer hung up.' };
  const code = cutsBoth[ofTarget.code];
  const leg = 'The leg to the target of the transfer';
  if (code) return { code, detail: detailFor(code, ofTarget, leg) };
  return { code: 'bridge_ended', detail: ended(leg, ofTarget) };
}

/** The detail of the failed leg, unless its code says more than that of the other leg. */
function detailFor(code: TerminationCode, failed: Termination, leg: string): string | null {
  return code === failed.code || failed.code === 'draining' ? failed.detail : ended(leg, failed);
}

function ended(leg: string, { code, detail }: Termination): string {
  return `${leg} ended: ${detail ?? terminations[code].summary}`;
}

/** The status for the peer that requested a failed transfer (RFC 3515 section 2.4.5). */
export function referStatus({ code, sipCode }: FailedTransfer): { status: number; reason: string } {
  // The internal sentence names hosts; the peer gets the standard phrase.
  if (sipCode !== null) return { status: sipCode, reason: reasonPhrase(sipCode) || 'Failed' };
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
  not_parked: 'CALL_NOT_PARKED',
  full: 'CONFERENCE_FULL',
  apart: 'CALLS_APART',
};

/** The API error for a transfer that cannot start. */
export function refusalOf({ code, reason }: FailedTransfer): CommandRefused {
  return new CommandRefused(apiCodes[code], reason);
}
