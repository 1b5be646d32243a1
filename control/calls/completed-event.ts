/**
 * The `call.completed` event: queued with the report that ends a call. Its body is built at the first attempt, because
 * transcript lines may still arrive after the event is stored.
 */
import type SqliteFile from 'better-sqlite3';
import type { CallRow, Db, NumberRow, WebhookDeliveryRow } from '../db/index.ts';
import { readSettings } from '../numbers/index.ts';
import { waitingDelivery } from '../webhooks/index.ts';
import { callView } from './rules.ts';
import { findCall, findTranscript } from './store.ts';

const callCompleted = 'call.completed';

/** Most octets of transcript JSON in the event; a call shows the transcript three times. */
const sentOctets = 262_144;

/** Builds the body of a delivery stored without one; null: another event, or the call was deleted. @param now ms */
export async function completedBody(
  db: Db,
  { type, org_id, subject_id }: Pick<WebhookDeliveryRow, 'type' | 'org_id' | 'subject_id'>,
  now: number,
): Promise<string | null> {
  if (type !== callCompleted) return null;
  const call = await findCall(db, org_id, subject_id);
  return call ? JSON.stringify(callView(call, await findTranscript(db, call.id, sentOctets), now)) : null;
}

/** What the event depends on, for calls that their edge ends and calls that control closes. */
type EndedCall = Pick<CallRow, 'id' | 'org_id' | 'number' | 'ended_at' | 'parent_id' | 'test_run_id'>;

/**
 * Whether a call has an event of its own. Test calls of trunks have none: no customer agent spoke. The leg to a
 * transfer target belongs to the transferred call, and test runs report their own calls.
 */
function hasOwnEvent({ id, parent_id, test_run_id }: EndedCall): boolean {
  return !id.startsWith('tc_') && parent_id === null && test_run_id === null;
}

/**
 * Returns a function to run on each call report just before it is stored, in its transaction: the report that ends a
 * call queues `call.completed` to the URL of the call, else of its number, else of the organization. The body is built
 * at the first attempt, so that it has the whole conversation. True when one was stored.
 *
 * The event's id is the call's, so a call that was closed because its edge was gone, and then resumed, is announced
 * once.
 */
export function prepareCallCompleted(
  connection: SqliteFile.Database,
): (call: EndedCall, now: string) => boolean {
  const stored = connection.prepare<[string], { ended_at: string | null; webhook: string | null }>(
    'select ended_at, webhook from calls where id = ?',
  );
  const number = connection.prepare<[string, string], { settings: NumberRow['settings'] }>(
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
    if (call.ended_at === null || !hasOwnEvent(call)) return false;
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
