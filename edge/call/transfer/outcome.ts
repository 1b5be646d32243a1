/** What became of a transfer, as its agent and the API are told. Pure. */
import type { ApiErrorCode } from '#shared/errors.ts';
import { type TerminationCode, terminations } from '#shared/termination.ts';
import { CommandRefused } from '../command-refused.ts';
import { reasonPhrase, type Termination } from '../ending.ts';
import type { TransferFailure, TransferOutcome } from '../ports/transfer.ts';

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

/**
 * How the leg to the target ends when its transfer lets go of it. What comes to all calls of the edge at once, its stop
 * and the loss of its engine, has come to this one too: neither leg of a transfer takes the other along.
 * @param ofCall why the transferred call ended; null: it goes on
 * @param reason why the transfer came to nothing; null: it did not
 */
export function endOfTarget(ofCall: Termination | null, reason: string | null): Termination {
  switch (ofCall?.code) {
    case 'edge_restarted':
    case 'draining':
      // An INVITE that came in is refused for the drain; the leg to its target is a call of ours.
      return { code: 'edge_restarted', detail: ofCall.detail };
    case 'engine_lost':
      return { code: 'engine_lost', detail: ofCall.detail };
    default:
      return { code: 'bridge_ended', detail: reason };
  }
}

/** How a call ends that was joined with the target when the target's leg does. */
export function endOfJoined(ofTarget: Termination): Termination {
  const { code, detail } = ofTarget;
  if (code === 'edge_restarted' || code === 'engine_lost') return { code, detail };
  if (code === 'callee_hangup')
    return { code: 'bridge_ended', detail: 'The target of the transfer hung up.' };
  const reason = detail ?? terminations[code].summary;
  return { code: 'bridge_ended', detail: `The leg to the target of the transfer ended: ${reason}` };
}

/** What the peer that asked for a transfer is told of its failure (RFC 3515 section 2.4.5). */
export function referStatus({ code, sipCode }: FailedTransfer): { status: number; reason: string } {
  // The sentence for our own people names hosts; the peer gets the usual phrase.
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
};

/** What the API answers to a transfer that cannot even begin. */
export function refusalOf({ code, reason }: FailedTransfer): CommandRefused {
  return new CommandRefused(apiCodes[code], reason);
}
