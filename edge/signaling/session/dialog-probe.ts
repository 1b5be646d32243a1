/**
 * Checks with OPTIONS in the dialog whether the peer still has it (RFC 3261 sections 11 and 12.2.1.2), and
 * interprets the answer.
 */

import { endsDialog } from '#shared/sip-status.ts';
import { engineError } from '../srf/engine-errors.ts';
import { failureOf } from '../srf/refusal.ts';
import type { SrfAnswer } from '../srf/srf.ts';
import { type DialogRequest, NoDialog } from './dialog-request.ts';

/**
 * @param suspicion why it is checked, the first part of a sentence
 * @param answered gets why the peer is gone; null: it still has the dialog, or this cannot be determined
 */
export function dialogProbe(
  suspicion: string,
  headers: Record<string, string>,
  answered: (gone: string | null) => void,
): DialogRequest {
  return {
    method: 'OPTIONS',
    headers,
    body: undefined,
    answered: (answer) => answered(goneBy(suspicion, answer)),
    failed: (error) => answered(goneByFailure(suspicion, error)),
  };
}

/** Why the peer is gone; null: it is there. A peer that rejects OPTIONS still has the dialog. */
function goneBy(suspicion: string, { status, reason, headers, source_address }: SrfAnswer): string | null {
  // Without a source the engine made it: the peer did not answer.
  if (source_address === '') {
    const why = status === 408 ? 'no answer came' : failureOf({ headers, reason }).text;
    return `${suspicion}, and could not be checked with OPTIONS: ${why}.`;
  }
  if (!endsDialog(status)) return null;
  return `${suspicion}, and answered OPTIONS with ${status}: it no longer has the call.`;
}

/** A failure of the engine says nothing about the peer, and is handled elsewhere. */
function goneByFailure(suspicion: string, error: Error): string | null {
  if (error instanceof NoDialog) return null;
  const { kind, text } = engineError(error);
  if (kind === 'no_engine' || kind === 'unknownDialog' || kind === 'engineFailure') return null;
  return `${suspicion}, and could not be checked with OPTIONS: ${text}.`;
}
