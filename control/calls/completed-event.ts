/**
 * The event `call.completed`: put on its way with the report that ends a call; its body is made at the first attempt,
 * because what was said may still arrive when the event is stored.
 */
import type SqliteFile from 'better-sqlite3';
import type { CallRow, Db, WebhookDeliveryRow } from '../db/index.ts';
import { readSettings } from '../numbers/index.ts';
import { waitingDelivery } from '../webhooks/index.ts';
import { callView } from './rules.ts';
import { findCall, findTranscript } from './store.ts';

const callCompleted = 'call.completed';

/** Of what was said in a call, octets of JSON; a call shows it three times. */
const sentOctets = 262_144;

/** The body of a delivery that was stored without one; null: it is no such event, or its call is gone. @param now ms */
export async function completedBody(
  db: Db,
  { type, org_id, subject_id }: Pick<WebhookDeliveryRow, 'type' | 'org_id' | 'subject_id'>,
  now: number,
): Promise<string | null> {
  if (type !== callCompleted) return null;
  const call = await findCall(db, org_id, subject_id);
  return call ? JSON.stringify(callView(call, await findTranscript(db, call.id, sentOctets), now)) : null;
}

/** What the event depends on, whoever ends the call: its edge, or control in its place. */
type EndedCall = Pick<CallRow, 'id' | 'org_id' | 'number' | 'ended_at' | 'parent_id' | 'test_run_id'>;

/**
 * Test calls are in the log, but nobody's agent spoke. The leg to the target of a transfer is part of the call that
 * was transferred, which is told of. Calls of test runs are told of by their runs.
 */
function isToldOf({ id, parent_id, test_run_id }: EndedCall): boolean {
  return !id.startsWith('tc_') && parent_id === null && test_run_id === null;
}

/**
 * Returns what is told of each call report just before it is stored, in its transaction: the report that ends a
 * call puts `call.completed` on its way, to the URL of the call, else of its number, else of the organization.
 * The body is made at the first attempt, so that it has the whole conversation. True when one was stored.
 *
 * The event has the id of its call: one that was closed because its edge was gone, and goes on after all, is told
 * of once.
 */
export function prepareCallCompleted(
  connection: SqliteFile.Database,
): (call: EndedCall, now: string) => boolean {
  const stored = connection.prepare<[string], { ended_at: string | null; webhook: string | null }>(
    'select ended_at, webhook from calls where id = ?',
  );
  const number = connection.prepare<[string, string], { settings: string }>(
    'select settings from numbers where number = ? and org_id = ? and archived_at is null',
  );
  const organization = connection.prepare<[string], { event_webhook_url: string | null }>(
    'select event_webhook_url from organizations where id = ?',
  );
  const insert = connection.prepare<[WebhookDeliveryRow]>(
    `insert or ignore into webhook_deliveries values (@id, @org_id, @type, @url, @subject_id, @body, @created_at,
       @first_attempt_at, @attempts, @next_attempt_at, @delivered_at, @last_status, @last_error)`,
  );
  return (call, now) => {
    if (call.ended_at === null || !isToldOf(call)) return false;
    const before = stored.get(call.id);
    if (before && before.ended_at !== null) return false;
    const settings = number.get(call.number, call.org_id)?.settings;
    const url =
      before?.webhook ??
      (settings === undefined ? undefined : readSettings(settings).webhook) ??
      organization.get(call.org_id)?.event_webhook_url;
    if (!url) return false;
    const event = { id: `evt_${call.id}`, orgId: call.org_id, type: callCompleted, subjectId: call.id };
    return insert.run(waitingDelivery({ ...event, url, now })).changes > 0;
  };
}
