/** Whether the peer still has a dialog: OPTIONS in it (RFC 3261 sections 11 and 12.2.1.2), and what an answer says. */

import { warningText } from '../srf/refusal.ts';
import type { SrfAnswer } from '../srf/srf.ts';
import type { DialogRequest } from './dialog-request.ts';

/** @param answered gets why the peer is gone; null: it is there, or nobody can tell */
export function dialogProbe(
  headers: Record<string, string>,
  answered: (gone: string | null) => void,
): DialogRequest {
  return {
    method: 'OPTIONS',
    headers,
    body: undefined,
    answered: (answer) => answered(goneBy(answer)),
    failed: (error) => answered(goneByFailure(error)),
  };
}

/** Why the peer is gone; null: it is there. Whoever refuses OPTIONS has the dialog, and is there. */
function goneBy({ status, reason, headers, source_address }: SrfAnswer): string | null {
  // Without source the engine made it itself: nobody answered.
  if (source_address === '') {
    const why = status === 408 ? 'no answer came' : (warningText(headers) ?? reason);
    return `The peer on hold sent no media, and could not be asked by OPTIONS whether it is there: ${why}.`;
  }
  if (status !== 408 && status !== 481) return null;
  return `The peer on hold sent no media, and answered OPTIONS with ${status}: it has no such call.`;
}

/** Trouble of the engine says nothing about the peer, and has ends of its own. */
function goneByFailure(error: Error): string | null {
  if ('code' in error && error.code === 'ENODIALOG') return null;
  if (/not connected|destroyed|socket|engine failure|does not exist yet/i.test(error.message)) return null;
  return `The peer on hold sent no media, and cannot be asked by OPTIONS whether it is there: ${error.message}.`;
}
