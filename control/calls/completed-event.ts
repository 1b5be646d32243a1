/**
 * The `call.completed` event: queued with the report that ends a call. Its body is built at the first attempt, because
 * transcript lines may still arrive after the event is stored.
 */
import { builtOnce, type CallRow, type Db, type WebhookDeliveryRow } from '../db/index.ts';
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

const findStored = builtOnce((db, id: string) =>
  db.selectFrom('calls').select(['ended_at', 'webhook']).where('id', '=', id),
);

const findWebhooks = builtOnce((db, orgId: string, number: string) =>
  db
    .selectFrom('organizations')
    .leftJoin('numbers', (join) =>
      join
        .onRef('numbers.org_id', '=', 'organizations.id')
        .on('numbers.number', '=', number)
        .on('numbers.archived_at', 'is', null),
    )
    .select(['numbers.settings', 'organizations.event_webhook_url'])
    .where('organizations.id', '=', orgId),
);

const insertDelivery = builtOnce((db, row: WebhookDeliveryRow) =>
  db
    .insertInto('webhook_deliveries')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);

/**
 * To run on each call report just before it is stored, in its transaction: the report that ends a call queues
 * `call.completed` to the URL of the call, else of its number, else of the organization. The body is built at the first
 * attempt, so that it has the whole conversation.
 *
 * The event's id is the call's, so a call that was closed because its edge was gone, and then resumed, is announced
 * once.
 * @returns whether a delivery was queued
 */
export async function queueCallCompleted(db: Db, call: EndedCall, now: string): Promise<boolean> {
  if (call.ended_at === null || !hasOwnEvent(call)) return false;
  const [before] = await findStored(db, call.id);
  if (before && before.ended_at !== null) return false;
  const url = before?.webhook ?? (await webhookOf(db, call));
  if (!url) return false;
  const event = { id: `evt_${call.id}`, orgId: call.org_id, type: callCompleted, subjectId: call.id };
  return (await insertDelivery(db, waitingDelivery({ ...event, url, now }))).length > 0;
}

async function webhookOf(db: Db, { number, org_id }: EndedCall): Promise<string | null> {
  const [found] = await findWebhooks(db, org_id, number);
  const ofNumber = found?.settings ? readSettings(found.settings).webhook : null;
  return ofNumber ?? found?.event_webhook_url ?? null;
}
