/** A REFER that we send: its URI, and the meaning of its responses. */

import type { LiveCall } from '../live-call.ts';
import type { ReferEvents } from '../ports/refer.ts';
import type { DialogIdentity, DialogLeg } from '../ports/signaling.ts';
import { type FailedTransfer, failure } from './outcome.ts';
import type { TransferParts, TransferPlan } from './transfer-plan.ts';

/** URI with which the peer calls the target, including the headers for its INVITE; null: no host is known. */
export function blindUri(target: string, call: LiveCall, parts: TransferParts): string | null {
  const { trunkId, number } = call.plan;
  const named = parts.routes.referTarget(number, target, trunkId);
  return named && withHeaders(named.uri, parts.headersOf(named.headers, call.ledger.mappable()));
}

/** Why a REFER cannot be sent, checked before anything is done for it; null: it can. */
export function referObstacle(
  { target, consult }: TransferPlan,
  call: LiveCall,
  parts: TransferParts,
): FailedTransfer | null {
  if (call.dialog.leg?.takesRefer === false)
    return failure('refer_not_supported', 'The peer does not support REFER.');
  if (consult || blindUri(target, call, parts) !== null) return null;
  return failure('no_route', 'No configuration has a host for the target.');
}

/** URI with which the peer replaces our dialog with the target; null: there is no such dialog. */
export function attendedUri(leg: DialogLeg | null | undefined): string | null {
  return leg?.dialog ? replacingUri(leg.dialog) : null;
}

/** @param handed called when the peer has reached the target */
export function referEvents(outcome: {
  accepted(): void;
  progress(status: number, reason: string): void;
  handed(): void;
  failed(failure: FailedTransfer): void;
}): ReferEvents {
  return {
    accepted: outcome.accepted,
    progress: outcome.progress,
    done: (status, reason) => {
      if (status < 300) outcome.handed();
      else outcome.failed(failure('target_failed', `The target answered ${status} ${reason}.`, status));
    },
    failed: (status, reason) => outcome.failed(refused(status, reason)),
  };
}

function refused(status: number | null, reason: string): FailedTransfer {
  if (status === null) return failure('target_failed', reason);
  const unknown = status === 405 || status === 420 || status === 501;
  const sentence = `The peer refused the transfer with ${status} ${reason}.`;
  return failure(unknown ? 'refer_not_supported' : 'target_failed', sentence, status);
}

/**
 * A URI with headers for the resulting INVITE (RFC 3261 section 19.1.1).
 * @param headers name to value, unescaped
 */
export function withHeaders(uri: string, headers: Readonly<Record<string, string>>): string {
  const parts = Object.entries(headers).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`,
  );
  return parts.length === 0 ? uri : `${uri}${uri.includes('?') ? '&' : '?'}${parts.join('&')}`;
}

/**
 * The URI of an attended transfer (RFC 5589 section 7.3): an INVITE to it replaces our dialog with the target.
 * The tags are named as the target sees them (RFC 3891 section 3).
 */
export function replacingUri({ callId, localTag, remoteTag, remoteTarget }: DialogIdentity): string {
  return withHeaders(remoteTarget, { Replaces: `${callId};to-tag=${remoteTag};from-tag=${localTag}` });
}
