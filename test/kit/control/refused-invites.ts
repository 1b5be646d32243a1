/** INVITEs that an edge has refused, for tests and pictures. */
import type { RefusedInvites } from '#shared/edge-protocol/refused.ts';

/** Three that were refused just now. */
export function refusedInvites(
  org_id: string,
  number: string,
  source: string,
  reason: RefusedInvites['reason'],
): RefusedInvites {
  const now = new Date().toISOString();
  return {
    org_id,
    number,
    source,
    reason,
    attempts: 3,
    unanswered: 0,
    first_at: now,
    last_at: now,
    sip_status: 403,
    detail: null,
    from: '+4930123',
    dialled: number,
    user_agent: 'PBX 1.0',
    sip_call_id: 'a',
  };
}
