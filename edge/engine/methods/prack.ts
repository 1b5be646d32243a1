import type { Session } from '../core/session.ts';
import type { SipRequest } from '../message/message.ts';
import { MAX_CSEQ, parseDecimal } from '../message/numbers.ts';

/**
 * Ends the retransmissions of the provisional response that a PRACK acknowledges. RAck names the response by its RSeq,
 * and the INVITE by its CSeq (RFC 3262 section 3).
 * @returns false when no response awaits this PRACK
 */
export function acceptPrack(session: Session, request: SipRequest): boolean {
  const [response = '', cseq = '', method] = (request.headers.get('rack') ?? '').split(/[ \t]+/);
  const rseq = parseDecimal(response, 2 ** 32 - 1) ?? 0;
  const awaited = session.awaitedPracks.get(rseq);
  if (!awaited || awaited.cseq !== parseDecimal(cseq, MAX_CSEQ) || method !== 'INVITE') return false;
  awaited.retransmission.stop();
  session.awaitedPracks.delete(rseq);
  return true;
}
