import type { Session } from '../core/session.ts';
import type { SipRequest } from '../message/message.ts';

/**
 * Ends the retransmissions of the provisional response that a PRACK acknowledges. RAck names the response by its RSeq,
 * and the INVITE by its CSeq (RFC 3262 section 3).
 * @returns false when no response awaits this PRACK
 */
export function acceptPrack(session: Session, request: SipRequest): boolean {
  const [rseq, cseq, method] = (request.headers.get('rack') ?? '').split(/[ \t]+/);
  const awaited = session.awaitedPracks.get(Number(rseq));
  if (!awaited || awaited.cseq !== Number(cseq) || method !== 'INVITE') return false;
  awaited.retransmission.stop();
  session.awaitedPracks.delete(Number(rseq));
  return true;
}
