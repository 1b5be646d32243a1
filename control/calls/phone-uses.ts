/** Counts the calls that phone sessions have made, from the edges' reports. */
import type { Db } from '../db/index.ts';
import { countPhoneCall } from '../phone-sessions/index.ts';

export interface PhoneCall {
  readonly id: string;
  readonly orgId: string;
  readonly sessionId: string;
}

/** Before the calls are stored: those that are stored already were counted. */
export async function countNewPhoneCalls(db: Db, reported: readonly PhoneCall[]): Promise<void> {
  if (reported.length === 0) return;
  const calls = new Map(reported.map((call) => [call.id, call]));
  const known = await db
    .selectFrom('calls')
    .select('id')
    .where('id', 'in', [...calls.keys()])
    .execute();
  for (const { id } of known) calls.delete(id);
  for (const { id, orgId, sessionId } of calls.values()) await countPhoneCall(db, orgId, sessionId, id);
}
